"""Tuning of the linear scorer's weights on the simulated delay, by cross-entropy.

Each generation draws candidates around a mean, replays the same traces under each
(`forward`, milliseconds a trace), and moves mean and spread to the best of them. The
objective is the share of the fragmentation delay of FGD's plain score that is left,
(delay - pooled delay) / (delay of plain FGD - pooled delay), summed over each case's
seeds, mean over the cases. Rubinstein & Kroese, The Cross-Entropy Method, 2004.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from model.capacity import Capacity, Ints
from model.errors import UserError
from model.fragmentation import Fragmentation
from model.held import HeldJobs
from model.job import WHOLE_GPU, Job, Request
from model.node import Node
from model.target import target_workload
from schedulers.base import World
from schedulers.drr.forward import Running, forward, scratch
from schedulers.drr.kernel import BIG, weights_of
from schedulers.drr.line import line_of
from schedulers.drr.state import Floats
from schedulers.drr.view import View

WARM_UP = 0.2  # share of jobs, first ones, left out
SMOOTH = 0.7  # weight of the new elite in mean and spread
LEAST_SPREAD = 0.02
ELITE = 6  # one of so many candidates

LIFETIME = weights_of({"growth": 1.0, "node_outlives": 1.0})  # LifetimeAligned's, plain
GROWTH = weights_of({"growth": 1.0})  # FGD's, plain


class Replay:
    """A trace on an empty cluster, ready to be replayed under any weights.

    Only jobs without a GPU type, and only GPUs count.
    """

    def __init__(self, jobs: Sequence[Job], nodes: Sequence[Node]) -> None:
        jobs = sorted(jobs, key=lambda job: job.submit_time)
        capacity = Capacity(nodes)
        target = target_workload(jobs, 1.0)
        fragmentation = Fragmentation(capacity, target, follows=False)
        rng = np.random.default_rng(0)  # nothing is drawn
        view = View(World(capacity, fragmentation, HeldJobs(), rng, target))
        self._tables, self._state = view.tables, view.state(Request(1, WHOLE_GPU))
        self._line = line_of(jobs)

    def starts(self, weights: Floats) -> Floats:
        """Return when each job starts, in the order of submission, (jobs,) s."""
        nothing = np.empty(0, np.int64)
        room = scratch(self._state, self._line)
        total = forward(
            weights,
            self._state,
            self._tables,
            Running(np.empty(0), nothing, nothing, nothing),
            self._line,
            0,
            0.0,
            (-1, 0),
            0.0,
            np.inf,
            room,
        )
        if total == BIG:
            raise UserError("a job of this trace can never start on this cluster")
        return room.starts

    def columns(self) -> tuple[Floats, Floats, Ints]:
        """Return submission, duration, s, and demand, milli-GPU, of each job."""
        line = self._line
        return line.submit, line.estimate, line.num_gpus * line.milli * line.workers

    def mean_delay(self, weights: Floats) -> float:
        """Return the mean queueing delay after the warm-up, s."""
        delays = self.starts(weights) - self._line.submit
        return float(delays[int(WARM_UP * len(delays)) :].mean())


class Case(NamedTuple):
    """A replay, its delay under FGD's plain score, and on the pooled cluster, s."""

    replay: Replay
    plain: float
    pooled: float


def left_of_gap(weights: Floats, cases: Sequence[Sequence[Case]]) -> float:
    """Return the share of the gap that is left, mean over the groups of cases."""
    shares = []
    for group in cases:
        delay = sum(case.replay.mean_delay(weights) for case in group)
        plain = sum(case.plain for case in group)
        pooled = sum(case.pooled for case in group)
        shares.append((delay - pooled) / max(plain - pooled, 1e-9))
    return float(np.mean(shares))


def cross_entropy(
    draw: Callable[[int], Sequence[Sequence[Case]]],
    generations: int,
    population: int,
    rng: np.random.Generator,
    tell: Callable[[int, float, Floats], object] = lambda *told: None,
) -> Floats:
    """Return the weights found.

    Parameters
    ----------
    draw : the cases of each generation.
    tell : called with each generation, the mean's share left, and the mean.
    """
    mean, spread = LIFETIME.copy(), np.full(len(LIFETIME), 0.3)
    for generation in range(generations):
        cases = draw(generation)
        noise = rng.normal(size=(population, len(mean)))
        noise[0] = 0  # the mean itself
        candidates = mean + spread * noise
        shares = np.array([left_of_gap(weights, cases) for weights in candidates])
        elite = candidates[shares.argsort(kind="stable")[: population // ELITE]]
        mean = (1 - SMOOTH) * mean + SMOOTH * elite.mean(axis=0)
        wide = np.maximum(elite.std(axis=0), LEAST_SPREAD)
        spread = (1 - SMOOTH) * spread + SMOOTH * wide
        tell(generation, float(shares[0]), mean)
    return mean
