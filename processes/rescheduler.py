"""The rescheduler: moves running jobs, in rounds or when the queue is blocked.

Every plan is made on a draft, checked against the real cluster, and only then carried
out: in one instant, at the price of a migration, with a record of each move. A job that
has been moved often enough or just now, that will end soon, or that is exempt stays.
"""

from collections.abc import Generator, Sequence
from typing import Any

from simpy import Event

from model.config import Settings
from model.held import Held
from processes.dispatcher import Dispatcher
from processes.instant import DISTURBANCE, Moment, Timeline
from processes.migration import Mover
from schedulers.base import World
from schedulers.decision import PlannedMove
from schedulers.planners.draft import Outlook
from schedulers.planners.registry import planners_of
from schedulers.planners.unblocking import unblock


class Rescheduler:
    """Plans and carries out moves.

    Parameters
    ----------
    world : what planners see; of the running scheduler.
    mover : carries the moves out.
    """

    def __init__(
        self,
        env: Timeline,
        world: World,
        dispatcher: Dispatcher,
        mover: Mover,
        settings: Settings,
    ) -> None:
        self._env = env
        self._world = world
        self._dispatcher = dispatcher
        self._mover = mover
        self._settings = settings
        self._moved_at: dict[str, float] = {}
        self._memory: dict[Any, Any] = {}
        self._rounds = self._unblocked = 0
        self._saved = 0.0  # GPU-seconds
        self._blocked_at = -1  # clock of the capacity when nothing unblocked the head

    def measures(self) -> dict[str, float]:
        """Return what rescheduling has done, for summary.json.

        rescheduling_rounds : rounds held.
        unblocked_heads : heads of the queue that moves let start at once.
        unblocked_gpu_seconds : GPU-seconds that would have lain idle until those heads
            could start by themselves, by the estimates.
        """
        return {
            "rescheduling_rounds": self._rounds,
            "unblocked_heads": self._unblocked,
            "unblocked_gpu_seconds": self._saved,
        }

    def rounds(self) -> Generator[Event, Any, None]:
        """Hold a round every `re_time` s."""
        scheduler, number = self._dispatcher.scheduler, 0
        planners = planners_of(self._settings.planner, scheduler.planners)
        while True:
            number += 1
            time = number * self._settings.re_time
            for plan in planners:  # jobs that one moves hear of it before the next
                yield Moment(self._env, time, DISTURBANCE)
                moves = plan(self._outlook())
                if moves and scheduler.welcomes(moves, time):
                    self._carry_out(moves)
            self._rounds = number

    def after_pass(self, now: float) -> None:
        """Let a blocked head start by moves, if that is worth it."""
        pending, capacity = self._dispatcher.pending, self._world.capacity
        if not pending.entries or self._blocked_at == capacity.clock:
            return
        if capacity.pool_holds(pending.head):
            found = unblock(self._outlook(), pending)
            if found is not None:
                self._unblocked += 1
                self._saved += found.saved
                self._carry_out(found.moves)
        self._blocked_at = capacity.clock

    def _carry_out(self, moves: Sequence[PlannedMove]) -> None:
        if not moves:
            return
        self._mover.relocate(moves)
        for move in moves:
            self._moved_at[move.job.job_id] = self._env.now
        self._dispatcher.wake()

    def _outlook(self) -> Outlook:
        settings = self._settings
        return Outlook(
            self._world,
            self._dispatcher.scheduler.place,
            settings.re_num,
            self.movable,
            self._env.now,
            settings,
            self._dispatcher.pending,
            self._memory,
        )

    def movable(self, held: Held) -> bool:
        """Return whether a running job may be moved now."""
        job, settings, now = held.job, self._settings, self._env.now
        progress = self._dispatcher.progress[job.job_id]
        cost = settings.cost_of_move(job.num_gpus * job.num_workers)
        return (
            progress.moves < settings.max_moves_per_job
            and held.expected_end - now > settings.min_remaining * cost
            and now - self._moved_at.get(job.job_id, -settings.cooldown)
            >= settings.cooldown
            and not progress.doomed
            and not settings.exempts(job)
        )
