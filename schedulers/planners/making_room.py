"""The cheapest set of moves that lets a job start now.

For a job that fits nowhere though the sum of what is free would hold it: on each node
the devices that are cheapest to clear are chosen, the jobs on them are taken out, the
job is put there, and the victims, largest first, are placed elsewhere by the running
scheduler. A victim that finds no place may in turn displace smaller jobs (chains and
swaps of two). Of the nodes tried, the one with the fewest GPU-seconds lost is taken.
The search is bounded by a number of nodes tried, so that it takes the same way on any
machine.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from operator import itemgetter
from typing import NamedTuple

from model.held import Held
from model.job import Job, Placement, Placements
from schedulers.decision import PlannedMove
from schedulers.planners.draft import Draft, Outlook, Step, drafting

TRIED = 4  # nodes, cheapest first, for each job that needs room
DEPTH = 2  # a job displaces others, and those may displace others yet


class Clearing(NamedTuple):
    """One way to make room for one worker on a node."""

    lost: float  # GPU-seconds
    placement: Placement
    victims: tuple[Held, ...]


Offer = tuple[float, int, int, list[Held]]  # price, minus free, device, who must go


class Room(NamedTuple):
    """How a job could start, and what it costs the others."""

    placements: Placements
    steps: list[Step]  # of the draft, for running jobs only
    lost: float  # GPU-seconds, of these steps


def make_room(
    outlook: Outlook, job: Job, max_moves: int, most: float = math.inf
) -> list[PlannedMove] | None:
    """Return the moves that let the job start now, none if it needs none, or None.

    At most *max_moves* jobs move, at a price of at most *most* GPU-seconds.
    """
    with drafting(outlook) as draft:
        room = find_room(outlook, draft, job, max_moves, most)
        if room is None:
            return None
        draft.redo(room.steps)
        return draft.moves("makes room")


def find_room(
    outlook: Outlook, draft: Draft, job: Job, max_moves: int, most: float = math.inf
) -> Room | None:
    """Return how the job could start, for what price at most.

    Parameters
    ----------
    draft : the plan so far; it is left as it is.
    max_moves : jobs moved in the draft, with those before.
    most : GPU-seconds lost for it.
    """
    newcomer = Held(job, (), outlook.now + job.estimate)
    mark, before = draft.mark(), draft.lost()
    if not _Search(outlook, draft, max_moves, most).settle(newcomer, DEPTH):
        return None
    placements, lost = draft.where(newcomer), draft.lost() - before
    if lost > most:
        draft.undo(mark)
        return None
    steps = [step for step in draft.since(mark) if step[0].placements]
    draft.undo(mark)
    return Room(placements, steps, lost)


class _Search:
    """Settles jobs one by one, displacing others if it must."""

    def __init__(
        self, outlook: Outlook, draft: Draft, max_moves: int, most: float
    ) -> None:
        self._outlook = outlook
        self._draft = draft
        self._capacity = outlook.world.capacity
        self._max_moves = max_moves
        self._most = most  # GPU-seconds that one clearing may cost
        self._movable: dict[str, bool] = {}
        self._refused = False  # whether some job was not movable, which may change
        self._fixed: set[str] = set()  # jobs that must stay where the draft has them

    def settle(self, held: Held, depth: int) -> bool:
        """Put a job that is nowhere somewhere, in the draft; undo all if it fails."""
        placements = self._outlook.home(held)
        if placements is not None:
            self._draft.put(held, placements)
            self._fixed.add(held.job.job_id)
            return True
        if depth == 0:
            return False
        if held.job.num_workers > 1:
            return self._settle_gang(held, depth)
        return self._displace(held, depth)

    def _displace(self, held: Held, depth: int) -> bool:
        """Try the nodes that are cheapest to clear; keep the cheapest way."""
        ways = sorted(self._clearings(held.job), key=lambda way: (way.lost, way[1]))
        best: tuple[float, list[Step]] | None = None
        mark, fixed = self._draft.mark(), set(self._fixed)
        for way in ways[:TRIED]:
            if best is not None and way.lost >= best[0]:
                break
            if self._clear(held, way, depth):
                lost = self._draft.lost()
                if best is None or lost < best[0]:
                    best = (lost, self._draft.since(mark))
            self._draft.undo(mark)
            self._fixed = set(fixed)
        if best is None:
            return False
        self._draft.redo(best[1])
        self._fixed |= {moved.job.job_id for moved, _, _ in best[1]}
        return True

    def _clear(self, held: Held, way: Clearing, depth: int) -> bool:
        """Put the job where the victims are, and them elsewhere."""
        for victim in way.victims:
            self._draft.take_out(victim)
        if self._draft.number() > self._max_moves:
            return False
        if not self._capacity.has_room(held.job.request, way.placement):
            return False
        self._draft.put(held, (way.placement,))
        self._fixed.add(held.job.job_id)
        largest = sorted(way.victims, key=lambda victim: -victim.job.total_milli)
        return (
            all(self.settle(victim, depth - 1) for victim in largest)
            and self._draft.number() <= self._max_moves
        )

    def _settle_gang(self, held: Held, depth: int) -> bool:
        """Give each worker a place of its own, one after the other."""
        mark, job = self._draft.mark(), held.job
        workers = [
            Held(replace(job, job_id=f"{job.job_id}/{rank}", num_workers=1), (), 0.0)
            for rank in range(job.num_workers)
        ]
        if not all(self.settle(worker, depth) for worker in workers):
            self._draft.undo(mark)
            return False
        placements = tuple(self._draft.where(worker)[0] for worker in workers)
        for worker in workers:
            self._draft.take_out(worker)
        self._draft.put(held, placements)
        self._fixed.add(job.job_id)
        return True

    def _clearings(self, job: Job) -> list[Clearing]:
        """Return the cheapest way to clear each node that is large enough."""
        capacity = self._capacity
        able = capacity.open & capacity.accessible(job.gpu_type)
        able &= capacity.num_gpus >= max(1, job.num_gpus)
        ways = (self._known_clearing(job, node) for node in able.nonzero()[0].tolist())
        return [way for way in ways if way is not None and way.lost <= self._most]

    def _known_clearing(self, job: Job, node: int) -> Clearing | None:
        """Return the cheapest way from memory if the node has not changed since."""
        key = (node, job.num_gpus, job.gpu_milli)
        version = int(self._capacity.changed_at[node])
        known = self._outlook.memory.get(key)
        if known is None or known[0] != version or not self._holds(known[1]):
            self._refused = False
            known = (version, self._clearing(job, node))
            if known[1] is not None or not self._refused:
                self._outlook.memory[key] = known
        way: Clearing | None = known[1]
        return way

    def _holds(self, way: Clearing | None) -> bool:
        return way is None or all(map(self._is_movable, way.victims))

    def _clearing(self, job: Job, node: int) -> Clearing | None:
        """Choose devices one by one, each the cheapest to clear given those before."""
        tenants, row = self._draft.tenants(node), self._capacity.rows[node]
        victims: dict[str, Held] = {}
        chosen: list[int] = []
        offers: dict[int, Offer] = {}
        stale: Iterable[int] = range(self._capacity.nodes[node].num_gpus)
        while len(chosen) < max(1, job.num_gpus):
            for gpu in stale:
                offers.pop(gpu, None)
                evicted = self._to_evict(job, tenants[gpu], row[gpu], victims)
                if evicted is not None and gpu not in chosen:
                    lost = sum(self._outlook.lost(held.job) for held in evicted)
                    offers[gpu] = (lost, -row[gpu], gpu, evicted)
            if not offers:
                return None
            _, _, gpu, evicted = min(offers.values(), key=itemgetter(0, 1, 2))
            chosen.append(gpu)
            del offers[gpu]
            victims |= {held.job.job_id: held for held in evicted}
            stale = {  # whose tenants go for this device anyway
                other
                for held in evicted
                for place in self._draft.where(held)
                if place.node == node
                for other in place.gpus
            }
        lost = sum(self._outlook.lost(held.job) for held in victims.values())
        gpus = tuple(sorted(chosen)) if job.num_gpus else ()
        return Clearing(lost, Placement(node, gpus), tuple(victims.values()))

    def _to_evict(
        self, job: Job, tenants: list[Held], free: int, victims: dict[str, Held]
    ) -> list[Held] | None:
        """Return which tenants must go for the job's share, largest first."""
        need = job.gpu_milli - free
        need -= sum(t.job.gpu_milli for t in tenants if t.job.job_id in victims)
        evicted: list[Held] = []
        able = [
            tenant
            for tenant in tenants
            if tenant.job.job_id not in victims and self._may_go(tenant, job)
        ]
        able.sort(key=lambda tenant: (-tenant.job.gpu_milli, tenant.job.job_id))
        for tenant in able:
            if need <= 0:
                break
            evicted.append(tenant)
            need -= tenant.job.gpu_milli
        return evicted if need <= 0 else None

    def _may_go(self, tenant: Held, job: Job) -> bool:
        """Return whether a tenant is smaller than the job, movable, not moved yet."""
        return (
            tenant.job.total_milli < job.total_milli
            and tenant.job.job_id not in self._fixed
            and self._is_movable(tenant)
        )

    def _is_movable(self, held: Held) -> bool:
        known = self._movable.get(held.job.job_id)
        if known is None:
            known = self._movable[held.job.job_id] = self._outlook.movable(held)
        self._refused |= not known
        return known
