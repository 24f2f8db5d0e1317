"""A job, what it asks for, and what became of it.

All amounts are integers, because float shares drift: milli-GPU (1000 = one
device), milli-cores and MiB. All times are float seconds since the trace began.
"""

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

WHOLE_GPU = 1000  # milli-GPU of one device
FINITE = "must be finite and at least 0"


class Request(NamedTuple):
    """What each worker of a job asks of one node.

    Attributes
    ----------
    num_gpus : devices; 0 for a CPU-only job.
    gpu_milli : milli-GPU on each of them; below 1000 only if *num_gpus* is 1.
    cpu_milli : milli-cores.
    memory_mib : MiB.
    gpu_type : accepted types, as ``"V100|T4"``; empty accepts any.
    """

    num_gpus: int
    gpu_milli: int
    cpu_milli: int = 0
    memory_mib: int = 0
    gpu_type: str = ""

    @property
    def is_share(self) -> bool:
        """Whether it is less than a device."""
        return 0 < self.gpu_milli < WHOLE_GPU


def accepts(constraint: str, gpu_type: str) -> bool:
    """Return whether a type constraint ``A|B`` accepts a node's type; empty = any.

    >>> accepts("T4|V100", "T4"), accepts("T4|", ""), accepts("", "")
    (True, False, True)
    """
    return not constraint or bool(gpu_type and gpu_type in constraint.split("|"))


_shared_request = lru_cache(maxsize=2**16, typed=True)(Request)  # one for each kind


@dataclass(frozen=True, slots=True)
class Job:
    """One request for GPUs; raises ValueError if no cluster could make sense of it."""

    job_id: str
    submit_time: float  # s since the trace began
    duration: float  # s of undisturbed work
    num_gpus: int = 1
    gpu_milli: int = WHOLE_GPU  # on each device
    cpu_milli: int = 0  # of each worker
    memory_mib: int = 0  # of each worker
    gpu_type: str = ""  # "A|B", empty = any
    num_workers: int = 1  # all start together or none
    user: str = ""
    deadline: float | None = None  # s since the trace began
    job_class: str = ""
    estimated_duration: float | None = None  # s, what schedulers see; None = exact
    # derived once, because they are read at every decision
    request: Request = field(init=False, repr=False, compare=False)
    estimate: float = field(init=False, repr=False, compare=False)  # s
    total_milli: int = field(init=False, repr=False, compare=False)  # of all workers

    def __post_init__(self) -> None:
        """Check each value, then derive what is read often."""
        self._check_times()
        for name in ("num_gpus", "gpu_milli", "cpu_milli", "memory_mib"):
            if getattr(self, name) < 0:
                raise self._wrong(name, "must be at least 0")
        if self.num_workers < 1:
            raise self._wrong("num_workers", "must be at least 1")
        if (self.num_gpus == 0) != (self.gpu_milli == 0):
            raise self._wrong("gpu_milli", "and num_gpus must both be 0 or neither")
        if self.gpu_milli > WHOLE_GPU:
            raise self._wrong("gpu_milli", f"must be at most {WHOLE_GPU} per device")
        if self.num_gpus > 1 and self.gpu_milli < WHOLE_GPU:
            raise self._wrong("gpu_milli", f"must be {WHOLE_GPU} with several GPUs")
        request = _shared_request(
            self.num_gpus,
            self.gpu_milli,
            self.cpu_milli,
            self.memory_mib,
            self.gpu_type,
        )
        estimate = self.estimated_duration
        total_milli = self.num_workers * self.num_gpus * self.gpu_milli
        object.__setattr__(self, "request", request)
        object.__setattr__(
            self, "estimate", self.duration if estimate is None else estimate
        )
        object.__setattr__(self, "total_milli", total_milli)

    def _check_times(self) -> None:
        if not 0 <= self.submit_time < math.inf:
            raise self._wrong("submit_time", FINITE)
        if not 0 <= self.duration < math.inf:
            raise self._wrong("duration", FINITE)
        estimated = self.estimated_duration
        if estimated is not None and not 0 <= estimated < math.inf:
            raise self._wrong("estimated_duration", FINITE)

    def _wrong(self, name: str, rule: str) -> ValueError:
        return ValueError(f"job {self.job_id}: {name} {getattr(self, name)} {rule}")


def reshaped(job: Job, num_gpus: int, num_workers: int) -> Job:
    """Return the job with so many GPUs for each of so many workers.

    Each worker's CPU and memory are in proportion to its GPUs, rounded up.

    >>> spread = reshaped(Job("j", 0, 1, num_gpus=4, cpu_milli=6), 1, 4)
    >>> spread.num_workers, spread.cpu_milli
    (4, 2)
    """
    return replace(
        job,
        num_gpus=num_gpus,
        num_workers=num_workers,
        cpu_milli=-(-job.cpu_milli * num_gpus // job.num_gpus),
        memory_mib=-(-job.memory_mib * num_gpus // job.num_gpus),
    )


class Placement(NamedTuple):
    """Where one worker runs: the node's index and its devices' indices on it."""

    node: int
    gpus: tuple[int, ...]


Placements = tuple[Placement, ...]  # one for each worker of a job


@lru_cache(maxsize=2**16, typed=True)
def one_place(node: int, gpus: tuple[int, ...]) -> Placements:
    """Return the placements of a job of one worker; equal ones are one object."""
    return (Placement(node, gpus),)


FINISHED, REFUSED, UNFINISHED = "finished", "refused", "unfinished"


class Restart(NamedTuple):
    """A job that had been evicted runs again, somewhere else perhaps."""

    time: float  # s
    placements: Placements


class JobRecord(NamedTuple):
    """What became of one job; every job that arrived has exactly one."""

    job: Job
    status: str  # finished | refused | unfinished
    reason: str = ""  # why it was refused or left unfinished
    start_time: float | None = None  # s, first start
    end_time: float | None = None  # s
    placements: Placements = ()  # the last ones
    moves: int = 0  # migrations and restarts after an eviction
    pending_seconds: float = 0.0  # all its time in the queue
    restarts: tuple[Restart, ...] = ()  # after each eviction
    lost_seconds: float = 0.0  # of work that failures undid
