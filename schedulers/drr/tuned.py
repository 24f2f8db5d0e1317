"""TunedLinear: a linear scorer, its weights tuned on the simulated delay.

Fourteen features of each place (`kernel.FEATURES`), one weight each, found by the
cross-entropy method (`search.py`): the strongest simple rival of DRR, and where DRR
starts from. Needs duration estimates and the mix of jobs; a decision costs one compiled
pass over the nodes.
"""

import json
from pathlib import Path

from model.config import Settings
from model.job import Job, Request
from schedulers.base import DEFAULTS, World
from schedulers.drr.kernel import choice, rank, weights_of
from schedulers.drr.line import estimate
from schedulers.drr.state import Floats
from schedulers.drr.view import View
from schedulers.placing import PlacingScheduler

TUNED = Path(__file__).with_name("tuned.json")


def tuned_weights() -> Floats:
    """Return the shipped weights, in the order of `FEATURES`."""
    return weights_of(json.loads(TUNED.read_text())["weights"])


class TunedLinear(PlacingScheduler):
    """Start the job where fourteen weighted features together are least."""

    name = "TunedLinear"

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self.view = View(world)
        self.weights = tuned_weights()
        self._best = choice(1)
        self._gpu = 0  # the device that goes with the node chosen last

    def choose_node(self, job: Job, now: float) -> int | None:
        """See `PlacingScheduler.choose_node`."""
        request = job.request
        state = self.view.state(request)
        if not rank(
            self.weights,
            state,
            self.view.tables,
            request.num_gpus,
            request.gpu_milli,
            estimate(job),
            now,
            (0, len(state.whole)),
            self._best,
        ):
            return None
        self._gpu = int(self._best.gpus[0])
        return int(self._best.nodes[0])

    def choose_gpus(self, request: Request, node: int) -> tuple[int, ...]:
        """Return the device that the score was for, or the lowest fully free ones."""
        if request.is_share:
            return (self._gpu,)
        return super().choose_gpus(request, node)
