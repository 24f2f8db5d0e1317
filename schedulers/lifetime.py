"""FGD that also looks at lifetimes: small jobs end where their node empties anyway.

score = growth of F in GPUs + max(0, end of the job - last end on the node) / duration,
smallest wins: a job that would keep a node busy for longer than it is anyway, measured
in its own durations, pays for it. Needs duration estimates and the target workload. The
term is ours; lifetime-aligned placement is known from virtual machines (Barbalho et
al., MLSys 2023). Costs as FGD, plus the residents of each changed node.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.capacity import Ints
from model.config import Settings
from model.job import Job
from schedulers.base import DEFAULTS, World
from schedulers.fgd import FGD

SHORTEST = 1.0  # s; what a job without duration counts as


class LifetimeAligned(FGD):
    """Start the job where F grows least and the node is busy for as long anyway."""

    name = "LifetimeAligned"

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self._ends = LastEnds(world)
        self._unit = 1000 * world.fragmentation.weight

    def weigh(self, job: Job, now: float, scores: Ints) -> NDArray[Any]:
        """See `ScoringScheduler.weigh`: growth of F in GPUs + longer life / own."""
        duration = max(job.estimate, SHORTEST)
        longer = np.maximum(0.0, now + duration - self._ends.now(now))
        weighed: NDArray[Any] = scores / self._unit + longer / duration
        return weighed


class LastEnds:
    """When the last job on each node should end, following the cluster."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._ends = np.zeros(len(world.capacity.nodes))  # s; past ones mean idle
        self._seen = 0

    def now(self, now: float) -> NDArray[np.float64]:
        """Return the last expected end on each node, at least *now*, (nodes,) s."""
        capacity, held = self._world.capacity, self._world.held
        if self._seen != capacity.clock:
            for node in (capacity.changed_at > self._seen).nonzero()[0].tolist():
                ends = [resident.expected_end for resident in held.on_node(node)]
                self._ends[node] = max(ends, default=0.0)
            self._seen = capacity.clock
        latest: NDArray[np.float64] = np.maximum(self._ends, now)
        return latest
