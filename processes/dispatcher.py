"""The dispatcher: one queue, one scheduling pass per instant in which it matters."""

from array import array
from collections.abc import Callable, Generator
from time import perf_counter
from typing import Any, cast

from simpy import Environment, Event, Process

from model.held import HeldJobs
from model.job import Job, Placements
from processes.instant import Bell
from processes.progress import Disturbance, Evicted, Progress
from schedulers.base import Scheduler
from schedulers.decision import Decision
from schedulers.queue import PendingQueue


class Dispatcher:
    """Queues jobs and starts those that the scheduler decides to start.

    Attributes
    ----------
    pending : the jobs that wait.
    progress : how far each job has come that has arrived and not left, by its id.
    sources : processes that may still change something; once none is alive and
        nothing runs, what is pending can never start.
    after_pass : called with the time after each scheduling pass.
    after_leave : called with the number of jobs that have left, whenever one does.
    decision_seconds : wall-clock seconds of each decision.
    """

    def __init__(
        self,
        env: Environment,
        scheduler: Scheduler,
        pending: PendingQueue,
        held: HeldJobs,
    ) -> None:
        self.env = env
        self.scheduler = scheduler
        self.pending = pending
        self.progress: dict[str, Progress] = {}
        self.sources: list[Process] = []
        self.after_pass: list[Callable[[float], None]] = []
        self.after_leave: list[Callable[[int], object]] = []
        self.decision_seconds = array("d")
        self._held = held
        self._left = 0
        self._bell = Bell(env)

    def enqueue(self, progress: Progress) -> Event:
        """Queue a job; the event brings its placements, or None if it can never run."""
        progress.arrival = self.pending.add(progress.job, progress.arrival)
        placed = progress.placed = Event(self.env)
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
        self._left += 1
        for tell in self.after_leave:
            tell(self._left)

    def dispatch(self) -> Generator[Event, Any, None]:
        """Hold one pass in each instant in which a job came or GPUs were freed."""
        pending = self.pending
        while True:
            yield self._bell
            self._bell, now = Bell(self.env), self.env.now
            while pending.entries:
                decision = self._decide(now)
                if decision is not None:
                    yield self._start(*decision)
                elif self._held.by_id or self._something_comes():
                    break
                else:  # the head would wait for ever, and maybe others behind it
                    yield self._start(pending.head, None)
            for tell in self.after_pass:
                tell(now)

    def _decide(self, now: float) -> Decision | None:
        began = perf_counter()
        decision = self.scheduler.decide(self.pending, now)
        self.decision_seconds.append(perf_counter() - began)
        return decision

    def _start(self, job: Job, placements: Placements | None) -> Event:
        """Tell a job where to run; yield the event to let it take its GPUs first."""
        self.pending.remove(job)
        return self.progress[job.job_id].placed.succeed(placements)

    def _something_comes(self) -> bool:
        return any(source.is_alive for source in self.sources)
