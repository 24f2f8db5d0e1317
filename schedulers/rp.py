"""R&P, reserving and packing: whole nodes are kept for large jobs, small ones packed.

Weng et al., "MLaaS in the Wild", NSDI 2022: high-GPU tasks try high-end machines first,
all others are packed on the rest; each task walks through an ordered list of allocation
plans. The packing score is that of Weng et al., ATC 2023 (`GpuPacking`, which is R&P
without the reserve).

Adaptation to a cluster of equal nodes and rigid jobs: what is scarce is the idle node,
so a large job is one of `rp_large` GPUs (or of a whole node, if nodes have fewer), and
the reserve is as many nodes as large jobs have a share of the load, from an average
over past arrivals. It needs durations for that share only; it moves nothing. A
decision costs an argmin over the nodes, a changed node its packing score.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.capacity import Bools, Ints
from model.config import Settings
from model.job import WHOLE_GPU, Job, Request
from schedulers.base import DEFAULTS, World
from schedulers.decision import Decision
from schedulers.published import GpuPacking
from schedulers.queue import PendingQueue
from schedulers.scoring import NEVER

MEMORY = 1000.0  # arrivals over which the load is averaged
PLAN = 2**40  # by which an earlier plan beats any packing score
PACKING = 2**24  # by which a point of packing beats any free milli-GPU


class ReservingPacking(GpuPacking):
    """Start the job by the first plan that has room, packed as well as can be.

    A small job takes a used device, else an idle device of a used node, else an idle
    node; outside the reserve first, then in reserved nodes that are used already, then
    in intact ones; with large-first, not in intact ones while a large job waits. A
    large job takes reserved idle nodes first. Ties go to the node with less free, then
    to the lowest.
    """

    name = "R&P"

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self.in_order = settings.rp_queue == "strict-fifo"
        self._reserves = settings.rp_reserve
        self._large = min(settings.rp_large, int(self.capacity.num_gpus.max()))
        self._load = [0.0, 0.0]  # GPU-seconds per arrival: of large jobs, of all
        self._reserved: Bools = np.zeros(len(self.capacity.nodes), dtype=bool)
        self._able: Bools = self.capacity.num_gpus >= self._large
        self._known: set[str] = set()  # jobs whose load is counted
        self._waiting: set[str] = set()  # large jobs in the queue

    def arrived(self, job: Job, now: float) -> None:
        """Learn how much of the load large jobs are; fit the reserve to it."""
        if self.is_large(job):
            self._waiting.add(job.job_id)
        if job.job_id in self._known:
            return  # it was evicted
        self._known.add(job.job_id)
        work = job.total_milli * job.estimate
        for place, part in enumerate((work * self.is_large(job), work)):
            self._load[place] += (part - self._load[place]) / MEMORY

    def decide(self, pending: PendingQueue, now: float) -> Decision | None:
        """See `Scheduler.decide`; with large-first, each class waits for itself."""
        if not pending.entries:
            return None
        if self._reserves:
            self._fit_reserve()
        decision = self._next(pending, now)
        if decision is not None:
            self._waiting.discard(decision.job.job_id)
        return decision

    def departed(self, job: Job) -> None:
        """See `Scheduler.departed`; one that never ran is still in line."""
        self._waiting.discard(job.job_id)
        self._known.discard(job.job_id)

    def score(self, request: Request, nodes: Ints) -> Ints:
        """See `ScoringScheduler.score`: packing first, then what is left free."""
        packing = 100 - self.published(request, nodes)
        return packing * PACKING + self.capacity.free_total[nodes]

    def weigh(self, job: Job, now: float, scores: Ints) -> NDArray[Any]:
        """See `ScoringScheduler.weigh`: the plans, each before the next."""
        if not self._reserved.any():
            return scores
        idle = self.capacity.idle
        if self.is_large(job):
            return np.where(self._reserved & idle, scores, scores + PLAN)
        plans: Ints = scores + PLAN * (self._reserved * (1 + idle))
        if self._waiting and not self.in_order:  # else who blocks is not helped
            plans[self._reserved & idle] = NEVER
        return plans

    def is_large(self, job: Job) -> bool:
        """Return whether a worker of the job wants a whole node or much of it."""
        return job.num_gpus >= self._large and job.gpu_milli == WHOLE_GPU

    def reserve_size(self) -> int:
        """Return how many nodes large jobs need by their share of the load."""
        large, total = self._load
        nodes = int(self._able.sum())
        return min(round(large / total * nodes) if total else 0, nodes - 1)

    def _fit_reserve(self) -> None:
        """Add idle nodes to the reserve, highest first, or take idle ones out."""
        lacking = self.reserve_size() - int(self._reserved.sum())
        if not lacking:
            return
        capacity, reserved = self.capacity, self._reserved
        if lacking > 0:
            able = capacity.idle & self._able & ~reserved & capacity.open
            reserved[able.nonzero()[0][-lacking:]] = True
        else:
            reserved[(capacity.idle & reserved).nonzero()[0][:-lacking]] = False

    def _next(self, pending: PendingQueue, now: float) -> Decision | None:
        if self.in_order:
            return self._choose(pending, self.place, now)
        for large in (True, False):
            first = self._first(pending, large)
            placements = self.place(first, now) if first else None
            if first and placements:
                return Decision(first, placements)
        return None

    def _first(self, pending: PendingQueue, large: bool) -> Job | None:
        """Return the first job in line that is large, or that is not."""
        for kind in pending.kinds():
            first = pending.of_kind(kind)[0][2]
            if self.is_large(first) == large:
                return first
        return None
