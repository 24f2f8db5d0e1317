"""Random fit: any node that has room, any device that has room.

Needs nothing but the request and a random stream of its own.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.capacity import Ints
from model.job import Request
from schedulers.scoring import NEVER, ScoringScheduler


class RandomFit(ScoringScheduler):
    """Start the job on a node drawn evenly from those that fit, so on the device.

    A job that needs whole devices takes the lowest fully free ones of its node.
    """

    name = "RandomFit"

    def score(self, request: Request, nodes: Ints) -> Ints:
        """See `ScoringScheduler.score`: all nodes are equal."""
        return np.zeros(len(nodes), dtype=np.int64)

    def pick(self, scores: NDArray[Any]) -> int:
        """Return any of the nodes that fit, or any at all if none does."""
        able = (scores < NEVER).nonzero()[0]
        if not len(able):
            return 0
        return int(able[self.world.rng.integers(len(able))])

    def choose_gpus(self, request: Request, node: int) -> tuple[int, ...]:
        """Return one of the devices that fit a share."""
        if not request.is_share:
            return super().choose_gpus(request, node)
        able = (self.capacity.free[node] >= request.gpu_milli).nonzero()[0]
        return (int(able[self.world.rng.integers(len(able))]),)
