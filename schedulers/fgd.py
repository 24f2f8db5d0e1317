"""Fragmentation Gradient Descent: place where expected fragmentation grows least.

Weng et al., USENIX ATC 2023, Algorithm 1. It knows the target workload, which is the
popular part of the trace's own requests, and no durations. A share is tried on every
device that fits, whole GPUs on the lowest fully free devices. The score here is the
exact growth of F, as an integer. One decision costs an argmin over the nodes; a
changed node costs one table look-up per device.
"""

import numpy as np

from model.capacity import Ints
from model.config import Settings
from model.fragmentation import Fragmentation
from model.job import WHOLE_GPU, Request
from schedulers.base import DEFAULTS, World
from schedulers.scoring import NEVER, ScoringScheduler


class FGD(ScoringScheduler):
    """Start the job where F_n(M) grows least, device choice included.

    Ties go to the lowest node, then to the lowest device.
    """

    name = "FGD"

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self.fragmentation = world.fragmentation
        self._growth: dict[Request | tuple[int, int], Growth] = {}

    def score(self, request: Request, nodes: Ints) -> Ints:
        """See `ScoringScheduler.score`: weight x growth of F_n on the best device."""
        growth, capacity = self.growth(request), self.capacity
        whole = capacity.whole[nodes]  # (changed,)
        free = capacity.free[nodes] if growth.is_share else None  # (changed, gpus)
        if self.fragmentation.num_profiles == 1:
            return growth.least(whole, free)
        after = self.fragmentation.profiles(nodes, request.cpu_milli)
        least = growth.least(whole, free, after)
        if self.fragmentation.levels and request.cpu_milli:
            least += self._cpu_growth(nodes, after)
        return least

    def choose_gpus(self, request: Request, node: int) -> tuple[int, ...]:
        """Return the device where F grows least, or the lowest fully free ones."""
        if not self.growth(request).is_share:
            return super().choose_gpus(request, node)
        grown = self.growths(request, node)
        return (grown.index(min(grown)),)

    def growths(self, request: Request, node: int) -> list[int]:
        """Return what a share does to F on each device, whatever its CPU does to it.

        weight x milli-GPU; `NEVER` on devices without room.
        """
        growth, profile = self.growth(request), 0
        if self.fragmentation.num_profiles > 1:
            nodes = np.array([node])
            profile = int(self.fragmentation.profiles(nodes, request.cpu_milli)[0])
        row = self.capacity.rows[node]
        wholly = growth.wholly.item(profile, row.count(WHOLE_GPU))
        partly = growth.partly.item
        return [wholly if free == WHOLE_GPU else partly(profile, free) for free in row]

    def cpu_growth(self, request: Request, node: int) -> int:
        """Return what the CPU of one worker does to F, whichever device is used.

        Less CPU may leave kinds of job unsatisfied. weight x milli-GPU.
        """
        if not (self.fragmentation.levels and request.cpu_milli):
            return 0
        nodes = np.array([node])
        after = self.fragmentation.profiles(nodes, request.cpu_milli)
        return int(self._cpu_growth(nodes, after)[0])

    def _cpu_growth(self, nodes: Ints, after: Ints) -> Ints:
        before = self.fragmentation.amount[nodes]
        growth: Ints = self.fragmentation.amounts(nodes, after) - before
        return growth

    def growth(self, request: Request) -> "Growth":
        """Return the table of what one worker of this kind does to F."""
        growth = self._growth.get(request)
        if growth is None:
            key = (request.num_gpus, request.gpu_milli)
            growth = self._growth.get(key) or self.make_growth(*key)
            self._growth[request] = self._growth[key] = growth
        return growth

    def make_growth(self, num_gpus: int, gpu_milli: int) -> "Growth":
        """Return a new table of what such devices do to F."""
        return Growth(self.fragmentation, num_gpus, gpu_milli)


class Growth:
    """By how much F grows when a worker takes its devices; `NEVER` if they do not fit.

    Attributes
    ----------
    partly : (profiles, 1001) int64, by the free milli-GPU of a partly free device.
    wholly : (profiles, gpus + 1) int64, by the number of fully free devices, when
        one of them gives a share or *num_gpus* of them go.
    """

    def __init__(
        self, fragmentation: Fragmentation, num_gpus: int, gpu_milli: int
    ) -> None:
        self.is_share = 0 < gpu_milli < WHOLE_GPU
        partly, wholly = fragmentation.partly, fragmentation.wholly
        self.partly: Ints = np.full(partly.shape, NEVER)
        self.wholly: Ints = np.full(wholly.shape, NEVER)
        most = wholly.shape[1] - num_gpus
        self.wholly[:, num_gpus:] = wholly[:, :most] - wholly[:, num_gpus:]
        if self.is_share:
            rest = WHOLE_GPU - gpu_milli
            self.wholly[:, 1:] += partly[:, rest, None]
            self.partly[:, gpu_milli:WHOLE_GPU] = (
                partly[:, :rest] - partly[:, gpu_milli:WHOLE_GPU]
            )

    def least(
        self, whole: Ints, free: Ints | None, profile: Ints | None = None
    ) -> Ints:
        """Return the least growth over each node's devices, (nodes,).

        *whole* is (nodes,), *free* is (nodes, gpus), *profile* is (nodes,) or 0.
        """
        if profile is not None:
            whole = whole + profile * self.wholly.shape[1]
        least: Ints = self.wholly.take(whole)
        if free is None:
            return least
        if profile is not None:
            free = free + (profile * self.partly.shape[1])[:, None]
        partly = np.minimum.reduce(self.partly.take(free), axis=1)
        return np.minimum(least, partly)
