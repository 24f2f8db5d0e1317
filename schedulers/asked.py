"""A scheduler that asks: someone outside chooses each worker's node (`DefragEnv`)."""

import numpy as np

from model.capacity import Bools
from model.config import Settings
from model.job import Job
from schedulers.base import DEFAULTS, World
from schedulers.decision import Decision, Reshuffle
from schedulers.placing import PlacingScheduler
from schedulers.queue import PendingQueue


class Asked(PlacingScheduler):
    """Start the head of the queue where it is told to, worker by worker.

    While it waits for an answer it decides nothing, so the simulation, whose clock
    stands still meanwhile, goes on with the next event only once it is answered and
    woken. Where one node alone has room, nobody is asked.

    Attributes
    ----------
    asking : the job whose next worker wants a node, if it waits for an answer.
    is_alive : whether it waits for an answer; then no job is hopeless.
    rooms : (nodes,) which nodes have room for it, beside the workers before it.
    """

    name = "Asked"

    def __init__(self, world: World, settings: Settings = DEFAULTS) -> None:
        super().__init__(world, settings)
        self.asking: Job | None = None
        self.rooms: Bools = np.ones(len(world.capacity.nodes), bool)
        self._answers: list[int] = []  # for the workers of the head, in their order
        self._head: Job | None = None  # whose answers they are
        self._next = 0  # worker to be placed

    @property
    def is_alive(self) -> bool:
        """Whether an answer is on its way."""
        return self.asking is not None

    def answer(self, node: int) -> None:
        """Tell the node for the worker that was asked about."""
        self._answers.append(node)
        self.asking = None

    def decide(self, pending: PendingQueue, now: float) -> Decision | Reshuffle | None:
        """See `Scheduler.decide`."""
        if not pending.entries:
            return None
        self._next = 0
        head = pending.head
        if head is not self._head:
            self._head = head
            self._answers.clear()
        placements = self.place(head, now)
        if placements is None:
            return None
        self._answers.clear()
        return Decision(head, placements)

    def choose_node(self, job: Job, now: float) -> int | None:
        """See `PlacingScheduler.choose_node`."""
        rooms = self.capacity.fits(job.request)
        number = int(np.count_nonzero(rooms))
        if number == 0:
            return None
        if number == 1:
            return int(rooms.argmax())
        if self._next < len(self._answers):
            self._next += 1
            return self._answers[self._next - 1]
        self.asking, self.rooms = job, rooms.copy()
        return None
