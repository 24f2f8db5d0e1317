"""Buddy placement with best fit, as ElasticFlow places its jobs.

A node with w fully free devices offers blocks of c = the largest power of two that
divides w. A job goes to the smallest block that holds it, its size rounded up to a
power of two for this choice only; ties go to the node with less free, then to the
lowest. If no block is large enough but the devices of some node are, the fullest such
node is used: nobody is moved to make a block. A share goes beside other shares, into
the least sufficient rest; only if there is none a device is split off, from the
smallest block.
"""

import numpy as np

from model.capacity import Ints
from model.job import WHOLE_GPU, Request
from schedulers.scoring import ScoringScheduler

TIER = 2**40  # by which a better kind of place beats all else
BLOCK = 2**24  # by which a smaller block beats any amount of free milli-GPU
NO_BLOCK = 128  # larger than any node


def powers_of_two(most: int) -> list[int]:
    """Return 1, 2, 4, .. up to *most*.

    >>> powers_of_two(6)
    [1, 2, 4]
    """
    return [1 << bit for bit in range(most.bit_length())]


class Buddy(ScoringScheduler):
    """Scores nodes by their blocks."""

    def score(self, request: Request, nodes: Ints) -> Ints:
        """See `ScoringScheduler.score`: shares before blocks, small blocks first."""
        whole, total = self.capacity.whole[nodes], self.capacity.free_total[nodes]
        blocks = whole & -whole  # (changed,) 0 if no device is fully free
        size = 1 << max(0, request.num_gpus - 1).bit_length()
        blocks = np.where(blocks >= size, blocks, NO_BLOCK)
        scores: Ints = TIER + blocks * BLOCK + total
        if request.is_share:
            free = self.capacity.free[nodes]  # (changed, gpus)
            usable = (free >= request.gpu_milli) & (free < WHOLE_GPU)
            rest = np.where(usable, free, WHOLE_GPU).min(axis=1)
            scores = np.where(rest < WHOLE_GPU, rest * BLOCK + total, scores)
        return scores
