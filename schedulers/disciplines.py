"""Queue disciplines: which of the waiting jobs may start next.

A discipline is a function of the queue, of `place` (where would this job go now, or
None) and of the clock. No SimPy in it, so each is tested by hand. EASY, which looks
at the running jobs too, has a file of its own.
"""

from collections.abc import Callable
from typing import NamedTuple

from model.capacity import Capacity
from model.held import HeldJobs
from schedulers.decision import Decision, Place
from schedulers.easy import Easy
from schedulers.queue import Order, PendingQueue, by_estimate, by_submission

Choose = Callable[[PendingQueue, Place, float], Decision | None]


def head_blocks(pending: PendingQueue, place: Place, now: float) -> Decision | None:
    """Start the head or nobody: everyone waits behind a head that does not fit."""
    head = pending.entries[0][2]
    placements = place(head, now)
    return Decision(head, placements) if placements else None


def backfill(pending: PendingQueue, place: Place, now: float) -> Decision | None:
    """Start the first job in line that fits; a large head may wait for ever.

    Jobs of one kind fit or do not fit together, so one of each kind is tried.
    """
    for kind in pending.kinds():
        job = pending.of_kind(kind)[0][2]
        placements = place(job, now)
        if placements:
            return Decision(job, placements)
    return None


class Discipline(NamedTuple):
    """How the queue is ordered, and what chooses from it on a given cluster."""

    order: Order
    chooser: Callable[[Capacity, HeldJobs], Choose]


def _always(choose: Choose) -> Callable[[Capacity, HeldJobs], Choose]:
    return lambda capacity, held: choose


DISCIPLINES = {
    "fifo": Discipline(by_submission, _always(head_blocks)),
    "backfill": Discipline(by_submission, _always(backfill)),
    "easy": Discipline(by_submission, Easy),
    "sjf": Discipline(by_estimate, _always(head_blocks)),
}
