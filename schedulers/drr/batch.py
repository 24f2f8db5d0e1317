"""Decisions stacked into tensors, for the network to learn from."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from schedulers.drr.experience import DRAWN, TAUGHT, Transition
from schedulers.drr.state import Floats

SHARP = 0.05  # by how much more the queue may wait before a way is e times less likely
LEAST_WAIT = 60.0  # s; below this, waits count as alike
LARGEST = 3.0  # advantage beyond which all are alike


class Batch:
    """Transitions of one cluster, as columns; ways are padded to the most there are.

    Attributes
    ----------
    inputs : devices, context and scores, as `Network.forward` takes them.
    actions, taught, looked : (batch,); `looked` if its branches are known.
    ways, known : (batch, ways), nodes, and whether their advantage is known.
    excess : (batch, ways), by how much longer than the best the queue waits / `SHARP`.
    gains : (batch, ways), advantages; set by `weigh`.
    rewards, elapsed : (batch,)
    """

    def __init__(self, transitions: Sequence[Transition]) -> None:
        seen = [transition.seen for transition in transitions]
        self.inputs = (
            torch.from_numpy(np.stack([one.devices for one in seen])),
            torch.from_numpy(np.stack([one.context for one in seen])),
            torch.from_numpy(np.stack([one.scores for one in seen])),
        )
        most = max(1, *(len(transition.ways) for transition in transitions))
        shape = (len(transitions), most)
        self.waits = np.full(shape, np.nan)  # s
        ways = np.zeros(shape, np.int64)
        known = np.zeros(shape, dtype=bool)
        for row, transition in enumerate(transitions):
            number = len(transition.ways)
            ways[row, :number] = transition.ways
            self.waits[row, :number] = transition.waits
            known[row, :number] = True
            if number == 0:
                ways[row, 0] = transition.action
                known[row, 0] = transition.how == DRAWN
        self.looked = torch.tensor([len(one.ways) > 0 for one in transitions])
        self.taught = torch.tensor(
            [one.how == TAUGHT and len(one.ways) == 0 for one in transitions]
        )
        self.actions = torch.tensor([one.action for one in transitions])
        self.ways, self.known = torch.from_numpy(ways), torch.from_numpy(known)
        self.excess = torch.from_numpy(excess(self.waits) / SHARP).float()
        self.gains = torch.zeros(shape)
        self.rewards = np.array([one.reward for one in transitions])
        self.elapsed = np.array([one.elapsed for one in transitions])

    def at_ways(self, log_probs: Tensor) -> Tensor:
        """Return what (batch, nodes) say of the ways; -inf where there is none."""
        padded = ~self.known & self.looked[:, None]
        found = log_probs.gather(1, self.ways).masked_fill(padded, -1e9)
        return found.clamp(min=-1e9)

    def weigh(self, gains: Floats, adjustment: float) -> None:
        """Set the advantages: of branches by their waits, of draws by *gains*."""
        spread = gains.std() + 1e-8
        drawn = np.clip((gains - gains.mean()) / spread, -LARGEST, LARGEST)
        branches = branch_advantages(self.waits, adjustment)
        looked = self.looked.numpy()[:, None]
        both = np.where(looked, branches, drawn[:, None])
        self.gains = torch.from_numpy(np.nan_to_num(both)).float() * self.known


def excess(waits: Floats) -> Floats:
    """Return by how much each wait exceeds the row's least, as a share of it."""
    filled = np.where(np.isnan(waits), np.inf, waits)
    least = filled.min(axis=1, keepdims=True)
    least = np.where(np.isfinite(least), least, 0.0)
    found = (np.where(np.isnan(waits), least, waits) - least) / (least + LEAST_WAIT)
    return np.asarray(found)


def branch_advantages(waits: Floats, adjustment: float) -> Floats:
    """Return the advantage of each branch, (batch, ways); nan where there is none.

    A branch's gain is minus its excess wait; from it goes *adjustment* x the mean gain
    of the others, and the policy's baseline is the mean of what is left. Together that
    is the gain above the mean x (1 + adjustment / (ways - 1)): where all branches are
    known, the adjustment strengthens the advantage and changes nothing else.

    >>> branch_advantages(np.array([[60.0, 66.0]]), 1.0).round(3).tolist()
    [[1.0, -1.0]]
    """
    gain = np.where(np.isnan(waits), np.nan, -excess(waits) / SHARP)
    number = (~np.isnan(gain)).sum(axis=1, keepdims=True)
    total = np.nansum(gain, axis=1, keepdims=True)
    others = (total - gain) / np.maximum(number - 1, 1)
    adjusted = gain - adjustment * others
    middle = np.nansum(adjusted, axis=1, keepdims=True) / np.maximum(number, 1)
    found: Floats = np.clip(adjusted - middle, -LARGEST, LARGEST)
    return found
