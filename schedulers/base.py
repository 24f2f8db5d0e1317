"""The contract that every scheduler keeps.

A scheduler sees the queue, the free capacity and the clock; it returns one decision
at a time and never waits, writes or draws from a global random stream. The dispatcher
asks again after each decision until it hears None.
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from model.capacity import Capacity
from model.fragmentation import Fragmentation
from model.held import HeldJobs
from schedulers.decision import Decision
from schedulers.queue import PendingQueue


class World(NamedTuple):
    """What a scheduler may see of the cluster."""

    capacity: Capacity
    fragmentation: Fragmentation  # F of each node for the target workload
    held: HeldJobs  # who holds what, and until when by its estimate
    rng: np.random.Generator  # the scheduler's own random stream


class Scheduler(ABC):
    """Decides which pending job starts next, and where.

    Parameters
    ----------
    world : the cluster to decide for.
    queue : name of the queue discipline, a key of `disciplines.DISCIPLINES`.
    """

    name: ClassVar[str]

    def __init__(self, world: World, queue: str = "fifo") -> None:
        self.world = world
        self.capacity = world.capacity

    @abstractmethod
    def decide(self, pending: PendingQueue, now: float) -> Decision | None:
        """Return the next job to start and its placements, or None to wait.

        Parameters
        ----------
        pending : the jobs that wait; not to be changed.
        now : s since the trace began.
        """
