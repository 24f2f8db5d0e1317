"""ElasticFlow for jobs that scale: least GPUs that keep deadlines, the rest shared out.

Gu et al., "ElasticFlow", ASPLOS 2023. Time goes in slots of 60 s. At each slot
progressive filling (`scaling`) plans all admitted jobs, earliest deadline first; a
newcomer is admitted if it finds room behind them, or if all due later still do behind
it. Each job has what its plan says for this slot; GPUs left over go, one level at a
time, to the job whose total GPU time grows least for it, jobs with none first (the
published code sorts the other way round, against the paper's aim).

Adaptation, and why:
* Whole-GPU jobs of one worker scale by powers of two along the curve of their class;
  shares, gangs and jobs tied to a GPU type have no curve and keep what they ask for.
* A job that is not admitted runs best effort on what is left over.
* A plan looks ahead four times what the job needs on its lowest level, and at least an
  hour; later slots would not change this one.
* By how much GPU time grows with a level is read off the curve, not planned anew.
* Changing a job's GPUs costs 2 + 2 (1 + log2 n) s, starting it elsewhere 27 s more.

A slot costs one plan for each live job.
"""

import heapq
import math
from dataclasses import replace

import numpy as np

from model.capacity import Ints
from model.classes import class_of
from model.config import Settings
from model.held import Held
from model.job import WHOLE_GPU, Job, Placement, Placements
from schedulers.base import DEFAULTS, World
from schedulers.buddy import Buddy
from schedulers.decision import Decision, PlannedMove, Reshuffle
from schedulers.queue import PendingQueue
from schedulers.scaling import Scaling, filled, next_level, satisfactory_share

SLOT = 60.0  # s
RESTART = 27.0  # s
LOOK_AHEAD = 4.0  # times what a job needs on its lowest level
AT_LEAST = 3600.0  # s
NODE_GPUS = 8  # of each worker of a job that spans nodes


