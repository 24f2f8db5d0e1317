"""PPO in sixty lines: a linear policy over node features, masked.

python docs/examples/ppo.py
"""

import sys

import gymnasium
import numpy as np
import torch
from torch import nn

CLIP, GAMMA, EPOCHS, RATE = 0.2, 0.99, 4, 3e-3


class Policy(nn.Module):
    """One logit for each node from its features and the job's; one value."""

    def __init__(self, nodes: int, size: int) -> None:
        super().__init__()
        self.nodes, self.width = nodes, (size - 6) // nodes
        self.node = nn.Sequential(
            nn.Linear(self.width + 6, 32), nn.Tanh(), nn.Linear(32, 1)
        )
        self.value = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, seen: torch.Tensor, mask: torch.Tensor):
        """Return how likely each node is, and what waiting is expected."""
        nodes = seen[:, :-6].reshape(-1, self.nodes, self.width)
        job = seen[:, -6:]
        both = torch.cat([nodes, job[:, None].expand(-1, self.nodes, -1)], dim=2)
        logits = self.node(both)[..., 0].masked_fill(~mask, -1e9)
        return torch.distributions.Categorical(logits=logits), self.value(job)[:, 0]


def episode(env, policy, seed):
    """Return observations, masks, actions, log-probabilities and returns."""
    seen, info = env.reset(seed=seed)
    steps, rewards, ended = [], [], False
    while not ended:
        now = torch.tensor(seen)[None], torch.tensor(info["action_mask"])[None] > 0
        with torch.no_grad():
            chances, _ = policy(*now)
            action = chances.sample()
            steps.append((*now, action, chances.log_prob(action)))
        seen, reward, ended, _, info = env.step(int(action))
        rewards.append(reward)
    returns, after = np.zeros(len(rewards), np.float32), 0.0
    for step in reversed(range(len(rewards))):
        after = returns[step] = rewards[step] + GAMMA * after
    return [torch.cat(part) for part in zip(*steps, strict=True)], returns, sum(rewards)


def train(episodes=10, **fields):
    """Return the total reward of each episode, while the policy learns."""
    torch.manual_seed(0)
    env = gymnasium.make("commands.environment:Defrag-v0", **fields)
    policy = Policy(int(env.action_space.n), env.observation_space.shape[0])
    optimizer = torch.optim.Adam(policy.parameters(), RATE)
    totals = []
    for seed in range(episodes):
        (seen, mask, action, old), returns, total = episode(env, policy, seed)
        wanted = torch.tensor((returns - returns.mean()) / (returns.std() + 1e-6))
        for _ in range(EPOCHS):
            chances, value = policy(seen, mask)
            ratio = (chances.log_prob(action) - old).exp()
            gain = wanted - value.detach()
            best = torch.min(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
            loss = (value - wanted).square().mean() - best.mean()
            loss = loss - 0.01 * chances.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        totals.append(total)
    return totals


if __name__ == "__main__":
    for number, hours in enumerate(train(num_node=8, num_jobs=400)):
        sys.stdout.write(f"episode {number}: {hours:.1f} h\n")
