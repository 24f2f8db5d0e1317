"""What a scheduler decides."""

from collections.abc import Callable
from typing import NamedTuple

from model.job import Job, Placements

Place = Callable[[Job], Placements | None]


class Decision(NamedTuple):
    """Start this job there, now: one placement for each worker."""

    job: Job
    placements: Placements
