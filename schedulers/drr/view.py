"""The arrays that the compiled functions need, following the cluster and the queue."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache

import numpy as np

from model.capacity import Bools
from model.fragmentation import Fragmentation
from model.held import Held
from model.job import WHOLE_GPU, Job, Placements, Request
from schedulers.base import World
from schedulers.decision import PlannedMove
from schedulers.drr.forward import Line, Running
from schedulers.drr.line import LineTable, startable
from schedulers.drr.state import Floats, State, Tables, copied

WIDEST = 50  # devices of a node that fit into the bits of a float
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
        self._line = LineTable()
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
            found = self._rows(node, (there | joined).values(), place)
            residents[node], state.gpu_end[node], state.node_end[node] = found
        return state, _sorted(residents, now)

    def line(self, job: Job, waiting: Iterable[Job], most: int) -> Line:
        """Return a job and those that wait behind it, as far as they are covered.

        It ends before one that the open nodes could not hold if they were idle, which
        may be the first, and after *most* workers behind the first.
        """
        line, capacity = self._line.select(job, waiting, most), self._capacity
        kept = int((line.workers.cumsum() <= line.workers[0] + most).sum())
        if not capacity.all_open:
            sizes = capacity.num_gpus[capacity.open]
            kept = min(kept, startable(line, sizes))
        submit, seconds, *asked = line
        return Line(submit[:kept], seconds[:kept], *(column[:kept] for column in asked))

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
        found = self._rows(node, self._held.on_node(node), {})
        self._residents[node], self._gpu_end[node], self._node_end[node] = found

    def _rows(
        self, node: int, residents: Iterable[Held], place: Mapping[str, _Place]
    ) -> tuple[Floats, list[float], float]:
        """Return what jobs hold on a node, some of them elsewhere.

        As `Running`, (4, workers), and when each device's last job ends, (gpus,) s, and
        the node's.
        """
        rows: list[float] = []
        ends, latest = [0.0] * self._gpu_end.shape[1], 0.0
        for held in residents:
            placements, end = held.placements, held.expected_end
            if place:
                placements, end = place.get(held.job.job_id, (placements, end))
            milli = held.job.gpu_milli
            for there, gpus in placements:
                if there == node:
                    rows += (end, node, bits(gpus), milli)
                    if end > latest:
                        latest = end
                    for gpu in gpus:
                        if end > ends[gpu]:
                            ends[gpu] = end
        return np.array(rows).reshape(-1, 4).T, ends, latest


def _sorted(residents: Sequence[Floats], now: float) -> Running:
    """Return all that run, first to end first; who is overdue goes on for a while."""
    columns = np.concatenate(residents, axis=1)
    late = now - columns[0]
    columns[0] = np.where(late >= 0, now + np.maximum(late, OVERDUE), columns[0])
    columns = columns[:, columns[0].argsort(kind="stable")]
    node, taken, milli = columns[1:].astype(np.int64)
    return Running(columns[0], node, taken, milli)


@cache
def bits(gpus: tuple[int, ...]) -> int:
    """Return devices as bits.

    >>> bits((0, 3))
    9
    """
    return sum(1 << gpu for gpu in gpus)
