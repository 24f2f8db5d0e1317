"""The jobs that wait, as the arrays of a `Line`."""

from collections.abc import Iterable
from itertools import islice
from operator import attrgetter

import numpy as np

from model.capacity import Ints
from model.job import WHOLE_GPU, Job
from schedulers.drr.forward import Line
from schedulers.drr.state import Floats

SHORTEST = 1.0  # s; what a job without duration counts as


class LineTable:
    """The jobs that have come and not left, a row each."""

    def __init__(self) -> None:
        self._row: dict[str, int] = {}
        self._spare: list[int] = []
        self._columns: Floats = np.empty((64, 6))

    def add(self, job: Job) -> None:
        """Note a job that joins the queue, at first or again."""
        if job.job_id not in self._row:
            self._row[job.job_id] = self._spare.pop() if self._spare else self._grow()
        self._columns[self._row[job.job_id]] = (*_asked(job), not job.gpu_type)

    def remove(self, job: Job) -> None:
        """Forget a job."""
        row = self._row.pop(job.job_id, None)
        if row is not None:
            self._spare.append(row)

    def _grow(self) -> int:
        row = len(self._row)
        if row == len(self._columns):
            self._columns = np.concatenate([self._columns, self._columns])
        return row

    def select(self, job: Job, waiting: Iterable[Job], most: int) -> Line:
        """See `View.line`."""
        names = [*map(attrgetter("job_id"), islice(waiting, most + 1))]
        if job.job_id in names:
            names.remove(job.job_id)
        rows = [*map(self._row.__getitem__, names[:most])]
        behind = self._columns[rows]  # (jobs, 6)
        missed = (behind[:, 5] == 0).nonzero()[0]
        if len(missed):
            behind = behind[: missed[0]]
        return _line(np.concatenate([[_asked(job)], behind[:, :5]]))


def line_of(jobs: Iterable[Job]) -> Line:
    """Return the jobs as a line, in their order."""
    return _line(np.array([_asked(job) for job in jobs]).reshape(-1, 5))


def _line(rows: Floats) -> Line:
    submit, estimated, *asked = rows.T
    return Line(submit.copy(), estimated.copy(), *np.array(asked, np.int64))


def _asked(job: Job) -> tuple[float, float, int, int, int]:
    """Return a job's row of a `Line`."""
    seconds = estimate(job)
    return job.submit_time, seconds, job.num_gpus, job.gpu_milli, job.num_workers


def estimate(job: Job) -> float:
    """Return the duration that is believed, s, above 0."""
    return max(job.estimate, SHORTEST)


def startable(line: Line, sizes: Ints) -> int:
    """Return how many jobs come before one that idle nodes of these sizes cannot hold.

    Parameters
    ----------
    sizes : (nodes,) devices of each.
    """
    holds: dict[tuple[int, int, int], bool] = {}
    asked = zip(*(column.tolist() for column in line[2:]), strict=True)
    for place, (num_gpus, milli, workers) in enumerate(asked):
        kind = (num_gpus, milli, workers)
        if kind not in holds:
            each = WHOLE_GPU // milli if num_gpus == 1 else 1
            slots = sizes * each // num_gpus if num_gpus else sizes * 0 + workers
            holds[kind] = bool(slots.sum() >= workers)
        if not holds[kind]:
            return place
    return len(line.submit)
