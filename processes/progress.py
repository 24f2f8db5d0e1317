"""How far a job has come, and what may disturb it."""

from typing import NamedTuple

from simpy import Event, Process

from model.job import FINISHED, UNFINISHED, Job, JobRecord, Placements, Restart


class Migrated(NamedTuple):
    """Why a job is interrupted: its GPUs have moved, and it pauses for *cost* s.

    Then it goes on *rate* times as fast as on what it asked for; None = as before.
    """

    cost: float
    rate: float | None = None


class Evicted(NamedTuple):
    """Why a job is interrupted: it loses its GPUs, and maybe work with them.

    Once it runs again it first pauses for *cost* s. *saved_every* is the work between
    its checkpoints, s: what was done since the last one is lost, with 0 all of it. None
    means that it could save everything.
    """

    cost: float
    saved_every: float | None = None


class Paced(NamedTuple):
    """Why a job is interrupted: from now on it works at *speed*, 0 < speed <= 1."""

    speed: float


Disturbance = Migrated | Evicted | Paced


class Progress:
    """How much work is left, at what speed it goes, and what has been paid."""

    __slots__ = (
        "arrival", "doomed", "evicted", "job", "lost_seconds", "moves", "paced",
        "pause", "pending_seconds", "placed", "process", "rate", "restarts", "saved",
        "speed", "start", "work",
    )  # fmt: skip

    def __init__(self, job: Job, process: Process | None) -> None:
        self.job = job
        self.process = process  # to interrupt the job
        self.arrival: int | None = None  # its place in the queue among equals
        self.placed: Event  # while it waits, what it waits for
        self.work = job.duration  # s of undisturbed work left
        self.pause = 0.0  # s of migration or restart to sit out before working on
        self.rate = 1.0  # by the GPUs it has, relative to those it asked for
        self.speed = 1.0  # by what its neighbours leave it
        self.paced = 1.0  # the speed it was told last; may be on its way
        self.moves = 0
        self.lost_seconds = 0.0  # of undisturbed work, to failures
        self.saved = 0.0  # s of work that a failure was survived with
        self.start: float | None = None  # s, when it first began to run
        self.restarts: list[Restart] = []  # each later time
        self.pending_seconds = 0.0  # in the queue, each time
        self.doomed = False  # an eviction is on its way to it
        self.evicted = False  # and has arrived

    def began(
        self, queued: float, now: float, rate: float, placements: Placements
    ) -> None:
        """Note that the job runs at some rate, having queued since *queued*."""
        self.rate = rate
        self.pending_seconds += now - queued
        if self.start is None:
            self.start = now
        else:
            self.restarts.append(Restart(now, placements))
        self.evicted = self.doomed = False

    @property
    def left(self) -> float:
        """Seconds until the job is done if nothing happens."""
        return self.pause + self.work / (self.speed * self.rate)

    @property
    def expected_left(self) -> float:
        """The same as a scheduler may believe: by the estimate, without neighbours."""
        done = self.job.duration - self.work
        return self.pause + max(0.0, self.job.estimate - done) / self.rate

    def advance(self, seconds: float) -> None:
        """Account for undisturbed time: first the pause passes, then the work."""
        paused = min(self.pause, seconds)
        self.pause -= paused
        self.work = max(0.0, self.work - (seconds - paused) * self.speed * self.rate)

    def disturb(self, cause: Disturbance) -> None:
        """Account for what an interruption does."""
        if isinstance(cause, Paced):
            self.speed = cause.speed
            return
        self.moves += 1
        self.pause += cause.cost
        if isinstance(cause, Migrated) and cause.rate is not None:
            self.rate = cause.rate
        if isinstance(cause, Evicted):
            if cause.saved_every is not None:
                self._lose(cause.saved_every)
            self.evicted = True

    def _lose(self, saved_every: float) -> None:
        """Fall back to the last checkpoint."""
        done = self.job.duration - self.work
        reached = done // saved_every * saved_every if saved_every > 0 else 0.0
        self.saved = min(done, max(self.saved, reached))  # rounding never costs twice
        self.lost_seconds += done - self.saved
        self.work = self.job.duration - self.saved

    def record(self, now: float, placements: Placements | None) -> JobRecord:
        """Return the record of a job that ends now, or never if nothing hosts it."""
        if placements is None:
            return JobRecord(
                self.job,
                UNFINISHED,
                "no node left that could host it",
                self.start,
                moves=self.moves,
                pending_seconds=self.pending_seconds,
                restarts=tuple(self.restarts),
                lost_seconds=self.lost_seconds,
            )
        return JobRecord(
            self.job,
            FINISHED,
            "",
            self.start,
            now,
            placements,
            self.moves,
            self.pending_seconds,
            tuple(self.restarts),
            self.lost_seconds,
        )
