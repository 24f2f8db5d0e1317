"""Carries out moves of running jobs: at once, at a price, and with a record of each."""

from collections.abc import Sequence

from simpy import Environment

from model.cluster import Cluster, Relocation
from model.config import Settings
from model.held import Held
from model.result import Move
from processes.dispatcher import Dispatcher
from processes.progress import Evicted, Migrated
from schedulers.decision import PlannedMove


class Mover:
    """Moves running jobs and sends them back to the queue.

    Attributes
    ----------
    moves : what has been done, in the order of time.
    """

    def __init__(
        self,
        env: Environment,
        cluster: Cluster,
        dispatcher: Dispatcher,
        settings: Settings,
    ) -> None:
        self.moves: list[Move] = []
        self._env = env
        self._cluster = cluster
        self._dispatcher = dispatcher
        self._settings = settings

    def relocate(self, planned: Sequence[PlannedMove]) -> None:
        """Move jobs in one instant: each gives its GPUs back, then each takes others.

        Moves without a destination send their jobs back to the queue, whose GPUs are
        free once their processes have heard of it, in this instant.

        Raises
        ------
        PlacementError
            If a destination does not fit; then nobody has moved.
        """
        going = [move for move in planned if move.destination]
        self._cluster.relocate([self._relocation(move) for move in going])
        for move in going:
            cost = self.cost(move)
            self._note(move, cost)
            cause = Migrated(cost, move.speed)
            self._dispatcher.disturb(move.job.job_id, cause)
        for move in planned:
            if not move.destination:
                held = self._cluster.held[move.job.job_id]
                self.evict(held, move.reason, move.cost)

    def evict(
        self,
        held: Held,
        reason: str,
        cost: float | None = None,
        saved_every: float | None = None,
    ) -> None:
        """Send a running job back to the queue; it pauses when it runs again.

        Parameters
        ----------
        saved_every : see `Evicted`.
        """
        move = PlannedMove(held.job, held.placements, (), reason, cost=cost)
        self._note(move, self.cost(move))
        self._dispatcher.disturb(held.job.job_id, Evicted(self.cost(move), saved_every))

    def cost(self, move: PlannedMove) -> float:
        """Return the seconds without progress that a move costs its job."""
        if move.cost is not None:
            return move.cost
        return self._settings.cost_of_move(move.job.num_gpus * move.job.num_workers)

    def _relocation(self, move: PlannedMove) -> Relocation:
        """Return what the cluster needs to know, with the job's new expected end."""
        job_id, now = move.job.job_id, self._env.now
        progress = self._dispatcher.progress[job_id]
        left = max(0.0, self._cluster.held[job_id].expected_end - now)
        if move.speed is not None:
            left *= progress.rate / move.speed
        end = now + self.cost(move) + left
        return Relocation(move.form or move.job, move.destination, end)

    def _note(self, move: PlannedMove, cost: float) -> None:
        job_id, now = move.job.job_id, self._env.now
        self.moves.append(
            Move(now, job_id, move.source, move.destination, move.reason, cost)
        )
