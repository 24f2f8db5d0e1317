"""Worst fit: spread the jobs out, always to where most is free.

Needs nothing but the request; one argmin over the nodes per decision.
"""

from model.capacity import Ints
from model.job import WHOLE_GPU, Request
from schedulers.scoring import ScoringScheduler


class WorstFit(ScoringScheduler):
    """Start the job on the node with the most GPU free, on its freest device.

    Ties go to the lowest node, then to the lowest device.
    """

    name = "WorstFit"

    def score(self, request: Request, nodes: Ints) -> Ints:
        """See `ScoringScheduler.score`: minus what is free on the node."""
        return -self.capacity.free_total[nodes]

    def choose_gpus(self, request: Request, node: int) -> tuple[int, ...]:
        """Return the freest device for a share, whole devices as everyone does."""
        if not 0 < request.gpu_milli < WHOLE_GPU:
            return super().choose_gpus(request, node)
        return (int(self.capacity.free[node].argmax()),)
