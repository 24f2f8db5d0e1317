"""The arrays that the compiled functions need, following the cluster and the queue."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import islice
from operator import attrgetter

import numpy as np

from model.capacity import Bools
from model.fragmentation import Fragmentation
from model.held import Held
from model.job import WHOLE_GPU, Job, Placements, Request
from schedulers.base import World
from schedulers.decision import PlannedMove
from schedulers.drr.forward import Line, Running
from schedulers.drr.state import Floats, State, Tables, copied

WIDEST = 50  # devices of a node that fit into the bits of a float
SHORTEST = 1.0  # s; what a job without duration counts as
_Place = tuple[Placements, float]  # where, and until when, s
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
        self._fragmentation = Fragmentation(capacity, world.workload, follows=False)
        unit = WHOLE_GPU * self._fragmentation.weight
        self.tables = Tables(
            self._fragmentation.partly / unit, self._fragmentation.wholly / unit
        )
        self._only_gpus = not (capacity.counts_cpu or capacity.counts_memory)
        self.covers = self._only_gpus and capacity.free.shape[1] <= WIDEST
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
        if not self._only_gpus:  # of what else they ask, only this moment is known
            closed = ~capacity.fits(request)
        elif request.gpu_type or not capacity.all_open:
            closed = ~(capacity.open & capacity.accessible(request.gpu_type))
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
        return _sorted(self._residents, now)

    def moved(
        self,
        moves: Sequence[PlannedMove],
        request: Request,
        now: float,
        cost: Callable[[Job], float],
    ) -> tuple[State, Running]:
        """Return state, for a kind of worker, and running jobs after these moves.

        Each takes its job elsewhere, as it is, at the usual *cost*, s.
        """
        state, place = copied(self.state(request)), {}
        for move in moves:
            end = max(self._held[move.job.job_id].expected_end, now) + cost(move.job)
            place[move.job.job_id] = (move.destination, end)
            for placements, sign in ((move.source, 1), (move.destination, -1)):
                for node, gpus in placements:
                    milli = sign * move.job.gpu_milli
                    state.free[node, list(gpus)] += milli
                    state.total[node] += milli * len(gpus)
        changed = {node for m in moves for node, _ in (*m.source, *m.destination)}
        residents = list(self._residents)
        joined = {name: self._held[name] for name in place}
        for node in sorted(changed):
            there = {held.job.job_id: held for held in self._held.on_node(node)}
            state.whole[node] = (state.free[node] == WHOLE_GPU).sum()
            residents[node] = self._rows(node, (there | joined).values(), place)
            state.gpu_end[node] = _ends(residents[node], state.gpu_end.shape[1])
            state.node_end[node] = residents[node][0].max(initial=0.0)
        return state, _sorted(residents, now)

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
        rows = self._rows(node, self._held.on_node(node), {})
        self._gpu_end[node] = _ends(rows, self._gpu_end.shape[1])
        self._node_end[node] = rows[0].max(initial=0.0)
        self._residents[node] = rows

    def _rows(
        self, node: int, residents: Iterable[Held], place: Mapping[str, _Place]
    ) -> Floats:
        """Return what jobs hold on a node, (4, workers), some of them elsewhere."""
        rows: list[float] = []
        for held in residents:
            placements, end = held.placements, held.expected_end
            if place:
                placements, end = place.get(held.job.job_id, (placements, end))
            milli = held.job.gpu_milli
            for there, gpus in placements:
                if there == node:
                    rows += (end, node, bits(gpus), milli)
        return np.array(rows).reshape(-1, 4).T


def _ends(rows: Floats, gpus: int) -> list[float]:
    """Return when the last job on each device of a node ends, (gpus,) s."""
    ends = [0.0] * gpus
    for end, _, taken, _ in rows.T.tolist():
        left = int(taken)
        while left:
            gpu = (left & -left).bit_length() - 1
            left &= left - 1
            if end > ends[gpu]:
                ends[gpu] = end
    return ends


def _sorted(residents: Sequence[Floats], now: float) -> Running:
    """Return all that run, first to end first; who is overdue goes on for a while."""
    columns = np.concatenate(residents, axis=1)
    late = now - columns[0]
    columns[0] = np.where(late >= 0, now + np.maximum(late, OVERDUE), columns[0])
    columns = columns[:, columns[0].argsort(kind="stable")]
    node, taken, milli = columns[1:].astype(np.int64)
    return Running(columns[0], node, taken, milli)


class _LineTable:
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
    return _line(np.array([_asked(job) for job in jobs]))


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


@cache
def bits(gpus: tuple[int, ...]) -> int:
    """Return devices as bits.

    >>> bits((0, 3))
    9
    """
    return sum(1 << gpu for gpu in gpus)
