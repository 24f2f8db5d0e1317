"""Live jobs of elastic ElasticFlow, and their plans over the slots to come.

A plan looks ahead four times what the job needs on its lowest level, and at least an
hour; later slots would not change the present one.
"""

import math

import numpy as np

from model.capacity import Ints
from model.classes import class_of
from model.job import WHOLE_GPU, Job, reshaped
from schedulers.buddy import powers_of_two
from schedulers.scaling import Scaling, filled, satisfactory_share

SLOT = 60.0  # s
LOOK_AHEAD = 4.0  # times what a job needs on its lowest level
AT_LEAST = 3600.0  # s


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


class Plans:
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
            self._in_order.remove(other)
            plan = self._plans.pop(other.number)
            self._free[: len(plan)] += plan
        if self.add(live) and all(self.add(other) for other in later):
            return True
        self._free, self._plans, self._in_order = before
        return False


def _deadline(live: Live) -> float:
    return math.inf if live.job.deadline is None else live.job.deadline


def due(live: Live) -> tuple[float, int]:
    """Order jobs by their promised deadlines, then by arrival."""
    return (live.deadline, live.number)


def scaling_of(job: Job) -> Scaling:
    """Return the levels of a job, and its speeds relative to what it asks for."""
    scales = job.gpu_milli == WHOLE_GPU and job.num_workers == 1 and not job.gpu_type
    if not scales:
        return Scaling((job.total_milli,), (1.0,))
    curve = class_of(job.job_class)
    levels = sorted({job.num_gpus, *powers_of_two(curve.most)})
    own = curve.speedup(job.num_gpus)
    return Scaling(
        tuple(level * WHOLE_GPU for level in levels),
        tuple(curve.speedup(level) / own for level in levels),
    )


def with_gpus(job: Job, milli: int, node_gpus: int) -> Job:
    """Return the job as it runs with so many milli-GPU, other needs in proportion.

    Beyond *node_gpus* it has a worker for each so many.
    """
    devices = milli // WHOLE_GPU
    if milli == job.total_milli or devices == 0:
        return job
    workers = max(1, devices // node_gpus)
    each = devices // workers
    return reshaped(job, each, workers)
