"""The contract that every scheduler keeps.

A scheduler sees the queue, the free capacity and the clock; it returns one decision
at a time and never waits, writes or draws from a global random stream. The dispatcher
asks again after each decision until it hears None.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from model.capacity import Capacity
from model.config import Settings
from model.fragmentation import Fragmentation
from model.held import HeldJobs
from model.job import Job, Placements
from model.target import Target
from schedulers.decision import Decision, PlannedMove, Reshuffle
from schedulers.queue import PendingQueue

DEFAULTS = Settings()


class World(NamedTuple):
    """What a scheduler may see of the cluster."""

    capacity: Capacity
    fragmentation: Fragmentation  # F of each node for the target workload
    held: HeldJobs  # who holds what, and until when by its estimate
    rng: np.random.Generator  # the scheduler's own random stream
    workload: Target = Target((), ())  # all kinds of job that may come, if known


class Scheduler(ABC):
    """Decides which pending job starts next, and where.

    Parameters
    ----------
    world : the cluster to decide for.
    settings : the queue discipline, and each scheduler's own options.

    Attributes
    ----------
    planners : what its rounds of rescheduling use by default, one after the other.
    in_order : whether jobs start in the order of the queue discipline; a scheduler
        with an order of its own is not bound by the pooled cluster under `fifo`.
    learns : whether a learner may be told of its decisions, as DRR's is.
    tends_running : whether it is asked even when no job waits, to move running ones.
    wake_at : s, when it wants to be asked again though nothing happens; None = never.
    """

    name: ClassVar[str]
    planners: ClassVar[tuple[str, ...]] = ("published",)
    in_order = True
    learns = False
    tends_running = False
    wake_at: float | None = None

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        self.world = world
        self.capacity = world.capacity

    @abstractmethod
    def decide(self, pending: PendingQueue, now: float) -> Decision | Reshuffle | None:
        """Return the next job to start and its placements, or None to wait.

        Parameters
        ----------
        pending : the jobs that wait; not to be changed.
        now : s since the trace began.
        """

    @abstractmethod
    def place(self, job: Job, now: float) -> Placements | None:
        """Return where the job would go now, whole, or None if it does not fit."""

    def welcomes(self, moves: Sequence[PlannedMove], now: float) -> bool:
        """Return whether the moves that a round has planned should be made."""
        return True

    def arrived(self, job: Job, now: float) -> None:  # noqa: B027
        """Hear of a job that joins the queue, at first or after an eviction."""

    def measures(self) -> dict[str, float]:
        """Return what this scheduler alone can tell, for summary.json."""
        return {}

    def departed(self, job: Job) -> None:  # noqa: B027
        """Hear of a job that is done with: it has ended, or can never run."""
