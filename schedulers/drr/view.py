"""The arrays that the compiled functions need, following the cluster and the queue."""

from collections.abc import Iterable

import numpy as np

from model.capacity import Bools
from model.fragmentation import Fragmentation
from model.job import WHOLE_GPU, Job, Request
from schedulers.base import World
from schedulers.drr.forward import Line, Running
from schedulers.drr.state import Floats, State, Tables

SHORTEST = 1.0  # s; what a job without duration counts as
OVERDUE = 60.0  # s; a job that should have ended goes on for as long as it is late


class View:
    """What the scorer sees: free devices, expected ends, running and waiting jobs.

    Attributes
    ----------
    tables : expected fragmentation for all kinds of job, popular or not.
    covers : whether a look ahead knows all that decides where jobs fit here.
    """

    def __init__(self, world: World) -> None:
        capacity = world.capacity
        self._capacity, self._held = capacity, world.held
        self._fragmentation = Fragmentation(capacity, world.workload)
        unit = WHOLE_GPU * self._fragmentation.weight
        self.tables = Tables(
            self._fragmentation.partly / unit, self._fragmentation.wholly / unit
        )
        self.covers = not (capacity.counts_cpu or capacity.counts_memory)
        nodes = range(len(capacity.nodes))
        self._profile = self._fragmentation.profiles(np.array(nodes))
        self._gpu_end: Floats = np.zeros(capacity.free.shape)  # s
        self._node_end = np.zeros(len(nodes))
        self._residents = [np.empty((4, 0)) for _ in nodes]  # as `Running`, by node
        self._none: Bools = np.zeros(len(nodes), dtype=bool)
        self._seen = 0  # clock of the capacity
        self._line = _LineTable()
        self.joined, self.left = self._line.add, self._line.remove

    def state(self, request: Request) -> State:
        """Return the state, shared with the cluster, for workers of one kind."""
        capacity = self._capacity
        self._follow()
        closed = self._none
        if request.gpu_type or not (self.covers and capacity.all_open):
            closed = ~capacity.fits(request)
        return State(
            capacity.free,
            capacity.whole,
            capacity.free_total,
            self._gpu_end,
            self._node_end,
            closed,
            capacity.num_gpus,
            self._profile,
        )

    def running(self, now: float) -> Running:
        """Return the running jobs, with ends that are still to come."""
        self._follow()
        columns = np.concatenate(self._residents, axis=1)
        late = now - columns[0]
        columns[0] = np.where(late >= 0, now + np.maximum(late, OVERDUE), columns[0])
        columns = columns[:, columns[0].argsort(kind="stable")]
        node, taken, milli = columns[1:].astype(np.int64)
        return Running(columns[0], node, taken, milli)

    def line(self, job: Job, waiting: Iterable[Job], most: int) -> Line:
        """Return a job and those that wait behind it, as far as they are covered."""
        return self._line.select(job, waiting, most)

    def _follow(self) -> None:
        capacity = self._capacity
        if self._seen == capacity.clock:
            return
        changed = (capacity.changed_at > self._seen).nonzero()[0]
        if self._fragmentation.levels:
            self._profile[changed] = self._fragmentation.profiles(changed)
        for node in changed.tolist():
            self._look_at(node)
        self._seen = capacity.clock

    def _look_at(self, node: int) -> None:
        """Note until when whom holds what on a node."""
        ends, rows = [0.0] * self._gpu_end.shape[1], []
        for held in self._held.on_node(node):
            end, milli = held.expected_end, held.job.gpu_milli
            for placement in held.placements:
                if placement.node == node:
                    for gpu in placement.gpus:
                        ends[gpu] = max(ends[gpu], end)
                    rows.append((end, node, bits(placement.gpus), milli))
        self._gpu_end[node] = ends
        self._node_end[node] = max([row[0] for row in rows], default=0.0)
        self._residents[node] = np.array(rows, dtype=float).reshape(-1, 4).T


class _LineTable:
    """The jobs that have come and not left, a row each."""

    def __init__(self) -> None:
        self._row: dict[str, int] = {}
        self._spare: list[int] = []
        self._columns: Floats = np.empty((64, 5))

    def add(self, job: Job) -> None:
        """Note a job that joins the queue, at first or again."""
        if job.job_id not in self._row:
            self._row[job.job_id] = self._spare.pop() if self._spare else self._grow()
        covered = job.num_workers == 1 and not job.gpu_type
        row = (job.submit_time, estimate(job), job.num_gpus, job.gpu_milli, covered)
        self._columns[self._row[job.job_id]] = row

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
        index = self._row
        rows: list[int] = []
        for other in waiting:
            if len(rows) == most:
                break
            if other.job_id != job.job_id:
                rows.append(index[other.job_id])
        behind = self._columns[rows]  # (jobs, 5)
        missed = (behind[:, 4] == 0).nonzero()[0]
        if len(missed):
            behind = behind[: missed[0]]
        first = (job.submit_time, estimate(job), job.num_gpus, job.gpu_milli, 1)
        columns = np.concatenate([[first], behind]).T
        num_gpus, milli = columns[2:4].astype(np.int64)
        return Line(columns[0].copy(), columns[1].copy(), num_gpus, milli)


def estimate(job: Job) -> float:
    """Return the duration that is believed, s, above 0."""
    return max(job.estimate, SHORTEST)


def bits(gpus: Iterable[int]) -> int:
    """Return devices as bits.

    >>> bits((0, 3))
    9
    """
    return sum(1 << gpu for gpu in gpus)
