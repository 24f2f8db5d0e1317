"""ElasticFlow for rigid jobs: deadlines are promised before they are met.

Gu et al., "ElasticFlow", ASPLOS 2023. A job is admitted if, in the order of deadlines,
every admitted job still finds room for its duration before its deadline; an admitted
job keeps its reservation. Needs durations and deadlines.

Adaptation to jobs that neither scale nor split, and why:
* Room is an interval of the whole duration on the pooled GPUs (no progressive filling,
  as there is but one level). The promise therefore holds as far as placement does:
  fragmentation may delay an admitted job; how many it delayed past their deadline is
  reported.
* A job that is not admitted is not dropped, as there, but runs best effort, first come
  first served, when that leaves all reservations intact: delays stay comparable.
* A job without a deadline is best effort.
* There, all jobs are placed anew in every slot. Here nobody is moved, unless
  `ef_migration` is on: then the cheapest moves make room for an admitted job whose time
  has come and that only fragmentation keeps out, each at the simulator's overhead.

An admission costs one walk over the profile for each job due later; a decision one
placement.
"""

from bisect import insort
from typing import Any

from model.config import Settings
from model.job import Job, Placements
from schedulers.base import DEFAULTS, World
from schedulers.buddy import Buddy
from schedulers.decision import Decision, PlannedMove, Reshuffle
from schedulers.planners.draft import Outlook
from schedulers.planners.making_room import make_room
from schedulers.profile import Profile
from schedulers.queue import PendingQueue
from schedulers.scaling import RESTART, joining

REPACKED = 16  # jobs moved for one, at most
OVERDUE = 60.0  # s; after which a job that starts or ends late is planned anew


class Reservation:
    """When an admitted job is to start."""

    __slots__ = ("deadline", "job", "number", "start")

    def __init__(self, job: Job, deadline: float, number: int) -> None:
        self.job, self.deadline, self.number = job, deadline, number
        self.start = float("inf")

    def __lt__(self, other: "Reservation") -> bool:
        """Return whether this one is due earlier; ties by arrival."""
        return (self.deadline, self.number) < (other.deadline, other.number)


