"""The rivals that FGD was published with, score by score, truncation by truncation.

hkust-adsl/kubernetes-scheduler-simulator, plugins dot_product_score,
gpu_clustering_score, gpu_packing_score and best_fit_score, with the flags of its
experiments. Their scores are integers and more is better; ties go to the lowest node,
devices by tightest fit. They know nothing but the request and what is free;
GpuClustering also knows who runs where.
"""

from abc import abstractmethod

import numpy as np

from model.capacity import Ints
from model.config import Settings
from model.job import WHOLE_GPU, Request
from schedulers.base import DEFAULTS, World
from schedulers.fgd_exact import FGDExact
from schedulers.random_fit import RandomFit
from schedulers.scoring import ScoringScheduler

MOST_CPU = 128_000  # milli-cores of the largest node, by which CPU is normalised
MOST_GPU = 8_000  # milli-GPU of the largest node


class PublishedScheduler(ScoringScheduler):
    """Starts the job where the published score is highest."""

    def score(self, request: Request, nodes: Ints) -> Ints:
        """See `ScoringScheduler.score`: minus the published score."""
        scores: Ints = -self.published(request, nodes)
        return scores

    @abstractmethod
    def published(self, request: Request, nodes: Ints) -> Ints:
        """Return the published score of placing on each of *nodes*, (changed,)."""

    def free_cpu(self, nodes: Ints) -> Ints:
        """Return free milli-cores; none anywhere if CPU is not counted, (changed,)."""
        if self.capacity.counts_cpu:
            cpu: Ints = self.capacity.free_cpu[nodes]
            return cpu
        return np.zeros(len(nodes), dtype=np.int64)


class DotProd(PublishedScheduler):
    """Prefer nodes whose free CPU and GPU have a small dot product with the request."""

    name = "DotProd"

    def published(self, request: Request, nodes: Ints) -> Ints:
        """Return int(100 (1 - v.r / 2)), v and r normalised by the largest node."""
        cpu = self.free_cpu(nodes) / MOST_CPU * (request.cpu_milli / MOST_CPU)
        asked = request.gpu_milli * request.num_gpus / MOST_GPU
        gpu = self.capacity.free_total[nodes] / MOST_GPU * asked
        return (100 * (1 - (cpu + gpu) / 2)).astype(np.int64)


class BestFitExact(PublishedScheduler):
    """Leave the least free, CPU and GPU weighing alike, on an integer scale."""

    name = "BestFitExact"

    def published(self, request: Request, nodes: Ints) -> Ints:
        """Return int(100 (1 - CPU left / 2 - GPU left / 2)), each normalised."""
        cpu = (self.free_cpu(nodes) - request.cpu_milli) / MOST_CPU
        asked = request.gpu_milli * request.num_gpus
        gpu = (self.capacity.free_total[nodes] - asked) / MOST_GPU
        return (100 * (1 - 0.5 * cpu - 0.5 * gpu)).astype(np.int64)


class GpuPacking(PublishedScheduler):
    """Prefer used devices to idle ones and used nodes to idle ones (NSDI 2022)."""

    name = "GpuPacking"

    def published(self, request: Request, nodes: Ints) -> Ints:
        """Return the packing score: used devices before idle ones before idle nodes."""
        if request.num_gpus == 0:
            return np.zeros(len(nodes), dtype=np.int64)
        num_gpus, whole = self.capacity.num_gpus[nodes], self.capacity.whole[nodes]
        idle_node = np.maximum(33 - num_gpus, num_gpus)
        score = np.full(len(nodes), max(50 - request.num_gpus, 33))
        if request.gpu_milli < WHOLE_GPU:
            free = self.capacity.free[nodes]  # (changed, gpus)
            tightest = np.where(free >= request.gpu_milli, free, WHOLE_GPU).min(axis=1)
            packed = np.maximum(100 - tightest // 10 // 10, 50)
            score = np.where(tightest < WHOLE_GPU, packed, score)
        return np.where(whole == num_gpus, idle_node, score)


class GpuClustering(PublishedScheduler):
    """Keep jobs of one size together: shares, one GPU, two GPUs, ..."""

    name = "GpuClustering"

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self._sizes: dict[int, int] = {}  # column of each size of request
        self._running: Ints = np.zeros((len(self.capacity.nodes), 64), dtype=np.int64)
        self._seen = 0

    def published(self, request: Request, nodes: Ints) -> Ints:
        """Return 75 among equals only, 50 among others too, 25 alone, 0 apart.

        Up to 25 are added for how full the node is.
        """
        if request.num_gpus == 0:
            return np.zeros(len(nodes), dtype=np.int64)
        self._count_sizes()
        running = self._running[nodes] > 0  # (changed, sizes)
        mine = running[:, self._column(request)]
        others = running.sum(axis=1) - mine
        score = np.where(mine, np.where(others == 0, 75, 50), np.where(others, 0, 25))
        return score + 25 * (MOST_GPU - self.capacity.free_total[nodes]) // MOST_GPU

    def _column(self, request: Request) -> int:
        size = 0 if request.gpu_milli < WHOLE_GPU else request.num_gpus
        return self._sizes.setdefault(size, len(self._sizes))

    def _count_sizes(self) -> None:
        """Count anew who runs on the nodes that changed."""
        capacity = self.capacity
        for node in (capacity.changed_at > self._seen).nonzero()[0].tolist():
            self._running[node] = 0
            for held in self.world.held.on_node(node):
                if held.job.num_gpus:
                    self._running[node, self._column(held.job.request)] += 1
        self._seen = capacity.clock


PUBLISHED: dict[str, type[ScoringScheduler]] = {
    "Random": RandomFit,
    "DotProd": DotProd,
    "GpuClustering": GpuClustering,
    "GpuPacking": GpuPacking,
    "BestFit": BestFitExact,
    "FGD": FGDExact,
}
"""FGD and the five policies it was published with, under their names there."""
