"""On demand: let the queue's head start now, if what that gives is worth the moves.

The head is blocked although the sum of what is free would hold it. Until it could start
by itself (the earliest time by the expected ends of running jobs), the free GPUs that
the queue could use lie idle: under fifo all that the queue asks for, else what the
head does. These GPU-seconds are saved by the cheapest room (`making_room`), which is
made if they are at least `min_benefit` times the price of its moves.
"""

import math
from typing import NamedTuple

from model.job import WHOLE_GPU
from schedulers.decision import PlannedMove
from schedulers.easy import Easy
from schedulers.planners.draft import Outlook
from schedulers.planners.making_room import make_room
from schedulers.queue import PendingQueue

DAY = 86_400.0  # s; the longest that a head is taken to wait by itself


class Unblocking(NamedTuple):
    """The moves that let the head start now, and the GPU-seconds they should save."""

    moves: list[PlannedMove]
    saved: float


def unblock(outlook: Outlook, pending: PendingQueue) -> Unblocking | None:
    """Return how the head can start now; None if it can anyway, or is not worth it."""
    head, settings = pending.head, outlook.settings
    if outlook.place(head, outlook.now) is not None:
        return None
    saved = _saved(outlook, pending)
    most = saved / settings.min_benefit if settings.min_benefit else math.inf
    if most < settings.cost_of_move(1):
        return None  # not worth a single move
    moves = make_room(outlook, head, settings.max_moves, most)
    return Unblocking(moves, saved) if moves else None


def _saved(outlook: Outlook, pending: PendingQueue) -> float:
    """Return the GPU-seconds that lie idle until the head can start by itself."""
    world, head = outlook.world, pending.head
    if Easy not in outlook.memory:
        outlook.memory[Easy] = Easy(world.capacity, world.held)
    waits = min(outlook.memory[Easy].reserve(head, outlook.now).time - outlook.now, DAY)
    wanted = pending.milli if outlook.settings.queue == "fifo" else head.total_milli
    usable = min(wanted, world.capacity.free_open) / WHOLE_GPU
    saved: float = waits * usable
    return saved
