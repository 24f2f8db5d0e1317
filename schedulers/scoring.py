"""Schedulers that score nodes: filter the nodes that fit, take the lowest score.

For each kind of request the scores of all nodes are kept; before a decision only the
nodes that changed since that kind was last looked at are scored again, all at once.
A decision is thus one argmin over the nodes plus NumPy work on the changed rows.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.capacity import Ints
from model.config import Settings
from model.job import Job, Request
from schedulers.base import DEFAULTS, World
from schedulers.placing import PlacingScheduler

NEVER = 2**62  # the score of a node that does not fit
MAX_TABLES = 4096  # kinds of request remembered; more than a trace usually has


class _Scores:
    """The scores of one kind of request, as of some moment."""

    __slots__ = ("full", "scores", "seen")

    def __init__(self, num_nodes: int) -> None:
        self.scores: Ints = np.full(num_nodes, NEVER)
        self.seen = 0  # clock of the capacity when last brought up to date
        self.full = -1  # clock when last no node had room


class ScoringScheduler(PlacingScheduler):
    """Places each worker on the node with the lowest score; ties to the lowest node.

    A subclass says how good nodes are (`score`) and, if it cares, which devices of the
    chosen node it wants (`choose_gpus`); the queue discipline says which job may try.
    """

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self._tables: dict[Request, _Scores] = {}
        self._never: Ints = np.full(len(world.capacity.nodes), NEVER)

    @abstractmethod
    def score(self, request: Request, nodes: Ints) -> Ints:
        """Return how bad it is to place one worker on each of *nodes*.

        Parameters
        ----------
        request : what the worker asks for.
        nodes : (changed,) indices; nodes that do not fit may get any score.

        Returns
        -------
        (changed,) int64
            Lower is better.
        """

    def choose_node(self, job: Job, now: float) -> int | None:
        """Return the node with the lowest score, or None if no node fits."""
        request = job.request
        table = self._tables.get(request) or self._new_table(request)
        capacity = self.capacity
        clock = capacity.clock
        if table.full >= clock - 1 and (
            # no room then, and the one node changed since, if any, has none either
            table.full == clock or not capacity.has_gpus(request, capacity.last_changed)
        ):
            table.full = clock
            return None
        fits = capacity.fits(request)  # (nodes,)
        if table.seen != clock:
            changed = (capacity.changed_at > table.seen).nonzero()[0]
            table.scores[changed] = self.score(request, changed)
            table.seen = clock
        scores = np.where(fits, self.weigh(job, now, table.scores), self._never)
        node = self.pick(scores)
        if scores.item(node) == NEVER:
            if not fits.any():  # not one that only this job must not have
                table.full = clock
            return None
        return node

    def weigh(self, job: Job, now: float, scores: Ints) -> NDArray[Any]:
        """Return the scores of all nodes for this job now, not only for its kind."""
        return scores

    def pick(self, scores: NDArray[Any]) -> int:
        """Return the node to use; those that do not fit, or all, have `NEVER`."""
        return int(scores.argmin())

    def _new_table(self, request: Request) -> _Scores:
        if len(self._tables) >= MAX_TABLES:
            del self._tables[next(iter(self._tables))]
        table = self._tables[request] = _Scores(len(self.capacity.nodes))
        return table
