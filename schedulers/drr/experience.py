"""What a decision leaves for the learner."""

from typing import NamedTuple

from model.capacity import Ints
from schedulers.drr.observation import Observation
from schedulers.drr.state import Floats

DRAWN, TAUGHT, OWN = "drawn", "taught", "own"  # how a node was chosen
HOUR = 3600.0
GROWTH = 0.01  # reward lost for each GPU by which expected fragmentation grows


class Transition(NamedTuple):
    """One decision, and what came of it until the next.

    Attributes
    ----------
    action : the place of the node in what is seen.
    how : whether it was drawn from the policy, chosen by a teacher, or the policy's own
        first choice, unless the look ahead knew better.
    ways, waits : places that were looked ahead from, and the waits that each leads
        to, s; empty if there was no look ahead. (ways,) each.
    reward : minus what waited until the next decision, and minus the growth of
        fragmentation, by `GROWTH`.
    waited : GPU-hours by which the queue's demand waited, per GPU.
    elapsed : s until the next decision.
    """

    seen: Observation
    action: int
    how: str
    ways: Ints
    waits: Floats
    reward: float = 0.0
    waited: float = 0.0
    elapsed: float = 0.0


class Account:
    """The reward since the last decision: what waits, over time, and fragmentation."""

    def __init__(self, total_milli: int) -> None:
        self._total = max(1, total_milli)
        self._waited = 0.0  # milli-GPU x s
        self._asked = 0
        self._since = 0.0
        self._fragmented = 0.0  # GPUs at the last decision
        self._decided = 0.0

    def note(self, asked: int, now: float) -> None:
        """Note what the queue asks for from now on, milli-GPU."""
        self._waited += self._asked * (now - self._since)
        self._asked, self._since = asked, now

    def settle(self, fragmented: float, now: float) -> tuple[float, float, float]:
        """Return reward, waiting and time since the last decision, and begin anew."""
        waited = self._waited / self._total / HOUR
        reward = -waited - GROWTH * (fragmented - self._fragmented)
        elapsed = now - self._decided
        self._waited, self._fragmented, self._decided = 0.0, fragmented, now
        return reward, waited, elapsed
