"""Schedulers that score nodes: filter the nodes that fit, take the lowest score.

For each kind of request the scores of all nodes are kept; before a decision only the
nodes that changed since that kind was last looked at are scored again, all at once.
A decision is thus one argmin over the nodes plus NumPy work on the changed rows.
"""

from abc import abstractmethod

import numpy as np

from model.capacity import Ints
from model.job import WHOLE_GPU, Job, Placement, Placements, Request
from schedulers.base import Scheduler, World
from schedulers.decision import Decision
from schedulers.disciplines import DISCIPLINES
from schedulers.queue import PendingQueue

NEVER = 2**62  # the score of a node that does not fit
MAX_TABLES = 4096  # kinds of request remembered; more than a trace usually has


class _Scores:
    """The scores of one kind of request, as of some moment."""

    __slots__ = ("full", "scores", "seen")

    def __init__(self, num_nodes: int) -> None:
        self.scores: Ints = np.full(num_nodes, NEVER)
        self.seen = 0  # clock of the capacity when last brought up to date
        self.full = -1  # clock when last no node had room


class ScoringScheduler(Scheduler):
    """Places each worker on the node with the lowest score; ties to the lowest node.

    A subclass says how good nodes are (`score`) and, if it cares, which devices of the
    chosen node it wants (`choose_gpus`); the queue discipline says which job may try.
    """

    def __init__(self, world: World, queue: str = "fifo") -> None:
        super().__init__(world, queue)
        self._choose = DISCIPLINES[queue].chooser(world.capacity, world.held)
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

    def choose_gpus(self, request: Request, node: int) -> tuple[int, ...]:
        """Return the devices to use: the tightest that fit, lowest index first."""
        row = self.capacity.rows[node]
        if request.num_gpus == 1:
            milli = request.gpu_milli
            return (row.index(min([free for free in row if free >= milli])),)
        whole = [gpu for gpu, free in enumerate(row) if free == WHOLE_GPU]
        return tuple(whole[: request.num_gpus])

    def choose_node(self, request: Request) -> int | None:
        """Return the node with the lowest score, or None if no node fits."""
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
        scores = np.where(fits, table.scores, self._never)
        node = self.pick(scores)
        if scores.item(node) == NEVER:
            table.full = clock
            return None
        return node

    def pick(self, scores: Ints) -> int:
        """Return the node to use; those that do not fit, or all, have `NEVER`."""
        return int(scores.argmin())

    def decide(self, pending: PendingQueue, now: float) -> Decision | None:
        """See `Scheduler.decide`."""
        if not pending.entries:
            return None
        return self._choose(pending, self.place, now)

    def place(self, job: Job) -> Placements | None:
        """Return where the job would go now, whole, or None if it does not fit."""
        request = job.request
        if job.num_workers == 1:
            node = self.choose_node(request)
            if node is None:
                return None
            return (Placement(node, self.choose_gpus(request, node)),)
        return self._place_gang(job)

    def _place_gang(self, job: Job) -> Placements | None:
        """Place worker after worker, each seeing the ones before it."""
        if self.capacity.workers(job.request).sum() < job.num_workers:
            return None
        placements: list[Placement] = []
        with self.capacity.trial() as shift:
            for _ in range(job.num_workers):
                node = self.choose_node(job.request)
                if node is None:
                    return None
                gpus = self.choose_gpus(job.request, node)
                placements.append(Placement(node, gpus))
                shift(job.request, placements[-1], 1)
        return tuple(placements)

    def _new_table(self, request: Request) -> _Scores:
        if len(self._tables) >= MAX_TABLES:
            del self._tables[next(iter(self._tables))]
        table = self._tables[request] = _Scores(len(self.capacity.nodes))
        return table
