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
* By how much GPU time grows with a level is read off the curve, not planned anew.
* Changing a job's GPUs costs 2 + 2 (1 + log2 n) s, starting it elsewhere 27 s more.

A slot costs one plan for each live job.
"""

import heapq

from model.config import Settings
from model.held import Held
from model.job import WHOLE_GPU, Job, Placement, Placements
from schedulers.base import DEFAULTS, World
from schedulers.buddy import Buddy, powers_of_two
from schedulers.decision import Decision, PlannedMove, Reshuffle
from schedulers.elastic_plans import (
    SLOT,
    Live,
    Plans,
    due,
    scaling_of,
    with_gpus,
)
from schedulers.queue import PendingQueue
from schedulers.scaling import RESTART, joining, next_level


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
        self._grows = False  # whether this slot's growing is still to come

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
            self._grows = True
            shrunk = self._resize(now, grow=False)
            if shrunk:
                return Reshuffle(shrunk)
        if self._grows:
            self._grows = False
            grown = self._resize(now, grow=True)
            if grown:
                return Reshuffle(grown)
        decision = self._start(pending, now)
        busy = decision is not None or self.world.held.by_id
        self.wake_at = self._next_slot if busy else None  # or nothing would change
        return decision

    def _share_out(self, now: float) -> None:
        """Decide what each live job is to have in the slot that begins."""
        held, total = self.world.held, self._total()
        for job_id, live in self._live.items():
            if job_id in held:
                left = max(held[job_id].expected_end - now, 1.0)
                live.work = left * live.scaling.speed(held[job_id].job.total_milli)
        longest = max((live.slots(now) for live in self._live.values()), default=0)
        plans = Plans(total, max(1, longest), now)
        for live in sorted(self._live.values(), key=due):
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
            for live in sorted(self._live.values(), key=due):
                held = self.world.held.by_id.get(live.job.job_id)
                if held is None or live.level == held.job.total_milli:
                    continue
                if (live.level > held.job.total_milli) != grow:
                    continue
                for placement in held.placements:
                    shift(held.job.request, placement, -1)
                move = self._move(live, held, now)
                form, places = (move.form, move.destination) if move else (None, ())
                if move is not None and not places:  # it gives back only afterwards
                    places = held.placements
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
        form = self._form(live, live.level)
        places = self._in_place(form, held) or self.place(form, now)
        if places is None:
            return None
        devices = live.level // WHOLE_GPU
        cost = joining(devices)
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
        for live in sorted(waiting, key=due):
            for level in self._levels_up_to(live):
                form = self._form(live, level)
                placements = self.place(form, now)
                if placements is not None:
                    live.level = level
                    speed = live.scaling.speed(level) if level else 1.0
                    return Decision(live.job, placements, form, speed)
        if not self.world.held.by_id:
            for live in sorted(waiting, key=due):
                placements = self.place(live.job, now)
                if placements is not None:
                    live.level = live.job.total_milli
                    return Decision(live.job, placements)
        return None

    def _levels_up_to(self, live: Live) -> list[int]:
        """Return what a waiting job may start with, its share of the slot first."""
        if not live.job.num_gpus:
            return [0]  # it needs no share
        lower = [level for level in live.scaling.levels if level <= live.level]
        return lower[::-1]

    def _form(self, live: Live, level: int) -> Job:
        widest = max(1, int(self.capacity.num_gpus.max()))
        return with_gpus(live.job, level, powers_of_two(widest)[-1])

    def _total(self) -> int:
        return int(self.capacity.num_gpus[self.capacity.open].sum()) * WHOLE_GPU
