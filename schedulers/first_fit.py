"""First fit: the first node in the list that has room.

Needs nothing but the request; one argmin over the nodes per decision.
"""

from model.capacity import Ints
from model.job import Request
from schedulers.scoring import ScoringScheduler


class FirstFit(ScoringScheduler):
    """Start the job on the lowest node that fits, on its tightest devices."""

    name = "FirstFit"

    def score(self, request: Request, nodes: Ints) -> Ints:
        """See `ScoringScheduler.score`: the node's place in the list."""
        return nodes
