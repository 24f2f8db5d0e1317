"""The cluster that SimPy processes share: a ledger of containers, and who holds what.

Each device is one `simpy.Container` of 1000 milli-GPU; a node has one more for CPU
and one for memory where these are counted. Nobody ever queues in a container: jobs
queue in the dispatcher, and take only what surely fits, all of it in one instant.
"""

import math
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple

from simpy import Environment

from model.capacity import Capacity
from model.errors import PlacementError
from model.held import Held, HeldJobs
from model.job import WHOLE_GPU, Job, Placement, Placements, Request
from model.node import Node
from model.stock import Stock


class Relocation(NamedTuple):
    """Where a running job goes, and as what: the same id, perhaps other GPUs."""

    job: Job
    placements: Placements
    expected_end: float  # s since the trace began


class Hold(Held):
    """Holds a job's GPUs from `with` until the block ends, however it ends."""

    __slots__ = ("_cluster",)

    def __init__(
        self,
        cluster: "Cluster",
        job: Job,
        placements: Placements,
        expected_end: float,
    ) -> None:
        self._cluster = cluster
        self.job = job
        self.placements = placements
        self.expected_end = expected_end

    def __enter__(self) -> "Hold":
        """Take everything now, or raise PlacementError and take nothing."""
        cluster = self._cluster
        if self.job.job_id in cluster.held.by_id:
            raise PlacementError(f"job {self.job.job_id} already holds its GPUs")
        cluster._acquire(self.job, self.placements)
        cluster.held.add(self)
        for watcher in cluster.watchers:
            watcher(self.placements)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give back what the job holds by now; a migration may have moved it."""
        cluster = self._cluster
        cluster.held.remove(self.job.job_id)
        cluster._release(self.job.request, self.placements)
        for watcher in cluster.watchers:
            watcher(self.placements)


class Cluster:
    """Nodes of GPUs that jobs `hold` and the rescheduler may `migrate`.

    Attributes
    ----------
    gpus : per node, one Container of milli-GPU for each device.
    cpu, memory : per node, one Container; empty lists where not counted.
    capacity : the same amounts as arrays, for schedulers; never out of step.
    held : the running jobs and what they hold.
    watchers : told the placements that were just taken, given back or moved between.
    """

    def __init__(
        self,
        env: Environment,
        nodes: Sequence[Node],
        resources: Sequence[str] = ("gpu",),
    ) -> None:
        self.capacity = Capacity(nodes, resources)
        self.held = HeldJobs()
        self.watchers: list[Callable[[Placements], None]] = []
        self.gpus = [
            [Stock(env, WHOLE_GPU) for _ in range(node.num_gpus)] for node in nodes
        ]
        self.cpu: list[Stock] = []
        self.memory: list[Stock] = []
        if self.capacity.counts_cpu:
            self.cpu = [Stock(env, node.cpu_milli) for node in nodes]
        if self.capacity.counts_memory:
            self.memory = [Stock(env, node.memory_mib) for node in nodes]

    def hold(
        self, job: Job, placements: Placements, expected_end: float = math.inf
    ) -> Hold:
        """Return a context manager that holds one placement for each worker."""
        return Hold(self, job, placements, expected_end)

    def migrate(self, job_id: str, placements: Placements, expected_end: float) -> None:
        """Move one running job as `relocate` does."""
        job = self.held[job_id].job
        self.relocate([Relocation(job, placements, expected_end)])

    def relocate(self, moves: Sequence[Relocation]) -> None:
        """Move running jobs: each gives back what it has, then each takes anew.

        Raises
        ------
        PlacementError
            If a destination does not fit; then all stay where they were.
        """
        sources = [self.held[move.job.job_id] for move in moves]
        before = [(held.job, held.placements) for held in sources]
        for job, source in before:
            self._release(job.request, source)
        taken: list[Relocation] = []
        try:
            for move in moves:
                self._acquire(move.job, move.placements)
                taken.append(move)
        except PlacementError:
            for move in taken:
                self._release(move.job.request, move.placements)
            for job, source in before:
                for placement in source:  # its node may be closed, but was its own
                    self._take(job.request, placement)
            raise
        for held, move in zip(sources, moves, strict=True):
            self.held.remove(move.job.job_id)
            held.job, held.placements, held.expected_end = move
            self.held.add(held)
        for (_, source), move in zip(before, moves, strict=True):
            for watcher in self.watchers:
                watcher(source + move.placements)

    def _acquire(self, job: Job, placements: Placements) -> None:
        """Take every worker's share, or raise and take nothing."""
        request = job.request
        if len(placements) != job.num_workers:
            raise PlacementError(
                f"job {job.job_id} has {job.num_workers} workers, "
                f"but {len(placements)} placements"
            )
        for taken, placement in enumerate(placements):
            if not self._has_room(request, placement):
                self._release(request, placements[:taken])
                raise self._no_room(job, placement)
            self._take(request, placement)

    def _take(self, request: Request, placement: Placement) -> None:
        node, devices = placement
        gpus = self.gpus[node]
        for gpu in devices:
            gpus[gpu].take(request.gpu_milli)
        if self.cpu and request.cpu_milli:
            self.cpu[node].take(request.cpu_milli)
        if self.memory and request.memory_mib:
            self.memory[node].take(request.memory_mib)
        self.capacity.shift(request, placement, 1)

    def _release(self, request: Request, placements: Placements) -> None:
        for placement in placements:
            gpus = self.gpus[placement.node]
            for gpu in placement.gpus:
                gpus[gpu].give(request.gpu_milli)
            if self.cpu and request.cpu_milli:
                self.cpu[placement.node].give(request.cpu_milli)
            if self.memory and request.memory_mib:
                self.memory[placement.node].give(request.memory_mib)
            self.capacity.shift(request, placement, -1)

    def _has_room(self, request: Request, placement: Placement) -> bool:
        node, devices = placement
        row = self.capacity.rows[node]
        if len(devices) != request.num_gpus:
            return False
        for gpu in devices:
            if row[gpu] < request.gpu_milli:
                return False
        if len(devices) > 1 and len(set(devices)) < len(devices):
            return False
        if self.cpu and self.cpu[node].level < request.cpu_milli:
            return False
        if self.memory and self.memory[node].level < request.memory_mib:
            return False
        if not (self.capacity.all_open or self.capacity.open[node]):
            return False
        accessible = self.capacity.accessible
        return not request.gpu_type or bool(accessible(request.gpu_type)[node])

    def _no_room(self, job: Job, placement: Placement) -> PlacementError:
        """Return an error that says what was asked and what is there."""
        node, devices = placement
        free = [self.gpus[node][gpu].level for gpu in devices]
        ask = f"{job.num_gpus} x {job.gpu_milli} milli-GPU"
        room = f"GPUs {list(devices)} of node {node} have {free} free"
        if self.cpu:
            ask += f", {job.cpu_milli} milli-cores"
            room += f", its CPU {self.cpu[node].level}"
        if self.memory:
            ask += f", {job.memory_mib} MiB"
            room += f", its memory {self.memory[node].level}"
        if job.gpu_type:
            ask += f" of type {job.gpu_type}"
            room += f", its type is {self.capacity.nodes[node].gpu_type or 'unknown'}"
        if not self.capacity.open[node]:
            room += ", and it takes no jobs"
        return PlacementError(f"job {job.job_id} needs {ask}, but {room}")
