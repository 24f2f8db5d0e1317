"""Ours: moves that give useful capacity back, the most for each GPU-second lost.

What counts is the demand that could start at once. For every kind of job in the queue
and in the workload that fits nowhere now though enough is free, the cheapest moves that
would let one start are sought (`making_room`). Its worth is its share of the demand; of
all kinds the one with the most worth per GPU-second lost is made room for, then the
next, up to `re_num` kinds and `max_moves` moves, as long as a kind is worth at least
`min_improvement`. Kinds that wait share half of the worth, the workload the other.
"""

import heapq
from collections import Counter
from typing import NamedTuple

from model.job import Job
from schedulers.decision import PlannedMove
from schedulers.planners.draft import Draft, Outlook, drafting
from schedulers.planners.making_room import Room, find_room
from schedulers.queue import Kind, kind_of

Worth = dict[Kind, float]
FREE = 1e-6  # GPU-seconds, what moves count as that cost nothing


def give_back(outlook: Outlook) -> list[PlannedMove]:
    """Return the moves that let the most worthy kinds start."""
    worth = wanted_kinds(outlook)
    with drafting(outlook) as draft:
        offers = [
            offer for kind in worth if (offer := _offer(outlook, draft, kind, worth, 0))
        ]
        heapq.heapify(offers)
        made = 0
        while offers and made < outlook.limit:
            best: Offer | None = heapq.heappop(offers)
            if best and best.made < made:  # others have moved since
                best = _offer(outlook, draft, best.kind, worth, made)
            if best and offers and best > offers[0]:
                heapq.heappush(offers, best)
            elif best:
                draft.redo(best.room.steps)
                made += 1
        return draft.moves("makes room for others")


class Offer(NamedTuple):
    """Room that could be made for a kind; the least is the best.

    *cost* is minus worth per GPU-second lost, *place* that of the kind, and *made* how
    many offers had been taken by then.
    """

    cost: float
    place: int
    made: int
    kind: Kind
    room: Room


def _offer(
    outlook: Outlook, draft: Draft, kind: Kind, worth: Worth, made: int
) -> Offer | None:
    """Return what room for a kind is worth, None if it has room or cannot get it."""
    job = example(kind)
    if not outlook.world.capacity.pool_holds(job) or outlook.place(job, outlook.now):
        return None
    room = find_room(outlook, draft, job, _most(outlook))
    if room is None or not room.steps:
        return None
    cost = -worth[kind] / max(room.lost, FREE)
    return Offer(cost, [*worth].index(kind), made, kind, room)


def _most(outlook: Outlook) -> int:
    return outlook.settings.max_moves


def readiness(outlook: Outlook) -> float:
    """Return the share of the demand that could start at once, 0 to 1."""
    return sum(
        value
        for kind, value in wanted_kinds(outlook).items()
        if outlook.place(example(kind), outlook.now) is not None
    )


def wanted_kinds(outlook: Outlook) -> Worth:
    """Return the share of the demand that each kind of GPU job has, if large enough.

    Without a workload, that of the running jobs stands for it.
    """
    waiting: Counter[Kind] = Counter()
    for job in outlook.waiting:
        waiting[kind_of(job)] += job.total_milli
    known: Counter[Kind] = Counter()
    for request, weight in outlook.world.workload.kinds():
        known[request, 1] += weight * request.num_gpus * request.gpu_milli
    if not known:
        for held in outlook.world.held:
            known[kind_of(held.job)] += held.job.total_milli
    worth: Counter[Kind] = Counter()
    for part in (waiting, known):
        for kind, milli in part.items():
            if milli:
                worth[kind] += milli / part.total() / 2  # type: ignore[assignment]
    least = outlook.settings.min_improvement
    return {kind: value for kind, value in worth.items() if value >= least}


def example(kind: Kind) -> Job:
    """Return a job of that kind."""
    request, num_workers = kind
    return Job(
        "wanted",
        0.0,
        0.0,
        request.num_gpus,
        request.gpu_milli,
        request.cpu_milli,
        request.memory_mib,
        request.gpu_type,
        num_workers,
    )
