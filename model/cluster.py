"""The cluster that SimPy processes share: a ledger of containers, and who holds what.

Each device is one `simpy.Container` of 1000 milli-GPU; a node has one more for CPU
and one for memory where these are counted. Nobody ever queues in a container: jobs
queue in the dispatcher, and take only what surely fits, all of it in one instant.
"""

import math
from collections.abc import Callable, Sequence
from types import TracebackType

from simpy import Container, Environment

from model.capacity import Capacity
from model.errors import PlacementError
from model.held import Held, HeldJobs
from model.job import WHOLE_GPU, Job, Placement, Placements, Request
from model.node import Node


class Hold:
    """Holds a job's GPUs from `with` until the block ends, however it ends.

    `placements` is where the job sits, or sat last.
    """

    __slots__ = ("_cluster", "_held", "placements")

    def __init__(self, cluster: "Cluster", held: Held) -> None:
        self._cluster, self._held = cluster, held
        self.placements = held.placements

    def __enter__(self) -> "Hold":
        """Take everything now, or raise PlacementError and take nothing."""
        cluster, held = self._cluster, self._held
        if held.job.job_id in cluster.held:
            raise PlacementError(f"job {held.job.job_id} already holds its GPUs")
        cluster._acquire(held.job, held.placements)
        cluster.held.add(held)
        for watcher in cluster.watchers:
            watcher(held.placements)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Give back what the job holds by now; a migration may have moved it."""
        cluster, job = self._cluster, self._held.job
        self.placements = cluster.held.remove(job.job_id).placements
        cluster._release(job.request, self.placements)
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
            [_full(env, WHOLE_GPU) for _ in range(node.num_gpus)] for node in nodes
        ]
        self.cpu: list[Container] = []
        self.memory: list[Container] = []
        if self.capacity.counts_cpu:
            self.cpu = [_full(env, node.cpu_milli) for node in nodes]
        if self.capacity.counts_memory:
            self.memory = [_full(env, node.memory_mib) for node in nodes]

    def hold(
        self, job: Job, placements: Placements, expected_end: float = math.inf
    ) -> Hold:
        """Return a context manager that holds one placement for each worker."""
        return Hold(self, Held(job, placements, expected_end))

    def migrate(self, job_id: str, placements: Placements, expected_end: float) -> None:
        """Move a running job: give its source back and take the destination at once.

        Raises
        ------
        PlacementError
            If the destination does not fit; the job then stays where it was.
        """
        job, source, _ = self.held[job_id]
        self._release(job.request, source)
        try:
            self._acquire(job, placements)
        except PlacementError:
            self._acquire(job, source)
            raise
        self.held.remove(job_id)
        self.held.add(Held(job, placements, expected_end))
        for watcher in self.watchers:
            watcher(source + placements)

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
            gpus = self.gpus[placement.node]
            for gpu in placement.gpus:
                gpus[gpu].get(request.gpu_milli)
            if self.cpu and request.cpu_milli:
                self.cpu[placement.node].get(request.cpu_milli)
            if self.memory and request.memory_mib:
                self.memory[placement.node].get(request.memory_mib)
            self.capacity.shift(request, placement, 1)

    def _release(self, request: Request, placements: Placements) -> None:
        for placement in placements:
            gpus = self.gpus[placement.node]
            for gpu in placement.gpus:
                gpus[gpu].put(request.gpu_milli)
            if self.cpu and request.cpu_milli:
                self.cpu[placement.node].put(request.cpu_milli)
            if self.memory and request.memory_mib:
                self.memory[placement.node].put(request.memory_mib)
            self.capacity.shift(request, placement, -1)

    def _has_room(self, request: Request, placement: Placement) -> bool:
        node, devices = placement
        gpus = self.gpus[node]
        if len(devices) != request.num_gpus:
            return False
        for gpu in devices:
            if gpus[gpu].level < request.gpu_milli:
                return False
        if len(devices) > 1 and len(set(devices)) < len(devices):
            return False
        if self.cpu and self.cpu[node].level < request.cpu_milli:
            return False
        if self.memory and self.memory[node].level < request.memory_mib:
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
        return PlacementError(f"job {job.job_id} needs {ask}, but {room}")


def _full(env: Environment, amount: int) -> Container:
    """Return a full container; one of nothing still needs a positive capacity."""
    return Container(env, capacity=max(amount, 1), init=amount)
