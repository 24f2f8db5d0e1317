"""``--check``: the invariants at every event of a long run, at a fraction of its cost.

Only nodes that changed since the last event are looked at; a test holds this against
the full check. What contradicts itself is a bug, and stops the run with what happened
on the device before.
"""

from collections import defaultdict, deque

from simpy import Environment, Event

from model.cluster import Cluster
from model.job import WHOLE_GPU
from processes.invariants import InvariantError

REMEMBERED = 20  # changes of a node


class Watch:
    """Checks the nodes that an event has changed; to be called with each event."""

    def __init__(self, cluster: Cluster, env: Environment) -> None:
        self._cluster = cluster
        self._env = env
        self._changed: set[int] = set()
        self._residents: dict[int, set[str]] = defaultdict(set)
        self._history: dict[int, deque[str]] = defaultdict(
            lambda: deque(maxlen=REMEMBERED)
        )
        cluster.capacity.watchers.append(self._changed.add)

    def __call__(self, event: Event) -> None:
        """Check what has changed.

        Raises
        ------
        InvariantError
            If a device holds more than it has, or containers, arrays and what the jobs
            hold disagree; tells the last changes of its node.
        """
        for node in self._changed:
            self._check(node)
        self._changed.clear()

    def _check(self, node: int) -> None:
        cluster, capacity = self._cluster, self._cluster.capacity
        held = [0] * len(cluster.gpus[node])
        cpu = memory = 0
        residents = set()
        for entry in cluster.held.on_node(node):
            request = entry.job.request
            residents.add(entry.job.job_id)
            for place, gpus in entry.placements:
                if place == node:
                    cpu += request.cpu_milli
                    memory += request.memory_mib
                    for gpu in gpus:
                        held[gpu] += request.gpu_milli
        self._note(node, residents)
        row = capacity.rows[node]
        for gpu, container in enumerate(cluster.gpus[node]):
            level = container.level
            if not 0 <= level == WHOLE_GPU - held[gpu] == row[gpu] <= WHOLE_GPU:
                what = (
                    f"GPU {gpu} of node {node}: container {level}, array {row[gpu]}, "
                    f"jobs hold {held[gpu]} of {WHOLE_GPU} milli-GPU"
                )
                raise self._error(node, what)
        if cluster.cpu:
            self._counted(node, "CPU", cluster.cpu[node].level,
                          capacity.nodes[node].cpu_milli - cpu)  # fmt: skip
        if cluster.memory:
            self._counted(node, "memory", cluster.memory[node].level,
                          capacity.nodes[node].memory_mib - memory)  # fmt: skip

    def _counted(self, node: int, name: str, level: float, expected: float) -> None:
        if level != expected or level < 0:
            what = f"{name} of node {node} is {level}, should be {expected}"
            raise self._error(node, what)

    def _note(self, node: int, residents: set[str]) -> None:
        """Remember who came and who left."""
        before, now = self._residents[node], self._env.now
        for job in sorted(residents - before):
            self._history[node].append(f"{now} s: {job} came")
        for job in sorted(before - residents):
            self._history[node].append(f"{now} s: {job} left")
        self._residents[node] = residents

    def _error(self, node: int, what: str) -> InvariantError:
        history = "\n".join(self._history[node]) or "nothing"
        return InvariantError(f"{what}\nbefore, on this node:\n{history}")