class ElasticFlow(Buddy):
    """Start admitted jobs as reserved, earliest deadline first, then best effort."""

    name = "ElasticFlow"
    in_order = False

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self.admitted: list[Reservation] = []  # those that wait, by deadline
        self.best_effort: list[tuple[float, int, Job]] = []  # by submission
        self.profile = Profile(0.0, self.capacity.free_open)
        self._migrates = settings.ef_migration
        self._memory: dict[Any, Any] = {}  # of the search for moves
        self._newcomers: list[Job] = []
        self._number = 0
        self._asked = self._promised = self._late = 0

    def arrived(self, job: Job, now: float) -> None:
        """See `Scheduler.arrived`; it is admitted or not when next asked."""
        self._newcomers.append(job)

    def departed(self, job: Job) -> None:
        """See `Scheduler.departed`; one that never ran is still in line."""
        self._newcomers = [other for other in self._newcomers if other is not job]
        self.admitted = [entry for entry in self.admitted if entry.job is not job]
        self.best_effort = [entry for entry in self.best_effort if entry[2] is not job]

    def measures(self) -> dict[str, float]:
        """Return what ElasticFlow alone can tell, for summary.json.

        admitted_ratio : jobs whose deadline was promised / all.
        admitted_late : promised jobs that started too late for it, by their estimates.
        """
        return {
            "admitted_ratio": self._promised / max(1, self._asked),
            "admitted_late": self._late,
        }

    def decide(self, pending: PendingQueue, now: float) -> Decision | Reshuffle | None:
        """See `Scheduler.decide`."""
        self._follow(now)
        self._admit_newcomers(now)
        idle = not self.world.held.by_id  # then nothing is worth waiting for
        for entry in [e for e in self.admitted if e.start <= now or idle]:
            placements = self.place(entry.job, now)
            if placements is not None:
                return self._start(entry, placements, now)
            if self._migrates and self.capacity.pool_holds(entry.job):
                moves = self._repack(entry.job, now)
                if moves:
                    return Reshuffle(moves)
            if entry.start + OVERDUE < now:  # fragmentation keeps it out
                self._reserve(entry, -1)
                self._plan(entry, now)
        starts = [entry.start for entry in self.admitted if entry.start > now]
        self.wake_at = None if idle else min(starts, default=None)
        return self._start_best_effort(now, idle)

    def _repack(self, job: Job, now: float) -> tuple[PlannedMove, ...]:
        """Return the moves of running jobs that let this one start now."""
        outlook = Outlook(self.world, self.place, 0, now=now, memory=self._memory)
        moves = make_room(outlook, job, REPACKED) or []
        return tuple(
            move._replace(
                cost=RESTART + joining(move.job.num_gpus * move.job.num_workers)
            )
            for move in moves
        )

    def _start(
        self, entry: Reservation, placements: Placements, now: float
    ) -> Decision:
        job = entry.job
        self._late += now + job.estimate > entry.deadline
        self.admitted.remove(entry)
        self._reserve(entry, -1)
        entry.start = now
        self._reserve(entry)
        return Decision(job, placements)

    def _start_best_effort(self, now: float, idle: bool) -> Decision | None:
        """Start the first in line if that harms no reservation."""
        if not self.best_effort:
            return None
        job = self.best_effort[0][2]
        end = now + job.estimate
        if not (idle or self.profile.holds(job.total_milli, now, end)):
            return None
        placements = self.place(job, now)
        if placements is None:
            return None
        del self.best_effort[0]
        self.profile.reserve(now, end, job.total_milli)
        return Decision(job, placements)

    def _admit_newcomers(self, now: float) -> None:
        for job in self._newcomers:
            self._number += 1
            self._asked += 1
            if job.deadline is not None and self._admit(job, job.deadline, now):
                self._promised += 1
            else:
                insort(self.best_effort, (job.submit_time, self._number, job))
        self._newcomers.clear()

    def _admit(self, job: Job, deadline: float, now: float) -> bool:
        """Reserve for a newcomer if all who are due later still make it.

        They are planned anew behind it, each at its earliest.
        """
        entry = Reservation(job, deadline, self._number)
        later = [other for other in self.admitted if entry < other]
        before, starts = self.profile.copy(), [other.start for other in later]
        for other in later:
            self._reserve(other, -1)
        if self._plan(entry, now) and all(
            self._plan(other, now) or start + other.job.estimate > other.deadline
            for other, start in zip(later, starts, strict=True)
        ):
            insort(self.admitted, entry)
            return True
        self.profile = before
        for other, start in zip(later, starts, strict=True):
            other.start = start
        return False

    def _plan(self, entry: Reservation, now: float) -> bool:
        """Reserve the earliest room; return whether it ends by the deadline."""
        job = entry.job
        entry.start = self.profile.earliest(job.total_milli, job.estimate, now)
        self._reserve(entry)
        return entry.start + job.estimate <= entry.deadline

    def _reserve(self, entry: Reservation, sign: int = 1) -> None:
        if entry.start < float("inf"):
            end = entry.start + entry.job.estimate
            self.profile.reserve(entry.start, end, sign * entry.job.total_milli)

    def _follow(self, now: float) -> None:
        """Plan anew if more or less is free than the profile expects.

        So it is when a job ends early or late, is evicted or moved, or nodes change.
        """
        self.profile.forget(now)
        due = sum(e.job.total_milli for e in self.admitted if e.start <= now)
        if self.profile.at(now) + due == self.capacity.free_open:
            return
        ends = [
            (max(held.expected_end, now + OVERDUE * (held.expected_end <= now)),
             held.job.total_milli)
            for held in self.world.held
            if self.capacity.all_open or self._is_open(held.placements)
        ]  # fmt: skip
        self.profile = Profile(now, self.capacity.free_open, ends)
        for entry in self.admitted:
            self._plan(entry, now)

    def _is_open(self, placements: Placements) -> bool:
        return all(self.capacity.open[placement.node] for placement in placements)
