"""The dispatcher: one queue, one scheduling pass per instant in which it matters."""

import math
from array import array
from collections.abc import Callable, Generator, Sequence
from time import perf_counter
from typing import Any, Protocol, cast

from simpy import Event, Process

from model.held import HeldJobs
from model.job import Job
from processes.instant import PASS, Bell, Moment, Timeline
from processes.progress import Disturbance, Evicted, Progress
from schedulers.base import Scheduler
from schedulers.decision import Decision, PlannedMove, Reshuffle
from schedulers.queue import PendingQueue


class Source(Protocol):
    """Something that may still happen, as long as it is alive."""

    @property
    def is_alive(self) -> bool:
        """Whether it may."""


class Dispatcher:
    """Queues jobs and starts those that the scheduler decides to start.

    Attributes
    ----------
    pending : the jobs that wait.
    progress : how far each job has come that has arrived and not left, by its id.
    sources : what may still change something, as processes do; once none is alive and
        nothing runs, what is pending can never start.
    after_pass : called with the time after each scheduling pass.
    after_leave : called with the number of jobs that have left, whenever one does.
    decision_seconds : wall-clock seconds of each decision.
    relocate : carries out moves of running jobs.
    """

    def __init__(
        self,
        env: Timeline,
        scheduler: Scheduler,
        pending: PendingQueue,
        held: HeldJobs,
    ) -> None:
        self.env = env
        self.scheduler = scheduler
        self.pending = pending
        self.progress: dict[str, Progress] = {}
        self.sources: list[Source] = []
        self.after_pass: list[Callable[[float], None]] = []
        self.after_leave: list[Callable[[int], object]] = []
        self.decision_seconds = array("d")
        self.relocate: Callable[[Sequence[PlannedMove]], None]
        self._held = held
        self._left = 0
        self._bell = Bell(env)
        self._alarm = -1.0  # s, when the scheduler will be asked again at the latest

    def enqueue(self, progress: Progress) -> Event:
        """Queue a job; the event brings a decision, or None if it can never run."""
        progress.arrival = self.pending.add(progress.job, progress.arrival)
        placed = progress.placed = Event(self.env)
        self.scheduler.arrived(progress.job, self.env.now)
        self._bell.ring()
        return placed

    def wake(self) -> None:
        """Ask for a scheduling pass at the end of this instant."""
        self._bell.ring()

    def disturb(self, job_id: str, cause: Disturbance) -> None:
        """Interrupt a running job; one that is being evicted is beyond all else."""
        progress = self.progress[job_id]
        if not progress.doomed:
            progress.doomed = isinstance(cause, Evicted)
            cast(Process, progress.process).interrupt(cause)

    def leave(self, job: Job) -> None:
        """Note that a job is done with, whatever became of it."""
        del self.progress[job.job_id]
        self.scheduler.departed(job)
        self._left += 1
        for tell in self.after_leave:
            tell(self._left)

    def dispatch(self) -> Generator[Event, Any, None]:
        """Hold one pass in each instant in which a job came or GPUs were freed."""
        pending = self.pending
        while True:
            yield self._bell
            self._bell, now = Bell(self.env), self.env.now
            while pending.entries or self.scheduler.tends_running:
                decision = self._decide(now)
                if isinstance(decision, Decision):
                    yield self._start(decision.job, decision)
                elif decision is not None:
                    self.relocate(decision.moves)
                    yield Moment(self.env, now, PASS)  # the jobs hear of it first
                elif self._held.by_id or self._something_comes() or not pending.entries:
                    break
                else:  # someone would wait for ever, and maybe others behind
                    job = self._hopeless(now)
                    yield self._start(job, None)
            self._set_alarm(now)
            for tell in self.after_pass:
                tell(now)

    def _set_alarm(self, now: float) -> None:
        """Let a pass happen when the scheduler wants one, if jobs wait by then."""
        wake_at = self.scheduler.wake_at
        if wake_at is None or not now < wake_at < math.inf or wake_at == self._alarm:
            return
        self._alarm = wake_at
        alarm = Moment(self.env, wake_at, PASS)
        cast(list[Any], alarm.callbacks).append(lambda event: self._bell.ring())

    def _decide(self, now: float) -> Decision | Reshuffle | None:
        began = perf_counter()
        decision = self.scheduler.decide(self.pending, now)
        self.decision_seconds.append(perf_counter() - began)
        return decision

    def _hopeless(self, now: float) -> Job:
        """Return the first job that has no place although nothing runs."""
        place = self.scheduler.place
        return next(
            (job for job in self.pending if place(job, now) is None), self.pending.head
        )

    def _start(self, job: Job, decision: Decision | None) -> Event:
        """Tell a job where to run; yield the event to let it take its GPUs first."""
        self.pending.remove(job)
        return self.progress[job.job_id].placed.succeed(decision)

    def _something_comes(self) -> bool:
        wake_at = self.scheduler.wake_at
        if wake_at is not None and self.env.now < wake_at < math.inf:
            return True
        return any(source.is_alive for source in self.sources)
