"""A plan of moves in the making: what if these jobs ran elsewhere.

A planner is a function of an `Outlook` that returns moves; it works on a draft, which
shifts the real capacity and gives everything back, so that the running scheduler's own
`place` says where a job would go.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from model.capacity import Shift
from model.config import Settings
from model.held import Held
from model.job import WHOLE_GPU, Job, Placements
from schedulers.base import DEFAULTS, World
from schedulers.decision import Place, PlannedMove


@dataclass(frozen=True)
class Outlook:
    """What a planner may see, and what it may do.

    Attributes
    ----------
    world : the cluster; a planner leaves it as it was.
    place : where the running scheduler would put a job now.
    limit : how much may be done in one plan, in the planner's own terms.
    movable : whether a running job may be moved at all.
    now : s since the trace began.
    settings : what a move costs, thresholds and limits.
    waiting : the jobs in the queue, first in line first.
    memory : what planners remember from plan to plan, to be as quick as little changed.
    """

    world: World
    place: Place
    limit: int
    movable: Callable[[Held], bool] = lambda held: True
    now: float = 0.0
    settings: Settings = DEFAULTS
    waiting: Iterable[Job] = ()
    memory: dict[Any, Any] = field(default_factory=dict)

    def lost(self, job: Job) -> float:
        """Return the price of moving a job: GPU-seconds, as of one GPU at least."""
        gpus = job.num_gpus * job.num_workers
        size = max(job.total_milli, WHOLE_GPU) / WHOLE_GPU
        return self.settings.cost_of_move(gpus) * size

    def home(self, held: Held) -> Placements | None:
        """Return where the scheduler would put what is left of a running job."""
        left = max(0.0, held.expected_end - self.now)
        return self.place(replace(held.job, estimated_duration=left), self.now)


Step = tuple[Held, Placements, Placements]  # who, from where, to where


class Draft:
    """A plan in the making; jobs are where it puts them until its block ends."""

    def __init__(self, outlook: Outlook, shift: Shift) -> None:
        self._outlook = outlook
        self._shift = shift
        self._moved: dict[str, tuple[Held, Placements]] = {}
        self._log: list[Step] = []
        self._tenants: dict[int, list[list[Held]]] = {}

    def where(self, held: Held) -> Placements:
        """Return where a job is by now; nowhere if it is taken out."""
        return self._moved.get(held.job.job_id, (held, held.placements))[1]

    def take_out(self, held: Held) -> None:
        """Give back all that the job holds; `put` it somewhere before the end."""
        self._move(held, self.where(held), ())

    def put(self, held: Held, placements: Placements) -> None:
        """Let a job that is taken out hold these."""
        self._move(held, (), placements)

    def _move(self, held: Held, source: Placements, destination: Placements) -> None:
        for placements, sign in ((source, -1), (destination, 1)):
            for placement in placements:
                self._shift(held.job.request, placement, sign)
                self._tenants.pop(placement.node, None)
        self._moved[held.job.job_id] = (held, destination)
        self._log.append((held, source, destination))

    def mark(self) -> int:
        """Return a point to which `undo` can go back."""
        return len(self._log)

    def undo(self, mark: int) -> None:
        """Take back all that was done since a mark."""
        for held, source, destination in reversed(self._log[mark:]):
            self._move(held, destination, source)
        del self._log[mark:]

    def since(self, mark: int) -> list[Step]:
        """Return what was done since a mark, for `redo`."""
        return self._log[mark:]

    def redo(self, steps: Iterable[Step]) -> None:
        """Do again what was undone, from the state in which it was done."""
        for held, source, destination in steps:
            self._move(held, source, destination)

    def residents(self, node: int) -> list[Held]:
        """Return the jobs with a worker on the node by now, ordered by id."""
        here = {
            held.job.job_id: held
            for held in self._outlook.world.held.on_node(node)
            if held.job.job_id not in self._moved
        }
        for job_id, (held, placements) in self._moved.items():
            if any(placement.node == node for placement in placements):
                here[job_id] = held
        return [held for _, held in sorted(here.items())]

    def tenants(self, node: int) -> list[list[Held]]:
        """Return the jobs on each device of a node by now; not to be changed."""
        known = self._tenants.get(node)
        if known is None:
            known = [[] for _ in self._outlook.world.capacity.rows[node]]
            for held in self.residents(node):
                for placement in self.where(held):
                    if placement.node == node:
                        for gpu in placement.gpus:
                            known[gpu].append(held)
            self._tenants[node] = known
        return known

    def number(self) -> int:
        """Return how many running jobs are elsewhere by now, or nowhere."""
        return sum(1 for _ in self._elsewhere())

    def lost(self) -> float:
        """Return the GPU-seconds that the moves so far cost."""
        return sum(self._outlook.lost(held.job) for held in self._elsewhere())

    def _elsewhere(self) -> Iterator[Held]:
        return (
            held
            for held, placements in self._moved.values()
            if held.placements not in ((), placements)
        )

    def moves(self, reason: str) -> list[PlannedMove]:
        """Return what has changed, in the order in which jobs were taken out."""
        return [
            PlannedMove(held.job, held.placements, self.where(held), reason)
            for held in self._elsewhere()
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
    placements = outlook.home(held)
    if placements is not None:
        draft.put(held, placements)
    return placements is not None
