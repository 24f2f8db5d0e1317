"""Fill a cluster with jobs that never end, as FGD's experiments do."""

import math
from collections.abc import Iterable, Iterator

from model.held import Held
from model.job import Job, Placements
from schedulers.scoring import ScoringScheduler


def inflate(
    scheduler: ScoringScheduler, jobs: Iterable[Job]
) -> Iterator[Placements | None]:
    """Place each job in turn and keep it; yield where it went, None if it did not fit.

    A job that does not fit is not tried again. The scheduler's world is changed as the
    iteration goes on, so its capacity and fragmentation may be read between the steps.
    """
    world = scheduler.world
    for job in jobs:
        placements = scheduler.place(job)
        if placements is not None:
            for placement in placements:
                world.capacity.shift(job.request, placement, 1)
            world.held.add(Held(job, placements, math.inf))
        yield placements
