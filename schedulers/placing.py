"""Schedulers that place one worker at a time: a node, then devices on it."""

from abc import abstractmethod

from model.config import Settings
from model.job import WHOLE_GPU, Job, Placement, Placements, Request, one_place
from schedulers.base import DEFAULTS, Scheduler, World
from schedulers.decision import Decision, Reshuffle
from schedulers.disciplines import DISCIPLINES
from schedulers.queue import PendingQueue


class PlacingScheduler(Scheduler):
    """Lets the queue discipline say who may try, and places gangs worker by worker.

    A subclass chooses the node (`choose_node`) and, if it cares, which devices of it
    (`choose_gpus`).
    """

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self._choose = DISCIPLINES[settings.queue].chooser(world.capacity, world.held)

    @abstractmethod
    def choose_node(self, job: Job, now: float) -> int | None:
        """Return the node for one worker of the job, or None if none has room."""

    def choose_gpus(self, request: Request, node: int) -> tuple[int, ...]:
        """Return the devices to use: the tightest that fit, lowest index first."""
        row = self.capacity.rows[node]
        if request.num_gpus == 1:
            milli = request.gpu_milli
            return (row.index(min([free for free in row if free >= milli])),)
        whole = [gpu for gpu, free in enumerate(row) if free == WHOLE_GPU]
        return tuple(whole[: request.num_gpus])

    def decide(self, pending: PendingQueue, now: float) -> Decision | Reshuffle | None:
        """See `Scheduler.decide`."""
        if not pending.entries:
            return None
        return self._choose(pending, self.place, now)

    def place(self, job: Job, now: float) -> Placements | None:
        """See `Scheduler.place`."""
        request = job.request
        if job.num_workers == 1:
            node = self.choose_node(job, now)
            if node is None:
                return None
            return one_place(node, self.choose_gpus(request, node))
        return self._place_gang(job, now)

    def _place_gang(self, job: Job, now: float) -> Placements | None:
        """Place worker after worker, each seeing the ones before it."""
        if self.capacity.workers(job.request).sum() < job.num_workers:
            return None
        placements: list[Placement] = []
        with self.capacity.trial() as shift:
            for _ in range(job.num_workers):
                node = self.choose_node(job, now)
                if node is None:
                    return None
                gpus = self.choose_gpus(job.request, node)
                placements.append(Placement(node, gpus))
                shift(job.request, placements[-1], 1)
        return tuple(placements)
