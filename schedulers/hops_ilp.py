"""The integer program of Hops, its nodes gathered into a handful of constraints.

Jobs of equal shape are exchangeable but for their weight, so of each shape only the
heaviest that could fit are kept. Whole-GPU jobs whose sizes are powers of two fit nodes
with F_1, .., F_N idle devices if and only if, for every power of two L,

    sum of the sizes of jobs of at least L GPUs  <=  sum_n L floor(F_n / L)

(pack the largest first: what is used on a node is then a multiple of L whenever a job
of L comes, so the node has room unless it lacks L devices). For other sizes the
constraints are necessary only: a job of s takes L floor(s / L), and of jobs of s or
more a node holds floor(F_n / s); what then finds no node is left out. Shares go onto
devices by patterns: maximal multisets of shares that fit what is free on a device; x
devices of residual c follow a pattern.
Objective and weights: Wang et al., "Hops", SoCC 2024; the aggregation is ours.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from model.job import WHOLE_GPU
from schedulers.buddy import powers_of_two

OPENING = 1e-4  # of the least weight; what it costs to break an idle device
GAP = 0.01  # a plan within one percent of the optimum will do
FEW = 300  # patterns of an idle device that the program may have
NODES = 2_000  # of the search tree; unlike a time limit the same on any machine


class Item(NamedTuple):
    """One job of the plan.

    Attributes
    ----------
    weight : of having it run, (latency ratio + bias)^lambda.
    size : GPUs on one node of each worker; 0 for a share.
    share : milli-GPU of one device; 0 for whole GPUs.
    workers : how many of these it needs, all or none.
    gain : throughput on one node relative to spread over several (rho).
    splits : whether its GPUs may be on several nodes.
    """

    weight: float
    size: int
    share: int
    workers: int = 1
    gain: float = 1.0
    splits: bool = False


class Plan(NamedTuple):
    """Which items run.

    Attributes
    ----------
    together, spread : indices of items, each worker on one node, or over several.
    patterns : (residual, shares) of a device and how many devices follow it.
    value : of the objective.
    """

    together: list[int]
    spread: list[int]
    patterns: list[tuple[int, tuple[int, ...], int]]
    value: float


def solve(
    items: Sequence[Item],
    idle: Sequence[int],
    residuals: Counter[int],
    gap: float = GAP,
    time_limit: float = 60.0,
) -> Plan | None:
    """Return the best plan, None if none was proven good enough in time.

    Parameters
    ----------
    items : the jobs to choose from.
    idle : (nodes,) fully free devices of each node.
    residuals : milli-GPU free on partly free devices, and how many have it.
    gap : relative distance to the optimum at which to stop.
    time_limit : s.
    """
    program = _Program(items, idle, residuals)
    if not program.cost:
        return Plan([], [], [], 0.0)
    result = milp(
        np.array(program.cost),
        constraints=program.constraint(),
        integrality=np.ones(len(program.cost), dtype=np.int64),
        bounds=Bounds(0, np.array(program.most)),
        options={"mip_rel_gap": gap, "time_limit": time_limit, "node_limit": NODES},
    )
    if result.status != 0 or result.x is None:
        return None
    return program.plan(np.rint(result.x).astype(int).tolist(), -float(result.fun))


class _Program:
    """Columns, rows and coefficients; rows are named by what they limit."""

    def __init__(
        self, items: Sequence[Item], idle: Sequence[int], residuals: Counter[int]
    ) -> None:
        self.cost: list[float] = []  # minimised
        self.most: list[float] = []
        self.meaning: list[tuple[str, int] | tuple[str, int, tuple[int, ...]]] = []
        self._limits: dict[object, float] = {}
        self._entries: list[tuple[object, int, float]] = []  # row, column, coefficient
        self._levels = powers_of_two(max(1, *idle))
        for level in self._levels:
            self._limits[level] = sum(level * (free // level) for free in idle)
        self._odd = {item.size for item in items if item.size & (item.size - 1)}
        for size in self._odd:
            self._limits["at least", size] = sum(free // size for free in idle)
        least = min((item.weight for item in items if item.weight > 0), default=1.0)
        self._opening = OPENING * min(1.0, least)
        self._widest = max(idle, default=0)
        self._add_items(items)
        shares = sorted({item.share for item in items if item.share}, reverse=True)
        self._add_patterns(tuple(shares), sum(idle), residuals)

    def _add_items(self, items: Sequence[Item]) -> None:
        for index, item in enumerate(items):
            if item.share:
                column = self._column(("together", index), item.weight, 1)
                self._limits.setdefault(("share", item.share), 0)
                self._enter(("share", item.share), column, item.workers)
                continue
            size = item.size
            worth = item.weight * (item.gain if item.splits else 1.0)
            fits = int(size <= self._widest)
            column = self._column(("together", index), worth, fits)
            for level in self._levels:
                if level <= size:
                    taken = level * (size // level)
                    self._enter(level, column, taken * item.workers)
            for other in self._odd:
                if other <= size:
                    self._enter(("at least", other), column, item.workers)
            if item.splits:
                self._limits[("job", index)] = 1
                self._enter(("job", index), column, 1)
                column = self._column(("spread", index), item.weight, 1)
                self._enter(("job", index), column, 1)
                self._enter(1, column, item.size * item.workers)

    def _add_patterns(
        self, shares: tuple[int, ...], idle: int, residuals: Counter[int]
    ) -> None:
        for free, devices in [*sorted(residuals.items()), (WHOLE_GPU, idle)]:
            for pattern in patterns(free, shares):
                worth = -self._opening if free == WHOLE_GPU else 0.0
                column = self._column(("pattern", free, pattern), worth, devices)
                if free == WHOLE_GPU:
                    self._enter(1, column, 1)
                else:
                    self._limits[("device", free)] = devices
                    self._enter(("device", free), column, 1)
                for share, number in Counter(pattern).items():
                    self._enter(("share", share), column, -number)

    def _column(
        self, meaning: tuple[str, int] | tuple[str, int, tuple[int, ...]],
        worth: float, most: float,
    ) -> int:  # fmt: skip
        self.meaning.append(meaning)
        self.cost.append(-worth)
        self.most.append(most)
        return len(self.cost) - 1

    def _enter(self, row: object, column: int, coefficient: float) -> None:
        self._entries.append((row, column, coefficient))

    def constraint(self) -> LinearConstraint:
        """Return all rows: coefficients @ x <= limits."""
        place = {row: index for index, row in enumerate(self._limits)}
        rows, columns, values = zip(*self._entries, strict=True)
        shape = (len(place), len(self.cost))
        matrix = csr_array((values, ([place[row] for row in rows], columns)), shape)
        limits = np.array([*self._limits.values()], dtype=float)
        return LinearConstraint(matrix, -np.inf, limits)

    def plan(self, solution: list[int], value: float) -> Plan:
        """Return what the columns mean."""
        plan = Plan([], [], [], value)
        for meaning, amount in zip(self.meaning, solution, strict=True):
            if not amount:
                continue
            if meaning[0] == "together":
                plan.together.append(meaning[1])
            elif meaning[0] == "spread":
                plan.spread.append(meaning[1])
            elif len(meaning) == 3:
                plan.patterns.append((meaning[1], meaning[2], amount))
        return plan


def coarseness(shares: frozenset[int]) -> int:
    """Return to which milli-GPU shares are rounded up, so that patterns stay few."""
    for step in (1, 50, 100, 125, 250):
        rounded = {-(-share // step) * step for share in shares}
        if len(patterns(WHOLE_GPU, tuple(sorted(rounded, reverse=True)))) <= FEW:
            return step
    return 500


@cache
def patterns(free: int, shares: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the maximal multisets of shares that fit on a device, largest first.

    At most `FEW` and one more are returned.

    >>> patterns(1000, (700, 300))
    [(700, 300), (300, 300, 300)]
    """
    smallest = min(shares, default=free + 1)

    def extend(room: int, first: int) -> Iterator[tuple[int, ...]]:
        if room < smallest:
            yield ()
            return
        fits = False
        for place in range(first, len(shares)):
            if shares[place] <= room:
                fits = True
                for rest in extend(room - shares[place], place):
                    yield (shares[place], *rest)
        if not fits:  # smaller ones would, but those come in other multisets
            yield ()

    found = (pattern for pattern in extend(free, 0) if pattern)
    maximal = (pattern for pattern in found if free - sum(pattern) < smallest)
    return [*islice(maximal, FEW + 1)]
