"""A plan of moves in the making: what if these jobs ran elsewhere.

A planner is a function of an `Outlook` that returns moves; it works on a draft, which
shifts the real capacity and gives everything back, so that the running scheduler's own
`place` says where a job would go.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from model.capacity import Shift
from model.held import Held
from model.job import Placements
from schedulers.base import World
from schedulers.decision import Place, PlannedMove


class Outlook(NamedTuple):
    """What a planner may see, and what it may do.

    Attributes
    ----------
    world : the cluster; a planner leaves it as it was.
    place : where the running scheduler would put a job now.
    limit : how much may be done in one plan, in the planner's own terms.
    movable : whether a running job may be moved at all.
    now : s since the trace began.
    """

    world: World
    place: Place
    limit: int
    movable: Callable[[Held], bool] = lambda held: True
    now: float = 0.0


class Draft:
    """A plan in the making; jobs are where it puts them until its block ends."""

    def __init__(self, outlook: Outlook, shift: Shift) -> None:
        self._outlook = outlook
        self._shift = shift
        self._moved: dict[str, tuple[Held, Placements]] = {}

    def where(self, held: Held) -> Placements:
        """Return where a job is by now."""
        return self._moved.get(held.job.job_id, (held, held.placements))[1]

    def take_out(self, held: Held) -> None:
        """Give back all that the job holds; `put` it somewhere before the end."""
        for placement in self.where(held):
            self._shift(held.job.request, placement, -1)
        self._moved[held.job.job_id] = (held, ())

    def put(self, held: Held, placements: Placements) -> None:
        """Let the job hold these."""
        for placement in placements:
            self._shift(held.job.request, placement, 1)
        self._moved[held.job.job_id] = (held, placements)

    def residents(self, node: int) -> list[Held]:
        """Return the jobs with a worker on the node by now, ordered by id."""
        here = {
            held.job.job_id: held for held in self._outlook.world.held.on_node(node)
        }
        for job_id, (held, _) in self._moved.items():
            here[job_id] = held
        return [
            held
            for _, held in sorted(here.items())
            if any(placement.node == node for placement in self.where(held))
        ]

    def moves(self, reason: str) -> list[PlannedMove]:
        """Return what has changed, in the order in which jobs were taken out."""
        return [
            PlannedMove(held.job, held.placements, placements, reason)
            for held, placements in self._moved.values()
            if placements != held.placements
        ]


@contextmanager
def drafting(outlook: Outlook) -> Iterator[Draft]:
    """Return a draft for the length of a block; afterwards all is as before."""
    with outlook.world.capacity.trial() as shift:
        yield Draft(outlook, shift)


def placed_anew(
    outlook: Outlook, victims: Iterable[Held], reason: str
) -> list[PlannedMove]:
    """Take all victims out at once and put them back in turn, by the scheduler.

    Nothing is lost: a victim that finds no place any more is left out of the plan, and
    the others are placed again without its room.
    """
    victims = list(victims)
    while True:
        with drafting(outlook) as draft:
            for held in victims:
                draft.take_out(held)
            homeless = next(
                (held for held in victims if not _put_back(outlook, draft, held)), None
            )
            if homeless is None:
                return draft.moves(reason)
        victims.remove(homeless)


def _put_back(outlook: Outlook, draft: Draft, held: Held) -> bool:
    placements = outlook.place(held.job, outlook.now)
    if placements is not None:
        draft.put(held, placements)
    return placements is not None
