"""FGD to the bit: the integer score of the published simulator.

s = int(100 / (1 + exp(-(F before - F after) / 1000))), F in milli-GPU, 0 to 100, more
is better; the first device that reaches a node's highest score is used, ties between
nodes go to the lowest one. One step of s is about 40 milli-GPU of F, so ties are very
frequent and decide many placements. F is accumulated class by class and category by
category in the published order, so that sums round as they do there.

Weng et al., USENIX ATC 2023, and its artifact, kubernetes-scheduler-simulator of
hkust-adsl (pkg/utils/frag.go, plugin/fgd_score.go). It knows the target workload and no
durations. Costs as FGD: the score is taken from the exact integer growth of F, and
only where that falls on the edge between two scores are the published sums redone.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from model.capacity import Bools, Ints
from model.config import Settings
from model.job import Request
from model.node import UNLIMITED
from model.target import Target
from schedulers.base import DEFAULTS, World
from schedulers.fgd import FGD, Growth
from schedulers.scoring import NEVER

Floats = NDArray[np.float64]
UNSURE = 1e-6  # distance from an integer, beyond what rounding can do to a score


class Kinds:
    """Some kinds of the target workload as columns, (kinds, 1..) each."""

    def __init__(
        self, target: Target, access: Bools, wanted: Callable[[Request], bool]
    ):
        index = [place for place, kind in enumerate(target.requests) if wanted(kind)]
        kinds = [target.requests[place] for place in index]
        kept = sum(target.weights) or 1
        total = target.total or kept
        # rounded as published: first over the trace, then over the part that is kept
        frequency = np.array(target.weights, dtype=float) / total / (kept / total)
        self.milli = np.array([kind.gpu_milli for kind in kinds]).reshape(-1, 1, 1)
        self.gpus = np.array([kind.num_gpus for kind in kinds]).reshape(-1, 1, 1)
        self.cpu = np.array([kind.cpu_milli for kind in kinds]).reshape(-1, 1)
        self.frequency: Floats = frequency[index].reshape(-1, 1, 1)
        self.access = access[index]  # (kinds, nodes)


class ExactFragmentation:
    """F_n(M) in floating point, in the order of summation of the published code.

    Each category (Q1, Q2, Q4, XL, XR, NA) is summed over the kinds in their order,
    then the categories in theirs; Q3, what serves a kind, is not lost.
    """

    def __init__(self, target: Target, access: Bools) -> None:
        self.gpu = Kinds(target, access, lambda kind: kind.num_gpus > 0)
        self.cpu = Kinds(target, access, lambda kind: kind.num_gpus == 0)

    def state(self, free: Ints) -> tuple[Ints, Ints]:
        """Return per kind how many devices serve it and the sum of the others.

        *free* is (nodes, gpus); the results are (kinds, nodes, 1) each.
        """
        usable = free >= self.gpu.milli  # (kinds, nodes, gpus)
        count: Ints = usable.sum(axis=2, keepdims=True)
        small: Ints = (free * ~usable).sum(axis=2, keepdims=True)
        return count, small

    def amount(
        self, total: Ints, count: Ints, small: Ints, cpu: Ints, nodes: Ints
    ) -> Floats:
        """Return F, milli-GPU, (nodes, options).

        Parameters
        ----------
        total : (nodes, options) free milli-GPU.
        count, small : (kinds, nodes, options), as `state` has them.
        cpu : (nodes,) free milli-cores.
        nodes : (nodes,) their indices.
        """
        kinds = self.gpu
        access = kinds.access[:, nodes, None]  # (kinds, nodes, 1)
        has_cpu = (cpu >= kinds.cpu)[:, :, None]
        enough = count >= kinds.gpus  # (kinds, nodes, options)
        lost = kinds.frequency * total
        part = np.where(enough, kinds.frequency * small, lost)
        amount = _sum(lost, access & ~has_cpu & ~enough)  # Q1
        amount = amount + _sum(part, access & has_cpu)  # Q2
        amount = amount + _sum(lost, access & ~has_cpu & enough)  # Q4
        idle = self.cpu.frequency * total
        has_cpu = (cpu >= self.cpu.cpu)[:, :, None]
        amount = amount + _sum(idle, has_cpu)  # XL
        amount = amount + _sum(idle, ~has_cpu)  # XR
        return amount + _sum(lost, ~access)  # NA


def _sum(amounts: Floats, where: Bools) -> Floats:
    """Sum over the kinds, one after the other, where a category applies.

    np.add.reduce would sum pairwise if there were but one node.
    """
    if not where.any():
        return np.zeros(amounts.shape[1:])
    total: Floats = np.add.accumulate(np.where(where, amounts, 0.0), axis=0)[-1]
    return total


class FGDExact(FGD):
    """Start the job where the published integer score is highest."""

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        target = world.fragmentation.target
        access = [self.capacity.accessible(kind.gpu_type) for kind in target.requests]
        shape = (len(access), len(self.capacity.nodes))
        self.exact = ExactFragmentation(target, np.array(access, bool).reshape(shape))
        self._tabled = world.fragmentation.num_profiles == 1

    def score(self, request: Request, nodes: Ints) -> Ints:
        """See `ScoringScheduler.score`: minus the best device's published score."""
        marks = self._mark(super().score(request, nodes))
        unsure = (marks & 1).nonzero()[0]
        scores = marks >> 1
        if len(unsure):
            scores[unsure] = -self.published(request, nodes[unsure]).max(axis=1)
        return scores

    def choose_gpus(self, request: Request, node: int) -> tuple[int, ...]:
        """Return the first device with the highest score, or the lowest free ones."""
        if not self.growth(request).is_share:
            return super().choose_gpus(request, node)
        grown = np.array(self.growths(request, node))  # (gpus,)
        marks = self._mark(grown + self.cpu_growth(request, node))
        if marks.min() & 1:
            marks = -self.published(request, np.array([node]))[0]
        return (int(marks.argmin()),)

    def _mark(self, growth: Ints) -> Ints:
        return growth if self._tabled else marked(growth, self.fragmentation.weight)

    def make_growth(self, num_gpus: int, gpu_milli: int) -> Growth:
        """Return what one worker does to F; as scores if CPU makes no difference."""
        growth = super().make_growth(num_gpus, gpu_milli)
        if self._tabled:
            growth.partly = marked(growth.partly, self.fragmentation.weight)
            growth.wholly = marked(growth.wholly, self.fragmentation.weight)
        return growth

    def published(self, request: Request, nodes: Ints) -> Ints:
        """Return the score of each way to place, (changed, options); -1 if it cannot.

        A share has an option for each device, all else has one.
        """
        free = self.capacity.free[nodes]  # (changed, gpus)
        cpu = np.full(len(nodes), UNLIMITED)
        if self.capacity.counts_cpu:
            cpu = self.capacity.free_cpu[nodes]
        total = self.capacity.free_total[nodes][:, None]
        count, small = self.exact.state(free)
        before = self.exact.amount(total, count, small, cpu, nodes)
        left = cpu - request.cpu_milli
        if request.is_share:
            milli = self.exact.gpu.milli
            after = free - request.gpu_milli
            fits = after >= 0
            count = count - (free >= milli) + (after >= milli)
            small = small - free * (free < milli) + after * (after < milli)
        else:
            fits = (self.capacity.whole[nodes] >= request.num_gpus)[:, None]
            count = count - request.num_gpus  # fully free devices serve every kind
        total = total - request.gpu_milli * request.num_gpus
        gain = before - self.exact.amount(total, count, small, left, nodes)
        scores = (100 / (1 + np.exp(-gain / 1000))).astype(np.int64)
        return np.where(fits, scores, -1)


def marked(growth: Ints, weight: int) -> Ints:
    """Return minus twice the published score of each growth of F, `NEVER` as it is.

    The result is odd, and the better of the two scores, where the growth is so close
    to the edge between two that the published sums, which round at each step, may fall
    to either side: an unsure option then is least whenever it may be the best.
    """
    loss = np.minimum(growth / (1000 * weight), 50.0)
    scores = 100 / (1 + np.exp(loss))
    nearest = np.rint(scores)
    unsure = np.abs(scores - nearest) < UNSURE
    twice = np.where(unsure, 2 * nearest + 1, 2 * np.floor(scores))
    return np.where(growth < NEVER, -twice.astype(np.int64), NEVER)
