"""How DRR's network learns from a batch of decisions.

Two kinds of evidence, each behind its published flag:

* Looking ahead from several nodes replays the same jobs once for each: these branches
  are rollouts of one input, as in the input-dependent baselines of Mao et al. (ICLR
  2019, arXiv 1807.02264). A branch's advantage is what it gains less w x the mean gain
  of the others (`--use-advantage-adjustment w`; `batch.branch_advantages` says what
  that comes to); the policy moves towards branches of positive advantage by PPO's
  clipped objective (Schulman et al., arXiv 1707.06347).
* With `--look-ahead 0`, decisions are drawn from the policy, and the advantage is the
  generalised one (Schulman et al., arXiv 1506.02438), with time between decisions as it
  passes: discount exp(-dt / tau).

With a look ahead, but in a world that it does not cover (another queue than fifo, CPU
or memory counted), decisions are the policy's own and leave no evidence: only the
critic learns then.

`--use-imitation`: a cross-entropy towards what the teacher, or the look ahead, chose;
its weight is 1 while the teacher decides, then `--imitation-loss-weight`, decaying.
`--use-dynamic-entropy`: the weight of the entropy, at first beta0, follows a falling
target. The published rates of 0.02 to 0.06 are ten times those that Adam (Kingma & Ba,
ICLR 2015) learns stably with here, so they count in tenths; and a batch that
changes the policy by more than `MOST_KL` is taken back by halves until it does not,
unless a teacher decided.
"""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from model.config import Settings
from schedulers.drr.batch import Batch
from schedulers.drr.experience import Transition
from schedulers.drr.network import Network
from schedulers.drr.policy import Parameters
from schedulers.drr.state import Floats

TAU = 3600.0  # s over which rewards are discounted
LAMBDA = 0.95
CLIP = 0.2  # of the ratio of probabilities
EPOCHS, TAUGHT_EPOCHS = 3, 30  # passes over a batch; while a teacher decides
LONGEST = 1.0  # norm to which gradients are cut
RATE = 0.1  # of the published rates
MOST_KL = 0.01  # nats by which one batch may change the policy, mean
HALVINGS = 8
FADING = 0.98  # imitation weight, each batch
FIRST_TARGET, LAST_TARGET, FALLING = 0.5, 0.02, 0.95  # normalised entropy, each batch
STEP = 1.1  # of the entropy's weight, each batch
WIDEST = 30.0  # factor by which that weight may leave beta0


class Agent:
    """Network and optimiser state; `update` learns from one batch.

    Attributes
    ----------
    beta : weight of the entropy now.
    updates : batches learned from.
    """

    def __init__(self, parameters: Parameters, settings: Settings) -> None:
        torch.set_num_threads(1)  # sums in one order, on any machine
        torch.use_deterministic_algorithms(True)
        self.network = Network(parameters, settings.use_attn)
        self.beta = settings.beta0
        self.updates = 0
        self._settings = settings
        critic = ("critic.", "critic_out.")
        named = list(self.network.named_parameters())
        judging = [p for name, p in named if name.startswith(critic)]
        self._actor = [p for name, p in named if not name.startswith(critic)]
        self._optimiser = torch.optim.Adam(
            [
                {"params": self._actor, "lr": settings.lr_actor * RATE},
                {"params": judging, "lr": settings.lr_critic * RATE},
            ]
        )

    def update(self, transitions: Sequence[Transition]) -> dict[str, float]:
        """Learn from decisions in their order; return what there is to say of it."""
        settings, batch = self._settings, Batch(transitions)
        first = self.network(*batch.inputs)
        before, values = (found.detach() for found in first)
        before = before.log_softmax(-1)
        gains, returns = advantages(batch.rewards, values.numpy(), batch.elapsed)
        batch.weigh(gains, settings.use_advantage_adjustment)
        kept = [parameter.detach().clone() for parameter in self._actor]
        for epoch in range(TAUGHT_EPOCHS if batch.taught.any() else EPOCHS):
            logits, judged = self.network(*batch.inputs) if epoch else first
            after = logits.log_softmax(-1)
            policy, clipped = policy_loss(after, before, batch)
            imitation = imitation_loss(after, before, batch)
            evident = batch.known.any(-1) | batch.taught
            entropy = normalised_entropy(after[evident] if evident.any() else after)
            critic = torch.nn.functional.smooth_l1_loss(
                judged, torch.from_numpy(returns).float()
            )
            loss = policy + self._imitation(batch) * imitation - self.beta * entropy
            self.network.zero_grad()
            if evident.any():  # else entropy or momentum alone would have their way
                torch.autograd.backward(loss)
            torch.autograd.backward(critic)  # which trains no parameter of the loss
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), LONGEST)
            self._optimiser.step()
        kl = self._hold_back(kept, before, batch)
        told = {
            "entropy": entropy.item(),
            "beta": self.beta,
            "kl": kl,
            "clip_fraction": clipped,
            "policy_loss": policy.item(),
            "imitation_loss": imitation.item(),
            "value_loss": critic.item(),
            "explained_variance": explained(returns, values.numpy()),
            "reward": float(batch.rewards.sum()),
        }
        self._adapt(told["entropy"])
        self.updates += 1
        return told

    def _imitation(self, batch: Batch) -> float:
        if not self._settings.use_imitation:
            return 0.0
        if batch.taught.any():
            return 1.0
        return float(self._settings.imitation_loss_weight * FADING**self.updates)

    def _hold_back(self, kept: list[Tensor], before: Tensor, batch: Batch) -> float:
        """Halve the way from the kept parameters until the policy is near enough."""
        with torch.no_grad():
            for halvings in range(HALVINGS + 1):
                kl = divergence(before, self.network(*batch.inputs)[0].log_softmax(-1))
                if kl <= MOST_KL or batch.taught.any() or halvings == HALVINGS:
                    break
                for parameter, old in zip(self._actor, kept, strict=True):
                    parameter.copy_((parameter + old) / 2)
        return kl

    def _adapt(self, entropy: float) -> None:
        """Let the entropy's weight follow a falling target."""
        if not self._settings.use_dynamic_entropy:
            return
        target = max(LAST_TARGET, FIRST_TARGET * FALLING**self.updates)
        self.beta *= STEP if entropy < target else 1 / STEP
        first = self._settings.beta0
        self.beta = min(max(self.beta, first / WIDEST), first * WIDEST)


