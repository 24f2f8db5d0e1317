"""Wires the processes, runs them and returns what happened; writes nothing."""

from collections import Counter
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, cast

from simpy import Event, Store

from model.cluster import Cluster
from model.collection import rare_collection
from model.config import Settings
from model.errors import UserError
from model.fragmentation import Fragmentation
from model.hopeless import why_never
from model.job import REFUSED, UNFINISHED, Job, JobRecord
from model.node import Node, NodeChange
from model.result import Result
from model.streams import stream
from model.target import Target, target_workload
from processes.arrivals import arrive
from processes.dispatcher import Dispatcher
from processes.failures import Failures
from processes.instant import Timeline
from processes.interference import Interference
from processes.invariants import check_end
from processes.job import run_job
from processes.migration import Mover
from processes.monitor import Monitor
from processes.node import joins_later, operate, run_node
from processes.rescheduler import Rescheduler
from schedulers.base import Scheduler, World
from schedulers.disciplines import DISCIPLINES
from schedulers.queue import PendingQueue
from schedulers.registry import scheduler_class

if TYPE_CHECKING:
    from processes.learner import Learner


class Simulation:
    """One run: build it, `run` it once; `accepted` are the jobs not refused.

    Parameters
    ----------
    settings : `settings.scheduler` names one scheduler.
    jobs : the trace, in any order.
    nodes : the cluster.
    changes : when nodes join, drain, leave and return.
    target : FGD's target workload; by default the popular kinds of *jobs*.
    scheduler : instead of the one that the settings name.

    Raises
    ------
    UserError
        If the scheduler is unknown or two jobs have one id.
    """

    def __init__(
        self,
        settings: Settings,
        jobs: Sequence[Job],
        nodes: Sequence[Node],
        changes: Sequence[NodeChange] = (),
        target: Target | None = None,
        scheduler: type[Scheduler] | None = None,
    ) -> None:
        self.began = perf_counter()
        self.settings = settings
        self._kind = scheduler or scheduler_class(settings.scheduler, settings)
        with rare_collection():
            self._prepare(jobs, nodes, changes, target)

    def _prepare(
        self,
        jobs: Sequence[Job],
        nodes: Sequence[Node],
        changes: Sequence[NodeChange],
        target: Target | None,
    ) -> None:
        settings = self.settings
        self.jobs = sorted(jobs, key=lambda job: job.submit_time)
        if len({job.job_id for job in jobs}) < len(jobs):
            twice = Counter(job.job_id for job in jobs).most_common(1)[0][0]
            raise UserError(f"job id {twice} appears twice; ids must be unique")
        self.env = Timeline()
        self.cluster = Cluster(self.env, nodes, settings.resource_names)
        self.records: list[JobRecord] = []
        self.accepted = self._refuse_hopeless()
        if target is None:
            target = target_workload(self.accepted, settings.target_popularity)
        self._build(target)
        self._start_processes(changes)

    def _refuse_hopeless(self) -> list[Job]:
        """Record the jobs that no empty cluster could host; return the others."""
        accepted = []
        reasons: dict[object, str] = {}
        for job in self.jobs:
            kind = (job.request, job.num_workers)
            if kind not in reasons:
                reasons[kind] = why_never(self.cluster.capacity, job)
            if reasons[kind]:
                self.records.append(JobRecord(job, REFUSED, reasons[kind]))
            else:
                accepted.append(job)
        return accepted

    def _build(self, target: Target) -> None:
        settings, capacity = self.settings, self.cluster.capacity
        self.fragmentation = Fragmentation(capacity, target)
        world = World(
            capacity,
            self.fragmentation,
            self.cluster.held,
            stream(settings.seed, "scheduler"),
            target_workload(self.accepted, 1.0),
        )
        self.scheduler = self._kind(world, settings)
        pending = PendingQueue(DISCIPLINES[settings.queue].order)
        self.dispatcher = Dispatcher(
            self.env, self.scheduler, pending, self.cluster.held
        )
        self.mover = Mover(self.env, self.cluster, self.dispatcher, settings)
        self.dispatcher.relocate = self.mover.relocate
        self.monitor = Monitor(pending, capacity, self.fragmentation)
        self.dispatcher.after_pass.append(self.monitor.sample)
        self.rescheduler = Rescheduler(
            self.env, world, self.dispatcher, self.mover, settings
        )
        if settings.use_rescheduling and settings.reschedule_trigger != "periodic":
            self.dispatcher.after_pass.append(self.rescheduler.after_pass)
        if settings.interference:
            interference = Interference(self.cluster, self.dispatcher)
            self.cluster.watchers.append(interference.update)
        self.finished = Event(self.env)
        self.dispatcher.after_leave.append(self._finish_when_all_left)
        if not self.accepted:
            self.finished.succeed()

    def _start_processes(self, changes: Sequence[NodeChange]) -> None:
        env, capacity = self.env, self.cluster.capacity
        for node in joins_later(changes):
            capacity.set_open(node, False)
        mailboxes = [Store(env) for _ in capacity.nodes]
        wake, evict = self.dispatcher.wake, self.mover.evict
        interval = self.settings.checkpoint_interval
        for node, orders in enumerate(mailboxes):
            env.process(run_node(node, orders, self.cluster, wake, evict, interval))
        env.process(self.dispatcher.dispatch())
        self.learner = self._start_learner()
        if self.settings.use_rescheduling and (
            self.settings.reschedule_trigger != "blocked"
        ):
            env.process(self.rescheduler.rounds())
        self.failures = Failures(
            env, mailboxes, self.settings, capacity, self.dispatcher.pending
        )
        self.dispatcher.sources = [
            self.failures,
            env.process(operate(env, changes, mailboxes)),
            env.process(arrive(env, self.accepted, self._submit)),
        ]

    def _start_learner(self) -> "Learner | None":
        """Let DRR learn; only then is all imported that learning needs."""
        if not (self.scheduler.learns and self.settings.learn):
            return None
        from processes.learner import Learner

        learner = Learner(self.env, cast(Any, self.scheduler), self.settings)
        self.env.process(learner.learn())
        return learner

    def _submit(self, job: Job) -> None:
        life = run_job(self.env, job, self.cluster, self.dispatcher, self.records)
        self.env.process(life)

    def _finish_when_all_left(self, left: int) -> None:
        if left == len(self.accepted):
            self.finished.succeed()

    def run(
        self,
        progress: Callable[[int], object] | None = None,
        check: Callable[[Event], None] | None = None,
    ) -> Result:
        """Run until all jobs have left; Ctrl-C ends it early and keeps what is done.

        Parameters
        ----------
        progress : called with the number of jobs that have left, at each one.
        check : called with each event, once processed.
        """
        if progress:
            self.dispatcher.after_leave.append(progress)
        interrupted = False
        try:
            with rare_collection():
                self.env.run_until(self.finished, check)
        except KeyboardInterrupt:
            interrupted = True
        self.monitor.sample(self.env.now)
        records = self._all_records()
        if not interrupted:
            check_end(self.cluster, self.jobs, records)
        return Result(
            records,
            self.monitor.frame(),
            self.mover.moves,
            self.dispatcher.decision_seconds,
            perf_counter() - self.began,
            interrupted,
            self.scheduler.measures()
            | self.rescheduler.measures()
            | self.failures.measures(),
            self.learner.learned() if self.learner else None,
        )

    def _all_records(self) -> list[JobRecord]:
        """Return one record per job in the order of submission."""
        by_id = {record.job.job_id: record for record in self.records}
        return [by_id.get(job.job_id) or self._cut_short(job) for job in self.jobs]

    def _cut_short(self, job: Job) -> JobRecord:
        progress = self.dispatcher.progress.get(job.job_id)
        reason = "the simulation was interrupted"
        if progress is None:  # it had not come
            return JobRecord(job, UNFINISHED, reason)
        return progress.record(self.env.now, None)._replace(reason=reason)


def simulate(
    settings: Settings,
    jobs: Sequence[Job],
    nodes: Sequence[Node] | None = None,
    progress: Callable[[int], object] | None = None,
) -> Result:
    """Run one simulation and return what happened.

    Parameters
    ----------
    settings : one scheduler, and how the world behaves.
    jobs : the trace.
    nodes : the cluster; by default the one that *settings* describe.
    progress : called with the number of jobs that have left, at each one.

    Raises
    ------
    UserError
        If the scheduler is unknown or two jobs have one id.
    """
    nodes = settings.uniform_cluster() if nodes is None else nodes
    return Simulation(settings, jobs, nodes).run(progress)
