"""Keep jobs of one size together: a scheduler in one file."""

import numpy as np

from schedulers.scoring import ScoringScheduler


class SameSize(ScoringScheduler):
    """Start the job on the node that can host the fewest more jobs of its kind."""

    name = "SameSize"

    def score(self, request, nodes):
        """Return how many more workers of this kind each node could host."""
        free = self.capacity.free[nodes]  # (nodes, gpus), milli-GPU
        if request.num_gpus == 0:
            return np.zeros(len(nodes), dtype=np.int64)
        return (free // request.gpu_milli).sum(axis=1) // request.num_gpus
