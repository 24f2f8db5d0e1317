"""EASY backfilling: overtake the head only if that cannot delay it.

The blocked head gets a reservation: the earliest time at which enough running jobs
should have ended (by their estimates) for it to start, and the nodes where. Another
job may start now if it should end by then, or if it leaves the head's share alone.
Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995, on nodes with several devices.
"""

import heapq
from typing import NamedTuple

import numpy as np

from model.capacity import Capacity
from model.held import HeldJobs
from model.job import Job, Placement, Placements, Request
from schedulers.decision import Decision, Place
from schedulers.queue import Entry, Kind, PendingQueue
from schedulers.room import Room


class Reservation(NamedTuple):
    """When the head should start, and what its nodes can spare from then on."""

    time: float
    spare: dict[int, Room]

    def spares(self, job: Job, placements: Placements) -> bool:
        """Return whether the job could stay there and the head start in time."""
        taken: list[Placement] = []
        harmless = True
        for placement in placements:
            room = self.spare.get(placement.node)
            if room is None:
                continue
            if not room.fits(job.request, placement.gpus):
                harmless = False
                break
            room.add(job.request, placement.gpus, -1)
            taken.append(placement)
        for node, gpus in taken:
            self.spare[node].add(job.request, gpus)
        return harmless


class Easy:
    """Chooses by EASY; remembers when each node will have room for the head's kind."""

    def __init__(self, capacity: Capacity, held: HeldJobs) -> None:
        self._capacity, self._held = capacity, held
        self._kind: Kind | None = None
        self._seen = 0
        self._times: list[list[float]] = [[] for _ in capacity.nodes]
        self._first = np.full(len(capacity.nodes), np.inf)  # (nodes,) s

    def __call__(
        self, pending: PendingQueue, place: Place, now: float
    ) -> Decision | None:
        """Return the head if it fits, else the first job that cannot delay it."""
        head = pending.head
        placements = place(head, now)
        if placements:
            return Decision(head, placements)
        reservation = self.reserve(head, now)
        best: Entry | None = None
        chosen: Placements = ()
        for kind in pending.kinds():
            found = self._first_harmless(pending.of_kind(kind), place, reservation, now)
            if found and (best is None or found[0] < best):
                best, chosen = found
        return Decision(best[2], chosen) if best else None

    def _first_harmless(
        self, entries: list[Entry], place: Place, reservation: Reservation, now: float
    ) -> tuple[Entry, Placements] | None:
        """Return the first job of a kind that may start and cannot delay the head."""
        first = entries[0][2]
        placements = place(first, now)
        if placements is None:
            return None
        if reservation.spares(first, placements):
            return entries[0], placements
        with self._capacity.closed(reservation.spare):
            elsewhere = place(first, now)
        if elsewhere:
            return entries[0], elsewhere
        for entry in entries:
            if now + entry[2].estimate <= reservation.time:
                return entry, placements
        return None

    def reserve(self, head: Job, now: float) -> Reservation:
        """Return the earliest start of a job that does not fit now.

        The time is infinite if the running jobs' ends do not make room for it, as when
        nodes have left; then nothing can delay it.
        """
        self._bring_up_to_date((head.request, head.num_workers))
        if head.num_workers == 1:
            node = int(np.maximum(self._first, now).argmin())
            slots = [(float(self._first[node]), node)]
        else:
            slots = heapq.nsmallest(
                head.num_workers,
                (
                    (max(now, time), node)
                    for node, times in enumerate(self._times)
                    for time in times
                ),
            )
        time = max([time for time, _ in slots], default=np.inf)
        if len(slots) < head.num_workers or time == np.inf:
            return Reservation(np.inf, {})
        time = max(now, time)
        spare = {node: self._room_at(node, time) for _, node in slots}
        for _, node in slots:
            gpus = spare[node].place(head.request)
            spare[node].add(head.request, gpus or (), -1)
        return Reservation(time, spare)

    def _bring_up_to_date(self, kind: Kind) -> None:
        """Recompute the times of the nodes that changed, all for another kind."""
        if kind != self._kind:
            self._kind, self._seen = kind, 0
        for node in (self._capacity.changed_at > self._seen).nonzero()[0].tolist():
            self._times[node] = self._worker_times(node, *kind)
            self._first[node] = self._times[node][0] if self._times[node] else np.inf
        self._seen = self._capacity.clock

    def _worker_times(self, node: int, request: Request, most: int) -> list[float]:
        """Return when the node will have room for its first, second, ... worker."""
        capacity = self._capacity
        if not capacity.open[node] or not capacity.accessible(request.gpu_type)[node]:
            return []
        room = Room(capacity, node)
        times = [-np.inf] * room.workers(request, most)
        for end, job, gpus in self._ends(node):
            if len(times) == most:
                break
            room.add(job.request, gpus)
            times += [end] * (room.workers(request, most) - len(times))
        return times

    def _room_at(self, node: int, time: float) -> Room:
        room = Room(self._capacity, node)
        for end, job, gpus in self._ends(node):
            if end <= time:
                room.add(job.request, gpus)
        return room

    def _ends(self, node: int) -> list[tuple[float, Job, tuple[int, ...]]]:
        """Return the expected ends of the workers on a node, first to end first."""
        ends = [
            (held.expected_end, held.job, placement.gpus)
            for held in self._held.on_node(node)
            for placement in held.placements
            if placement.node == node
        ]
        return sorted(ends, key=lambda entry: entry[0])