class Live:
    """A job that has come and not gone: how it scales, what is left, what it gets."""

    __slots__ = ("job", "level", "number", "promised", "scaling", "work")

    def __init__(self, job: Job, scaling: Scaling, number: int) -> None:
        self.job, self.scaling, self.number = job, scaling, number
        self.promised = False
        self.work = job.estimate  # s at the speed of what it asked for
        self.level = 0  # milli-GPU in this slot

    @property
    def deadline(self) -> float:
        """When it must be done, s; infinite for best effort."""
        due = self.job.deadline
        return due if self.promised and due is not None else math.inf

    def slots(self, now: float) -> int:
        """Return how many slots its plan looks ahead."""
        ahead = max(AT_LEAST, LOOK_AHEAD * self.work / min(self.scaling.speeds))
        due = self.job.deadline
        until = min(ahead, math.inf if due is None else due - now)
        return max(0, int(until // SLOT))


class ElasticFlowElastic(Buddy):
    """Give each admitted job its least satisfactory share, then share out the rest."""

    name = "ElasticFlow"
    in_order = False
    tends_running = True

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self._live: dict[str, Live] = {}
        self._newcomers: list[Live] = []
        self._number = self._promised = 0
        self._next_slot = 0.0  # s

    def measures(self) -> dict[str, float]:
        """See `Scheduler.measures`."""
        return {"admitted_ratio": self._promised / max(1, self._number)}

    def arrived(self, job: Job, now: float) -> None:
        """See `Scheduler.arrived`; a new job is looked at when a slot begins."""
        if job.job_id not in self._live:
            self._number += 1
            live = Live(job, scaling_of(job), self._number)
            self._live[job.job_id] = live
            self._newcomers.append(live)
        self.wake_at = self._next_slot

    def departed(self, job: Job) -> None:
        """See `Scheduler.departed`."""
        del self._live[job.job_id]
        self._newcomers = [live for live in self._newcomers if live.job is not job]

    def decide(self, pending: PendingQueue, now: float) -> Decision | Reshuffle | None:
        """See `Scheduler.decide`: once a slot; shrink, then grow, then start."""
        if now >= self._next_slot:
            self._next_slot = (now // SLOT + 1) * SLOT
            self._share_out(now)
            shrunk = self._resize(now, grow=False)
            if shrunk:
                return Reshuffle(shrunk)
        grown = self._resize(now, grow=True)
        if grown:
            return Reshuffle(grown)
        decision = self._start(pending, now)
        self.wake_at = self._next_slot if self._live else None
        return decision

    def _share_out(self, now: float) -> None:
        """Decide what each live job is to have in the slot that begins."""
        held, total = self.world.held, self._total()
        for job_id, live in self._live.items():
            if job_id in held:
                left = max(held[job_id].expected_end - now, 1.0)
                live.work = left * live.scaling.speed(held[job_id].job.total_milli)
        longest = max((live.slots(now) for live in self._live.values()), default=0)
        plans = _Plans(total, max(1, longest), now)
        for live in sorted(self._live.values(), key=_due):
            if live.promised:
                plans.add(live)
        for live in self._newcomers:
            live.promised = live.job.deadline is not None and plans.admit(live)
            self._promised += live.promised
        self._newcomers = []
        for live in self._live.values():
            live.level = plans.level(live)
        self._share_leftovers(total - sum(live.level for live in self._live.values()))

    def _share_leftovers(self, left: int) -> None:
        """Raise levels one at a time where the job's total GPU time grows least."""
        heap = [entry for live in self._live.values() if (entry := self._raise(live))]
        heapq.heapify(heap)
        while heap and left > 0:
            _, _, above, live = heapq.heappop(heap)
            if above - live.level <= left:
                left -= above - live.level
                live.level = above
                entry = self._raise(live)
                if entry is not None:
                    heapq.heappush(heap, entry)

    def _raise(self, live: Live) -> tuple[tuple[float, ...], int, int, Live] | None:
        """Return what the next level costs.

        First come jobs without GPUs, those that run already before others; then it is
        the growth of GPU time for each GPU more.
        """
        above = next_level(live.scaling, live.level)
        if above is None:
            return None
        speed = live.scaling.speed
        gained = (speed(above) - speed(live.level)) / (above - live.level)
        growth = 1 - gained * live.scaling.levels[0] / live.scaling.speeds[0]
        idle = live.job.job_id not in self.world.held
        rank = (live.level > 0, idle and not live.level, growth)
        return (rank, live.number, above, live)

    def _resize(self, now: float, grow: bool) -> tuple[PlannedMove, ...]:
        """Return the moves of running jobs to fewer GPUs, or to more."""
        moves = []
        with self.capacity.trial() as shift:
            for live in sorted(self._live.values(), key=_due):
                held = self.world.held.by_id.get(live.job.job_id)
                if held is None or live.level == held.job.total_milli:
                    continue
                if (live.level > held.job.total_milli) != grow:
                    continue
                for placement in held.placements:
                    shift(held.job.request, placement, -1)
                move = self._move(live, held, now)
                form, places = (move.form, move.destination) if move else (None, ())
                if move is None:  # no room: it stays as it is
                    live.level, form, places = (
                        held.job.total_milli, held.job, held.placements,
                    )  # fmt: skip
                else:
                    moves.append(move)
                for placement in places:
                    shift((form or held.job).request, placement, 1)
        return tuple(moves)

    def _move(self, live: Live, held: Held, now: float) -> PlannedMove | None:
        """Return how a running job gets its new level; where it is, if that fits."""
        if not live.level:
            return PlannedMove(
                held.job, held.placements, (), "no share in this slot", cost=RESTART
            )
        form = with_gpus(live.job, live.level)
        places = self._in_place(form, held) or self.place(form, now)
        if places is None:
            return None
        devices = live.level // WHOLE_GPU
        cost = 2 + 2 * (1 + math.log2(max(1, devices)))
        if {p.node for p in places} != {p.node for p in held.placements}:
            cost += RESTART
        speed = live.scaling.speed(live.level)
        reason = f"scales to {devices} GPUs"
        return PlannedMove(held.job, held.placements, places, reason, form, speed, cost)

    def _in_place(self, form: Job, held: Held) -> Placements | None:
        """Return devices of the same node, those that the job has first."""
        if form.num_workers > 1 or len(held.placements) > 1:
            return None
        node, gpus = held.placements[0]
        row = self.capacity.rows[node]
        able = [*gpus, *(g for g, free in enumerate(row) if free == WHOLE_GPU)]
        able = list(dict.fromkeys(able))[: form.num_gpus]
        fits = len(able) == form.num_gpus and self.capacity.fits(form.request)[node]
        return (Placement(node, tuple(sorted(able))),) if fits else None

    def _start(self, pending: PendingQueue, now: float) -> Decision | None:
        """Start a waiting job that has a level; any that fits if nothing runs."""
        waiting = [self._live[job.job_id] for job in pending]
        for live in sorted(waiting, key=_due):
            if live.level:
                form = with_gpus(live.job, live.level)
                placements = self.place(form, now)
                if placements is not None:
                    speed = live.scaling.speed(live.level)
                    return Decision(live.job, placements, form, speed)
        if not self.world.held.by_id:
            for live in sorted(waiting, key=_due):
                placements = self.place(live.job, now)
                if placements is not None:
                    live.level = live.job.total_milli
                    return Decision(live.job, placements)
        return None

    def _total(self) -> int:
        return int(self.capacity.num_gpus[self.capacity.open].sum()) * WHOLE_GPU


class _Plans:
    """The plans of admitted jobs over the slots to come, and what they leave free."""

    def __init__(self, total: int, slots: int, now: float) -> None:
        self._free: Ints = np.full(slots, total, dtype=np.int64)
        self._now = now
        self._plans: dict[int, Ints] = {}  # by the job's number
        self._in_order: list[Live] = []

    def level(self, live: Live) -> int:
        """Return what a job has in the first slot."""
        plan = self._plans.get(live.number)
        return int(plan[0]) if plan is not None and len(plan) else 0

    def add(self, live: Live) -> bool:
        """Plan a job behind those before it; return whether it will be done in time.

        One that will not be has the highest level that fits in each slot.
        """
        free = self._free[: live.slots(self._now)]
        plan = satisfactory_share(live.scaling, live.work, SLOT, free)
        in_time = plan is not None
        if plan is None:
            plan = filled(live.scaling, live.scaling.levels[-1], free)[0]
        self._free[: len(plan)] -= plan
        self._plans[live.number] = plan
        self._in_order.append(live)
        return in_time

    def admit(self, live: Live) -> bool:
        """Add a newcomer if it and all who are due later are done in time."""
        free = self._free[: live.slots(self._now)]
        if satisfactory_share(live.scaling, live.work, SLOT, free) is not None:
            return self.add(live)
        before = (self._free.copy(), dict(self._plans), list(self._in_order))
        later = [other for other in self._in_order if other.deadline > _deadline(live)]
        for other in later:
            plan = self._plans.pop(other.number)
            self._free[: len(plan)] += plan
        if self.add(live) and all(self.add(other) for other in later):
            return True
        self._free, self._plans, self._in_order = before
        return False


def _deadline(live: Live) -> float:
    return math.inf if live.job.deadline is None else live.job.deadline


def _due(live: Live) -> tuple[float, int]:
    return (live.deadline, live.number)


def scaling_of(job: Job) -> Scaling:
    """Return the levels of a job, and its speeds relative to what it asks for."""
    scales = job.gpu_milli == WHOLE_GPU and job.num_workers == 1 and not job.gpu_type
    if not scales:
        return Scaling((job.total_milli,), (1.0,))
    curve = class_of(job.job_class)
    levels = [1 << bit for bit in range(curve.most.bit_length())]
    own = curve.speedup(job.num_gpus)
    return Scaling(
        tuple(level * WHOLE_GPU for level in levels),
        tuple(curve.speedup(level) / own for level in levels),
    )


def with_gpus(job: Job, milli: int) -> Job:
    """Return the job as it runs with so many milli-GPU, other needs in proportion."""
    devices = milli // WHOLE_GPU
    if milli == job.total_milli or devices == 0:
        return job
    workers = max(1, devices // NODE_GPUS)
    each = devices // workers
    return replace(
        job,
        num_gpus=each,
        num_workers=workers,
        cpu_milli=-(-job.cpu_milli * each // job.num_gpus),
        memory_mib=-(-job.memory_mib * each // job.num_gpus),
    )
