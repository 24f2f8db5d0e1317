"""The order in which the moves of a plan can be carried out, one step after the other.

A step is one move, or a few that must happen together: jobs that trade places stop
all, then start all. Each step fits into what the steps before it have left.
"""

from collections.abc import Sequence

from model.capacity import Capacity, Shift
from model.job import Placements, Request
from schedulers.decision import PlannedMove

Stage = tuple[PlannedMove, ...]


def staged(capacity: Capacity, moves: Sequence[PlannedMove]) -> list[Stage]:
    """Return the moves in steps, each as small as can be.

    Raises
    ------
    ValueError
        If not even all moves at once fit.
    """
    left, stages = list(moves), []
    with capacity.trial() as shift:
        while left:
            stage = _next_stage(capacity, shift, left)
            stages.append(stage)
            left = [move for move in left if move not in stage]
    return stages


def _next_stage(capacity: Capacity, shift: Shift, left: Sequence[PlannedMove]) -> Stage:
    """Carry out, in the trial, the first move that fits, or the smallest group."""
    groups = [
        _closed_group(left, move, size) for size in (1, 2, len(left)) for move in left
    ]
    for group in [*groups, tuple(left)]:
        if _fits(capacity, shift, group):
            return group
    raise ValueError("the moves do not fit, even all at once")


def _closed_group(left: Sequence[PlannedMove], first: PlannedMove, size: int) -> Stage:
    """Return a move with those that hold what it wants, and so on, up to *size*."""
    group = [first]
    for member in group:
        for other in left:
            wanted = _nodes(member.destination) & _nodes(other.source)
            if wanted and len(group) < size and other not in group:
                group.append(other)
    return tuple(group)


def _fits(capacity: Capacity, shift: Shift, group: Stage) -> bool:
    """Let the group move, in the trial; go back if anything is in the way."""
    for move in group:
        _shift_all(shift, move.job.request, move.source, -1)
    taken: list[PlannedMove] = []
    for move in group:
        request = (move.form or move.job).request
        if not all(capacity.has_room(request, place) for place in move.destination):
            break
        _shift_all(shift, request, move.destination, 1)
        taken.append(move)
    else:
        return True
    for move in taken:
        _shift_all(shift, (move.form or move.job).request, move.destination, -1)
    for move in group:
        _shift_all(shift, move.job.request, move.source, 1)
    return False


def _shift_all(
    shift: Shift, request: Request, placements: Placements, sign: int
) -> None:
    for placement in placements:
        shift(request, placement, sign)


def _nodes(placements: Placements) -> set[int]:
    return {placement.node for placement in placements}
