"""Jobs that share one GPU slow each other down.

speed = min(1, 1.02 - 0.40 * u1 * u2) for loads u1 and u2 of the two; a least-squares
fit (R2 0.42) to 1,388 co-located pairs measured by Hu et al., "Lucid", ASPLOS 2023.
A job's load is its share of the device; several neighbours count as their sum.
"""

from model.cluster import Cluster
from model.held import Held
from model.job import WHOLE_GPU, Placements
from processes.dispatcher import Dispatcher
from processes.progress import Paced


def shared_speed(own: float, others: float) -> float:
    """Return the speed of a job with load *own* beside a total load of *others*.

    >>> shared_speed(0.5, 0.0), round(shared_speed(0.5, 0.5), 2)
    (1.0, 0.92)
    """
    if others == 0:
        return 1.0
    return min(1.0, 1.02 - 0.40 * own * min(1.0, others))


class Interference:
    """Keeps every running job at the speed its neighbours leave it."""

    def __init__(self, cluster: Cluster, dispatcher: Dispatcher) -> None:
        self._cluster, self._dispatcher = cluster, dispatcher

    def update(self, placements: Placements) -> None:
        """Pace the jobs on nodes where someone came or went."""
        for node in dict.fromkeys(placement.node for placement in placements):
            for held in self._cluster.held.on_node(node):
                self._pace(held)

    def _pace(self, held: Held) -> None:
        progress = self._dispatcher.progress[held.job.job_id]
        speed = self._speed(held)
        if progress.process is self._dispatcher.env.active_process:
            progress.speed = progress.paced = speed  # it is just starting
        elif speed != progress.paced:
            progress.paced = speed
            self._dispatcher.disturb(held.job.job_id, Paced(speed))

    def _speed(self, held: Held) -> float:
        """Return the speed of the slowest of the job's workers."""
        own = held.job.gpu_milli
        if not 0 < own < WHOLE_GPU:
            return 1.0
        rows = self._cluster.capacity.rows
        others = [
            WHOLE_GPU - own - rows[node][gpus[0]] for node, gpus in held.placements
        ]
        return min(shared_speed(own / WHOLE_GPU, other / WHOLE_GPU) for other in others)
