"""What a scheduler decides."""

from collections.abc import Callable
from typing import NamedTuple

from model.job import Job, Placements

Place = Callable[[Job, float], Placements | None]  # a job, and now


class Decision(NamedTuple):
    """Start this job there, now: one placement for each worker.

    Attributes
    ----------
    form : the job as it is to run, under its own id, if not as it was submitted: with
        more or fewer GPUs, or spread over nodes.
    speed : how fast that is, relative to the job as submitted.
    """

    job: Job
    placements: Placements
    form: Job | None = None
    speed: float = 1.0


class PlannedMove(NamedTuple):
    """Stop a running job in one place and go on with it in another.

    Attributes
    ----------
    job : as it runs now.
    destination : empty sends the job back to the queue.
    form, speed : as in `Decision`, if they change.
    cost : s without progress; None = what the settings say.
    """

    job: Job
    source: Placements
    destination: Placements
    reason: str
    form: Job | None = None
    speed: float | None = None
    cost: float | None = None


class Reshuffle(NamedTuple):
    """Move these running jobs in one instant: each gives back, then each takes."""

    moves: tuple[PlannedMove, ...]