def policy_loss(after: Tensor, before: Tensor, batch: Batch) -> tuple[Tensor, float]:
    """Return PPO's clipped objective, and the share of ratios beyond the clip.

    Parameters
    ----------
    after, before : (batch, nodes) log-probabilities, now and when the batch came.
    batch : its `ways` are the nodes whose advantages are known.
    """
    new, old = batch.at_ways(after), batch.at_ways(before)  # (batch, ways)
    if batch.looked.any():  # among the ways looked ahead from
        new = torch.where(batch.looked[:, None], new.log_softmax(-1), new)
        old = torch.where(batch.looked[:, None], old.log_softmax(-1), old)
    ratio = (new - old).exp()
    gain = batch.gains
    objective = torch.minimum(ratio * gain, ratio.clamp(1 - CLIP, 1 + CLIP) * gain)
    share = torch.where(batch.looked[:, None], old.exp(), torch.ones_like(old))
    weight = share * batch.known
    number = batch.known.any(-1).sum().clamp(min=1)
    beyond = ((ratio - 1).abs() > CLIP) & batch.known
    clipped = beyond.sum() / batch.known.sum().clamp(min=1)
    return -(weight * objective).sum() / number, float(clipped)


def imitation_loss(after: Tensor, before: Tensor, batch: Batch) -> Tensor:
    """Return the cross-entropy to the teacher's choice, or to the look ahead's.

    The look ahead's is the old policy, tilted by how much worse each way is: what
    makes no difference to the queue teaches nothing.
    """
    old = batch.at_ways(before).log_softmax(-1)
    tilted = (old - batch.excess).masked_fill(~batch.known, -torch.inf)
    target = torch.where(batch.looked[:, None], tilted.softmax(-1), 0.0)
    new = batch.at_ways(after).log_softmax(-1)
    looked = -(target * new.masked_fill(~batch.known, 0.0)).sum(-1)
    chosen = -after.gather(1, batch.actions[:, None])[:, 0]
    losses = torch.where(batch.looked, looked, chosen * batch.taught)
    return losses.sum() / (batch.looked | batch.taught).sum().clamp(min=1)


def normalised_entropy(log_probs: Tensor) -> Tensor:
    """Return the mean entropy of the policy, 1 = all nodes with room alike."""
    room = log_probs > -torch.inf
    safe = log_probs.masked_fill(~room, 0.0)
    entropy = -(safe.exp() * safe * room).sum(-1)
    return (entropy / room.sum(-1).clamp(min=2).log()).mean()


def divergence(before: Tensor, after: Tensor) -> float:
    """Return the mean Kullback-Leibler divergence of the new policy, nats."""
    room = before > -torch.inf
    change = torch.where(room, before - after, 0.0)
    return float((before.exp() * change).sum(-1).mean())


def advantages(
    rewards: Floats, values: Floats, elapsed: Floats
) -> tuple[Floats, Floats]:
    """Return generalised advantages and returns, (decisions,) each.

    With g = exp(-dt / tau): A_i = r_i + g_i V_(i+1) - V_i + g_i lambda A_(i+1); what
    comes after the last decision is taken to be worth its own value.
    """
    found, after, following = np.zeros(len(rewards)), 0.0, float(values[-1])
    for index in reversed(range(len(rewards))):
        discount = np.exp(-elapsed[index] / TAU)
        surprise = rewards[index] + discount * following - values[index]
        after = surprise + discount * LAMBDA * after
        found[index], following = after, float(values[index])
    return found, found + values


def explained(returns: Floats, values: Floats) -> float:
    """Return the share of the variance of returns that the values explain."""
    variance = float(returns.var())
    return 1 - float((returns - values).var()) / variance if variance > 0 else 0.0
