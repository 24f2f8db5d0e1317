"""A real cluster's snapshot, on which a plan can be made and tried, step by step."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from model.capacity import Capacity
from model.config import Settings
from model.errors import PlacementError, UserError
from model.fragmentation import Fragmentation
from model.held import Held, HeldJobs
from model.job import WHOLE_GPU, Placements
from model.snapshot import Snapshot
from model.streams import stream
from model.target import target_workload
from schedulers.base import Scheduler, World
from schedulers.decision import PlannedMove
from schedulers.planners.draft import Outlook
from schedulers.planners.registry import planners_of
from schedulers.planners.staging import staged
from schedulers.registry import scheduler_class


class Scene:
    """The cluster of a snapshot, on which moves can be tried."""

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self._settings = settings
        self._snapshot = snapshot
        self.nodes = snapshot.nodes
        self._capacity = Capacity(snapshot.nodes, settings.resource_names)
        self._held = HeldJobs()
        for job, placements in snapshot.running:
            for placement in placements:
                self._capacity.shift(job.request, placement, 1)
            self._held.add(Held(job, placements, job.estimate))
        self._check_room()
        for node in snapshot.closed:
            self._capacity.set_open(node, False)
        jobs = [*snapshot.waiting, *(job for job, _ in snapshot.running)]
        whole = target_workload(jobs, 1.0)
        self._fragmentation = Fragmentation(self._capacity, whole)
        world = World(
            self._capacity,
            self._fragmentation,
            self._held,
            stream(settings.seed, "scheduler"),
            whole,
        )
        self._world = world
        known = scheduler_class(settings.scheduler, settings)
        self._scheduler: Scheduler = known(world, settings)

    def _check_room(self) -> None:
        """Raise UserError if jobs hold more CPU or memory of a node than it has."""
        counted = {"CPU": self._capacity.free_cpu, "memory": self._capacity.free_memory}
        for name, free in counted.items():
            if (free < 0).any():
                node = self.nodes[int(free.argmin())].name
                raise UserError(
                    f"the jobs on node {node} hold more {name} than it has "
                    f"(leave it out with --resources)"
                )

    def plan(self, budget: float) -> list[PlannedMove]:
        """Return the moves of the planner that the budget allows, in safe order."""
        outlook = Outlook(
            self._world,
            self._scheduler.place,
            self._settings.re_num,
            lambda held: not self._settings.exempts(held.job),
            settings=self._settings,
            waiting=self._snapshot.waiting,
        )
        plan = planners_of(self._settings.planner, self._scheduler.planners)[-1]
        moves = plan(outlook)
        limit = min(outlook.limit, len(moves))
        while sum(map(self._gpu_seconds, moves)) > budget:
            limit -= 1
            moves = plan(replace(outlook, limit=limit)) if limit else []
        return moves

    def _gpu_seconds(self, move: PlannedMove) -> float:
        return self._cost(move) * move.job.total_milli / WHOLE_GPU

    def _cost(self, move: PlannedMove) -> float:
        return self._settings.cost_of_move(move.job.num_gpus * move.job.num_workers)

    def carry_out(self, moves: Sequence[PlannedMove]) -> list[tuple[object, ...]]:
        """Apply the moves step by step, each checked; return a row for each.

        Step, job, from, to, why, s without progress, GPU-seconds lost.
        """
        rows: list[tuple[object, ...]] = []
        for step, stage in enumerate(staged(self._capacity, moves), start=1):
            for move in stage:
                self._shift(move, move.source, -1)
            for move in stage:
                self._shift(move, move.destination, 1)
                rows.append(
                    (
                        step,
                        move.job.job_id,
                        self._names(move.source),
                        self._names(move.destination),
                        move.reason,
                        self._cost(move),
                        self._gpu_seconds(move),
                    )
                )
        return rows

    def _shift(self, move: PlannedMove, places: Placements, sign: int) -> None:
        for placement in places:
            self._capacity.shift(move.job.request, placement, sign)
            if min(self._capacity.rows[placement.node]) < 0:
                raise PlacementError(f"step of {move.job.job_id} does not fit")

    def _names(self, places: Placements) -> str:
        nodes = self._snapshot.nodes
        return ";".join(
            f"{nodes[node].name}:{'+'.join(map(str, gpus))}" for node, gpus in places
        )

    def held_shares(self) -> NDArray[np.float64]:
        """Return the share of each GPU that is held, (nodes, gpus), nan if none."""
        capacity = self._capacity
        return np.where(capacity.exists, 1 - capacity.free / WHOLE_GPU, np.nan)

    def state(self) -> dict[str, object]:
        """Return what the cluster could do now."""
        capacity = self._capacity
        open_nodes = capacity.open & (capacity.num_gpus > 0)
        return {
            "free_gpus": capacity.free_open / WHOLE_GPU,
            "whole_free_gpus": int(capacity.whole[open_nodes].sum()),
            "idle_nodes": int((capacity.idle & open_nodes).sum()),
            "largest_job_gpus": int(capacity.whole[open_nodes].max(initial=0)),
            "fragmented_gpus": round(
                self._fragmentation.total / self._fragmentation.weight / WHOLE_GPU, 3
            ),
            "waiting_jobs": len(self._snapshot.waiting),
            "startable_jobs": self._startable(),
        }

    def _startable(self) -> list[str]:
        """Return which waiting jobs could start, one after the other, by backfill."""
        started = []
        with self._capacity.trial() as shift:
            for job in self._snapshot.waiting:
                placements = self._scheduler.place(job, 0.0)
                if placements is not None:
                    started.append(job.job_id)
                    for placement in placements:
                        shift(job.request, placement, 1)
        return started
