"""One node's free devices, CPU and memory at some time to come."""

from model.capacity import Capacity
from model.job import Request


class Room:
    """Free devices, CPU and memory of one node at some time to come."""

    def __init__(self, capacity: Capacity, node: int) -> None:
        self.free = list(capacity.rows[node])
        self.cpu = int(capacity.free_cpu[node]) if capacity.counts_cpu else None
        self.memory = (
            int(capacity.free_memory[node]) if capacity.counts_memory else None
        )

    def add(self, request: Request, gpus: tuple[int, ...], sign: int = 1) -> None:
        """Give back a worker's share, or with sign -1 take it."""
        for gpu in gpus:
            self.free[gpu] += sign * request.gpu_milli
        if self.cpu is not None:
            self.cpu += sign * request.cpu_milli
        if self.memory is not None:
            self.memory += sign * request.memory_mib

    def fits(self, request: Request, gpus: tuple[int, ...]) -> bool:
        """Return whether the worker has room on these devices."""
        return (
            all(self.free[gpu] >= request.gpu_milli for gpu in gpus)
            and (self.cpu is None or self.cpu >= request.cpu_milli)
            and (self.memory is None or self.memory >= request.memory_mib)
        )

    def place(self, request: Request) -> tuple[int, ...] | None:
        """Return the tightest devices with room for one worker, or None."""
        able = [
            gpu for gpu, free in enumerate(self.free) if free >= request.gpu_milli > 0
        ]
        gpus = tuple(sorted(able, key=self.free.__getitem__)[: request.num_gpus])
        enough = len(gpus) == request.num_gpus and self.fits(request, gpus)
        return gpus if enough else None

    def workers(self, request: Request, most: int) -> int:
        """Return how many equal workers fit, up to *most*; the room stays as it is."""
        placed: list[tuple[int, ...]] = []
        while len(placed) < most and (gpus := self.place(request)) is not None:
            self.add(request, gpus, -1)
            placed.append(gpus)
        for gpus in placed:
            self.add(request, gpus)
        return len(placed)
