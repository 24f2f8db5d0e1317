"""Best fit: leave as little as possible free where the job goes.

Needs nothing but the request; one argmin over the nodes per decision. GPUs decide
first; free CPU, where it is counted, breaks ties.
"""

import numpy as np

from model.capacity import Ints
from model.job import Request
from schedulers.scoring import ScoringScheduler

MOST_CPU = 2**40  # milli-cores; keeps GPU first in one integer


class BestFit(ScoringScheduler):
    """Start the job on the node with the least GPU left, on its tightest devices.

    Ties go to the node with the least free CPU (if counted), then to the lowest node.
    """

    name = "BestFit"

    def score(self, request: Request, nodes: Ints) -> Ints:
        """See `ScoringScheduler.score`: what is free on the node."""
        free = self.capacity.free_total[nodes]
        if self.capacity.counts_cpu:
            cpu = np.minimum(self.capacity.free_cpu[nodes], MOST_CPU - 1)
            free = free * MOST_CPU + cpu
        return free
