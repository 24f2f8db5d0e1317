"""Training of the shipped policy by expert iteration.

Episodes are simulated under the present policy with the look ahead, in which every
branch is run to the end; then the network learns to expect what the look ahead found
(`imitation_loss`). The next episodes look ahead from better nodes, and from better
ideas of what else speaks for them. Anthony et al., "Thinking Fast and Slow with Deep
Learning and Tree Search", NeurIPS 2017.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch

from schedulers.drr.batch import Batch
from schedulers.drr.experience import Transition
from schedulers.drr.network import Network
from schedulers.drr.update import imitation_loss

BATCH = 256
PASSES = 4  # over the decisions of one round
RATE = 1e-3  # of Adam
DECAY = 1e-4


class Apprentice:
    """The network and its optimiser, learning from rounds of episodes."""

    def __init__(self, network: Network) -> None:
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        self.network = network
        self.optimiser = torch.optim.AdamW(
            network.parameters(), lr=RATE, weight_decay=DECAY
        )

    def learn(
        self, episodes: Sequence[Sequence[Transition]], rng: np.random.Generator
    ) -> float:
        """Learn from the decisions of some episodes; return the last pass's loss."""
        losses: list[float] = []
        for _ in range(PASSES):
            losses.clear()
            for transitions in shuffled(episodes, rng):
                batch = Batch(transitions)
                after = self.network(*batch.inputs)[0].log_softmax(-1)
                loss = imitation_loss(after, after.detach(), batch)
                self.optimiser.zero_grad()
                torch.autograd.backward(loss)
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
                self.optimiser.step()
                losses.append(loss.item())
        return float(np.mean(losses or [0.0]))


def shuffled(
    episodes: Sequence[Sequence[Transition]], rng: np.random.Generator
) -> Iterator[Sequence[Transition]]:
    """Iterate over batches of decisions on clusters of one size, in random order."""
    by_size: dict[tuple[int, ...], list[Transition]] = {}
    for episode in episodes:
        for transition in episode:
            by_size.setdefault(transition.seen.devices.shape, []).append(transition)
    batches = []
    for transitions in by_size.values():
        order = rng.permutation(len(transitions))
        batches += [
            [transitions[index] for index in order[begin : begin + BATCH]]
            for begin in range(0, len(order), BATCH)
        ]
    for index in rng.permutation(len(batches)):
        yield batches[index]
