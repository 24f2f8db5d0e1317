"""On demand: let the queue's head start now, if what that gives is worth the moves.

The head is blocked although the sum of what is free would hold it. Until it could start
by itself (the earliest time by the expected ends of running jobs), the free GPUs that
the queue could use lie idle: under fifo all that the queue asks for, else what the
head does. These GPU-seconds are saved by the cheapest room (`making_room`), which is
made if they are at least `min_benefit` times the price of its moves.
"""

import math

from model.job import WHOLE_GPU
from schedulers.decision import PlannedMove
from schedulers.easy import Easy
from schedulers.planners.draft import Outlook
from schedulers.planners.making_room import make_room
from schedulers.queue import PendingQueue


def unblock(outlook: Outlook, pending: PendingQueue) -> list[PlannedMove]:
    """Return the moves that let the head start now; none if they are not worth it."""
    head, settings = pending.head, outlook.settings
    if outlook.place(head, outlook.now) is not None:
        return []
    saved = _saved(outlook, pending)
    most = saved / settings.min_benefit if settings.min_benefit else math.inf
    if most < settings.cost_of_move(1):
        return []  # not worth a single move
    return make_room(outlook, head, settings.max_moves, most) or []


def _saved(outlook: Outlook, pending: PendingQueue) -> float:
    """Return the GPU-seconds that lie idle until the head can start by itself."""
    world, head = outlook.world, pending.head
    easy = outlook.memory.setdefault(Easy, Easy(world.capacity, world.held))
    reservation = easy.reserve(head, outlook.now)
    wanted = pending.milli if outlook.settings.queue == "fifo" else head.total_milli
    usable = min(wanted, world.capacity.free_open) / WHOLE_GPU
    saved: float = (reservation.time - outlook.now) * usable
    return saved
