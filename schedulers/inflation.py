"""Fill a cluster with jobs that never end, as FGD's experiments do."""

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from model.capacity import Capacity
from model.fragmentation import Fragmentation
from model.held import Held, HeldJobs
from model.job import Job, Placements
from model.node import Node
from model.target import Target
from schedulers.base import World
from schedulers.scoring import ScoringScheduler

RESOURCES = ("gpu", "cpu", "memory")


def empty_world(
    nodes: Sequence[Node], target: Target, rng: np.random.Generator
) -> World:
    """Return a cluster without jobs, in which GPU, CPU and memory must fit."""
    capacity = Capacity(nodes, RESOURCES)
    return World(capacity, Fragmentation(capacity, target), HeldJobs(), rng)


def inflate(
    scheduler: ScoringScheduler, jobs: Iterable[Job]
) -> Iterator[Placements | None]:
    """Place each job in turn and keep it; yield where it went, None if it did not fit.

    A job that does not fit is not tried again. The scheduler's world is changed as the
    iteration goes on, so its capacity and fragmentation may be read between the steps.
    """
    world = scheduler.world
    for job in jobs:
        placements = scheduler.place(job, 0.0)
        if placements is not None:
            for placement in placements:
                world.capacity.shift(job.request, placement, 1)
            world.held.add(Held(job, placements, math.inf))
        yield placements


def inflation_events(scheduler: ScoringScheduler, jobs: Sequence[Job]) -> pd.DataFrame:
    """Fill the scheduler's world; return one row per job, placed or not.

    Columns, all in milli-GPU and after the event: ``arrived`` (asked for so far),
    ``allocated``, ``fragment`` (F of the cluster).
    """
    capacity, fragmentation = scheduler.world.capacity, scheduler.world.fragmentation
    after = [
        (capacity.allocated, fragmentation.total / fragmentation.weight)
        for _ in inflate(scheduler, jobs)
    ]
    events = pd.DataFrame(after, columns=["allocated", "fragment"])
    events.insert(0, "arrived", np.cumsum([job.total_milli for job in jobs]))
    return events
