"""What is free, as NumPy arrays: the view of the cluster that schedulers read.

    node 0  | 1000 |  750 |    0 | 1000 |    free_total 2750, whole 2, largest 1000
    node 1  |    0 |  300 |    0 |    . |    (a node with three GPUs is padded with 0)

Only `Cluster` changes it for good; `trial` answers "what if" and undoes itself.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.job import WHOLE_GPU, Job, Placement, Request, accepts
from model.node import Node

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Shift = Callable[[Request, Placement, int], None]

MANY = 2**40  # workers; more than any job has
RESOURCES = ("gpu", "cpu", "memory")


class Capacity:
    """Free GPU, CPU and memory of each node, kept in step one node at a time.

    Attributes
    ----------
    free : (nodes, gpus) int64
        Free milli-GPU per device; 0 where a node has fewer devices.
    rows : the same as lists of plain integers, one per node, padding included.
    free_cpu, free_memory : (nodes,) int64
        Milli-cores and MiB; meaningful where the resource is counted.
    free_total, whole, largest : (nodes,) int64
        Free milli-GPU, number of fully free devices, and freest device of each node.
    changed_at, clock, last_changed : (nodes,) int64, int, int
        `clock` counts changes and `changed_at` holds its value at each node's last
        one, so a cache that remembers `clock` finds what it must recompute.
        `last_changed` is the node of the last change.
    allocated, free_open : int
        Milli-GPU held, and free on nodes that take jobs.
    busy_nodes, partial_nodes, busy_gpus : int
        Nodes with any job; with some GPU held and some free; devices with any use.
    scattered : int
        Fully free devices on open nodes that are not wholly free.
    """

    def __init__(
        self, nodes: Sequence[Node], resources: Sequence[str] = ("gpu",)
    ) -> None:
        self.nodes = tuple(nodes)
        self.counts_cpu = "cpu" in resources
        self.counts_memory = "memory" in resources
        self.num_gpus = np.array([node.num_gpus for node in nodes], dtype=np.int64)
        device = np.arange(max(1, int(self.num_gpus.max(initial=0))))
        self.exists: Bools = device < self.num_gpus[:, None]  # (nodes, gpus)
        self.free: Ints = np.where(self.exists, WHOLE_GPU, 0).astype(np.int64)
        self.rows: list[list[int]] = self.free.tolist()
        self.free_cpu = np.array([node.cpu_milli for node in nodes], dtype=np.int64)
        self.free_memory = np.array([node.memory_mib for node in nodes], dtype=np.int64)
        self.free_total: Ints = self.free.sum(axis=1)
        self.whole: Ints = self.num_gpus.copy()
        self.largest: Ints = self.free.max(axis=1)
        self.open: Bools = np.ones(len(nodes), dtype=bool)  # takes new jobs
        self.all_open = True
        self.clock = 1
        self.last_changed = 0
        self.changed_at: Ints = np.ones(len(nodes), dtype=np.int64)
        self.allocated = 0
        self.free_open = int(self.free_total.sum())
        self.busy_nodes = 0
        self.partial_nodes = 0
        self.busy_gpus = 0
        self.scattered = 0
        self._full: list[int] = self.free_total.tolist()  # milli-GPU when empty
        self._residents = [0] * len(nodes)  # workers on each node
        self.watchers: list[Callable[[int], None]] = []  # told each changed node
        # single elements change far quicker through a memoryview than through NumPy
        self._free, self._total = view(self.free), view(self.free_total)
        self._whole, self._largest = view(self.whole), view(self.largest)
        self._changed_at = view(self.changed_at)
        self._accessible: dict[str, Bools] = {}

    def shift(self, request: Request, placement: Placement, sign: int) -> None:
        """Take what one worker asks from where it is placed; sign -1 gives it back."""
        node, gpus = placement
        if gpus:
            row, milli, taken = self.rows[node], sign * request.gpu_milli, 0
            for gpu in gpus:
                row[gpu] = self._free[node, gpu] = row[gpu] - milli
                taken += milli
            self._largest[node] = max(row)
            before = self._total[node]
            left = self._total[node] = before - taken
            self.allocated += taken
            full = self._full[node]
            self.partial_nodes += (0 < left < full) - (0 < before < full)
            if self.all_open or self.open[node]:
                self.free_open -= taken
            whole = row.count(WHOLE_GPU)
            if whole != self._whole[node]:
                self._count_whole(node, whole)
        if self.counts_cpu:
            self.free_cpu[node] -= sign * request.cpu_milli
        if self.counts_memory:
            self.free_memory[node] -= sign * request.memory_mib
        residents = self._residents[node] = self._residents[node] + sign
        if residents == (sign == 1):
            self.busy_nodes += sign
        self._changed(node)

    def _count_whole(self, node: int, whole: int) -> None:
        before = self._whole[node]
        self._whole[node] = whole
        self.busy_gpus += before - whole
        if self.all_open or self.open[node]:
            num_gpus = self.nodes[node].num_gpus
            self.scattered += whole % num_gpus - before % num_gpus

    def _changed(self, node: int) -> None:
        self.clock = self._changed_at[node] = self.clock + 1
        self.last_changed = node
        for watcher in self.watchers:
            watcher(node)

    def set_open(self, node: int, is_open: bool) -> None:
        """Let a node take new jobs, or stop it; what runs there is not touched."""
        if bool(self.open[node]) == is_open:
            return
        self.open[node] = is_open
        self.all_open = bool(self.open.all())
        sign = 1 if is_open else -1
        num_gpus = max(1, self.nodes[node].num_gpus)
        self.free_open += sign * int(self.free_total[node])
        self.scattered += sign * (int(self.whole[node]) % num_gpus)
        self._changed(node)

    @contextmanager
    def trial(self) -> Iterator[Shift]:
        """Take and give back for the length of a block only: what if.

        The block gets `shift`, whose every call is undone at the end.
        """
        done: list[tuple[Request, Placement, int]] = []

        def shift(request: Request, placement: Placement, sign: int) -> None:
            self.shift(request, placement, sign)
            done.append((request, placement, sign))

        try:
            yield shift
        finally:
            for request, placement, sign in reversed(done):
                self.shift(request, placement, -sign)

    @contextmanager
    def closed(self, nodes: Iterable[int]) -> Iterator[None]:
        """Keep open nodes out of every choice for the length of a block."""
        closing = [node for node in nodes if self.open[node]]
        for node in closing:
            self.set_open(node, False)
        try:
            yield
        finally:
            for node in closing:
                self.set_open(node, True)

    def fits(self, request: Request) -> Bools:
        """Return which nodes have room for one worker now, (nodes,)."""
        if request.num_gpus == 1:
            fit = self.largest >= request.gpu_milli
        else:
            fit = self.whole >= request.num_gpus
        if request.gpu_type:
            fit &= self.accessible(request.gpu_type)
        if self.counts_cpu:
            fit &= self.free_cpu >= request.cpu_milli
        if self.counts_memory:
            fit &= self.free_memory >= request.memory_mib
        if not self.all_open:
            fit &= self.open
        return fit

    @property
    def idle(self) -> Bools:
        """Which nodes have all their GPUs free, (nodes,); true if they have none."""
        idle: Bools = self.whole == self.num_gpus
        return idle

    def has_room(self, request: Request, placement: Placement) -> bool:
        """Return whether one worker fits on these very devices now."""
        node, gpus = placement
        row = self.rows[node]
        return (
            all(row[gpu] >= request.gpu_milli for gpu in gpus)
            and bool(self.open[node])
            and bool(self.accessible(request.gpu_type)[node])
            and not (self.counts_cpu and self.free_cpu[node] < request.cpu_milli)
            and not (self.counts_memory and self.free_memory[node] < request.memory_mib)
        )

    def has_gpus(self, request: Request, node: int) -> bool:
        """Return whether one node has the devices, whatever else it may lack."""
        if request.num_gpus == 1:
            return bool(self._largest[node] >= request.gpu_milli)
        return bool(self._whole[node] >= request.num_gpus)

    def workers(self, request: Request) -> Ints:
        """Return how many equal workers each open node has room for now, (nodes,)."""
        most = np.where(self.open & self.accessible(request.gpu_type), MANY, 0)
        if request.num_gpus == 1:
            most = np.minimum(most, (self.free // request.gpu_milli).sum(axis=1))
        elif request.num_gpus > 1:
            most = np.minimum(most, self.whole // request.num_gpus)
        if self.counts_cpu and request.cpu_milli:
            most = np.minimum(most, self.free_cpu // request.cpu_milli)
        if self.counts_memory and request.memory_mib:
            most = np.minimum(most, self.free_memory // request.memory_mib)
        return most

    def pool_holds(self, job: Job) -> bool:
        """Return whether the sum of all that is free would hold the whole job."""
        if job.total_milli > self.free_open:
            return False
        if not (job.gpu_type or self.counts_cpu or self.counts_memory):
            return True
        nodes = self.open & self.accessible(job.gpu_type)
        workers = job.num_workers
        return bool(
            job.total_milli <= self.free_total[nodes].sum()
            and not (
                self.counts_cpu and workers * job.cpu_milli > self.free_cpu[nodes].sum()
            )
            and not (
                self.counts_memory
                and workers * job.memory_mib > self.free_memory[nodes].sum()
            )
        )

    def accessible(self, gpu_type: str) -> Bools:
        """Return which nodes have a GPU type that the constraint accepts, (nodes,)."""
        if gpu_type not in self._accessible:
            self._accessible[gpu_type] = np.array(
                [accepts(gpu_type, node.gpu_type) for node in self.nodes], dtype=bool
            )
        return self._accessible[gpu_type]


def view(array: Ints) -> Any:
    """Return the array's memory, whose elements are plain integers."""
    return memoryview(array)  # type: ignore[arg-type]  # arrays are buffers
