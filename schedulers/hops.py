"""Hops: rounds of integer programs that favour jobs by their latency ratio.

Wang et al., "Hops", SoCC 2024. Jobs are ranked by latency ratio, the time waited over
the time they are expected to run; the head of that queue, as far as its jobs ask for no
more GPUs than the whole cluster has, is the service window; which of these start is
decided by an integer program (`hops_ilp`) every round, and in between when GPUs were
freed or jobs came (fragment plans, 5 s apart at least). In a fragment plan, if the
window is more sensitive to placement than the queue, insensitive jobs that fit are
pulled into it. Needs durations and, for sensitivity, the class of a job.

Adaptation to rigid, fractional jobs, and why:
* A job has one requirement, what it asks for; GPUs are of one speed. So a job's only
  choice is one node or, with `hops_split` and if it is insensitive (rho <= 1.4),
  several nodes, where it is rho times slower. By default jobs stay on one node, as
  everywhere in this simulator.
* Running jobs are left alone; a job that starts runs to its end, also in a fragment
  plan, since a restart costs as much as a migration.
* CPU, memory and GPU types are not in the program, but jobs that no node could host
  now are left out of it, and after it whatever still fits starts in the order of the
  window, CPU-only jobs too.
* If no plan is proven within a percent in time, jobs start greedily by latency ratio;
  how often is reported.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from model.capacity import Capacity
from model.classes import class_of
from model.config import Settings
from model.job import WHOLE_GPU, Job
from schedulers.base import DEFAULTS, World
from schedulers.best_fit import BestFit
from schedulers.decision import Decision
from schedulers.hops_ilp import Item, coarseness, solve
from schedulers.hops_layout import Layout
from schedulers.queue import Kind, PendingQueue, kind_of

PAUSE = 5.0  # s between plans at least
SENSITIVE = 1.4  # rho above which a job stays on one node
SHORTEST = 1.0  # s; the least a job counts as expected to run
BIAS = 0.01


class Hops(BestFit):
    """Start the jobs that the plan of this round picks."""

    name = "Hops"
    in_order = False

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self._settings = settings
        self._decided: list[Decision] = []  # of the current plan, last one first
        self._planned_at = -np.inf  # s
        self._seen = (-1, -1)  # what the last plan saw: clock and length of the queue
        self._plans = self._fallbacks = self._programs = 0

    def measures(self) -> dict[str, float]:
        """Return what Hops alone can tell, for summary.json.

        hops_plans : plans made.
        hops_programs : integer programs solved for them.
        hops_fallbacks : of these, how many fell back to greedy for want of time.
        """
        return {
            "hops_plans": self._plans,
            "hops_programs": self._programs,
            "hops_fallbacks": self._fallbacks,
        }

    def decide(self, pending: PendingQueue, now: float) -> Decision | None:
        """See `Scheduler.decide`."""
        if self._decided:
            return self._decided.pop()
        self.wake_at = None
        if not pending.entries:
            return None
        seen = (self.capacity.clock, pending.arrivals)
        round_end = self._round_end(self._planned_at)
        if now < round_end and (seen == self._seen or now < self._planned_at + PAUSE):
            soon = round_end
            if seen != self._seen:
                soon = min(soon, self._planned_at + PAUSE)
            self.wake_at = soon
            return None
        fragment = now < round_end
        self._planned_at = now
        self._plans += 1
        self._decided = self.plan(pending, now, fragment)[::-1]
        self._seen = (self.capacity.clock + self._shifts(), pending.arrivals)
        if self._decided or self.world.held.by_id:
            self.wake_at = self._round_end(now)
        return self._decided.pop() if self._decided else None

    def _shifts(self) -> int:
        """Return how many changes of capacity the decided starts will be."""
        forms = [decision.form or decision.job for decision in self._decided]
        return sum(form.num_workers for form in forms)

    def _round_end(self, time: float) -> float:
        length = self._settings.hops_round
        return (time // length + 1) * length if time > -np.inf else -np.inf

    def plan(self, pending: PendingQueue, now: float, fragment: bool) -> list[Decision]:
        """Return which jobs start now, and where."""
        jobs = sorted(pending, key=lambda job: -latency_ratio(job, now))
        total = max(1, int(self.capacity.num_gpus.sum()))
        window = service_window(jobs, total * WHOLE_GPU)
        if fragment:
            window = less_sensitive(jobs, window, self.capacity.free_open)
        largest = sorted(window, key=lambda job: -job.total_milli)
        decided = self._greedy(largest, now)
        if len(decided) == len(window):
            return decided
        self._programs += 1
        best = self._best(window, now)
        if best is None:
            self._fallbacks += 1
            best = self._greedy(window, now)
        if not (best or self.world.held.by_id):  # the window will not move by itself
            best = self._greedy(jobs, now)
        return best

    def _greedy(self, jobs: Sequence[Job], now: float) -> list[Decision]:
        """Place in the given order what fits."""
        decided: list[Decision] = []
        full = set()  # kinds that do not fit any more
        with self.capacity.trial() as shift:
            for job in jobs:
                placements = None if kind_of(job) in full else self.place(job, now)
                if placements is None:
                    full.add(kind_of(job))
                    continue
                for placement in placements:
                    shift(job.request, placement, 1)
                decided.append(Decision(job, placements))
        return decided

    def _best(self, window: Sequence[Job], now: float) -> list[Decision] | None:
        """Return what the integer program picks, laid out on the nodes."""
        capacity = self.capacity
        step = coarseness(frozenset(j.gpu_milli for j in window if j.request.is_share))
        jobs, items = self._items(window, now, step)
        plan = solve(
            items,
            np.where(capacity.open, capacity.whole, 0).tolist(),
            residuals(capacity, step),
            time_limit=self._settings.hops_time_limit,
        )
        if plan is None:
            return None
        with capacity.trial() as shift:
            decided = Layout(capacity, shift, step).decide(jobs, items, plan)
            started = {decision.job.job_id for decision in decided}
            rest = [job for job in window if job.job_id not in started]
            return decided + self._greedy(rest, now)

    def _items(
        self, window: Sequence[Job], now: float, step: int
    ) -> tuple[list[Job], list[Item]]:
        """Return the jobs worth planning with, heaviest of each kind, as items."""
        priority = [latency_ratio(job, now) for job in window]
        least = min(priority)
        bias = 0.0 if least > 0 else abs(least) + BIAS
        fits: Counter[object] = Counter()
        hosted: dict[Kind, bool] = {}  # kinds that some node could host now
        jobs, items = [], []
        for job, ratio in zip(window, priority, strict=True):
            splits = self._splits(job)
            kind = (job.num_gpus, job.gpu_milli, job.num_workers, splits)
            fits[kind] += 1
            if not job.num_gpus or fits[kind] * job.total_milli > max(
                self.capacity.free_open, job.total_milli
            ):
                continue
            if kind_of(job) not in hosted:
                found = splits or self.place(job, now) is not None
                hosted[kind_of(job)] = found
            if not hosted[kind_of(job)]:
                continue
            share = -(-job.gpu_milli // step) * step if job.request.is_share else 0
            weight = (ratio + bias) ** self._settings.hops_lambda
            size = 0 if share else job.num_gpus
            jobs.append(job)
            items.append(Item(weight, size, share, job.num_workers, rho(job), splits))
        return jobs, items

    def _splits(self, job: Job) -> bool:
        several = job.num_gpus > 1 and job.num_workers == 1
        return self._settings.hops_split and several and rho(job) <= SENSITIVE


def latency_ratio(job: Job, now: float) -> float:
    """Return the time a job has waited over the time it is expected to run."""
    return (now - job.submit_time) / max(job.estimate, SHORTEST)


def rho(job: Job) -> float:
    """Return how much longer a job takes when its GPUs are on several nodes."""
    return class_of(job.job_class).rho if job.num_gpus > 1 else 1.0


def service_window(jobs: Sequence[Job], total_milli: int) -> list[Job]:
    """Return the head of the queue until it asks for the whole cluster."""
    window, asked = [], 0
    for job in jobs:
        if asked >= total_milli:
            break
        window.append(job)
        asked += job.total_milli
    return window


def less_sensitive(
    jobs: Sequence[Job], window: list[Job], free_milli: int
) -> list[Job]:
    """Pull insensitive jobs that fit into a window that is too sensitive.

    Walks on past the window until its mean rho is that of the whole queue.
    """
    queue_mean = sum(map(rho, jobs)) / len(jobs)
    total = sum(map(rho, window))
    wider = list(window)
    for job in jobs[len(window) :]:
        if total / len(wider) <= queue_mean:
            break
        if rho(job) < queue_mean and job.total_milli < free_milli:
            wider.append(job)
            total += rho(job)
    return wider


def residuals(capacity: Capacity, step: int) -> Counter[int]:
    """Return what is free on partly free devices of open nodes, rounded down."""
    free = capacity.free[capacity.open]
    partly = free[(free > 0) & (free < WHOLE_GPU)] // step * step
    return Counter(partly[partly > 0].tolist())
