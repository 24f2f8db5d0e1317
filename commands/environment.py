"""The cluster as a Gymnasium environment: an agent chooses the node of each job.

    import gymnasium
    env = gymnasium.make("commands.environment:Defrag-v0", num_node=16, num_jobs=500)
    seen, info = env.reset(seed=0)

Needs the package gymnasium (``pip install "defrag[gym]"``).
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from clusterdata.workload import load_nodes, load_workload
from model.config import Settings
from model.errors import UserError
from model.job import WHOLE_GPU, Job
from processes.simulation import Simulation
from schedulers.asked import Asked

HOUR = 3600.0  # s
OF_NODE, OF_JOB = 3, 6  # features beside the free shares of GPUs
Floats = NDArray[np.float32]


class DefragEnv(gymnasium.Env[Floats, np.int64]):
    """Place jobs, first in first out, so that they wait little.

    Observation: (nodes x (GPUs + 3) + 6,) float32 in [0, 1], node after node, then the
    job. Of a node: the free share of each GPU (0 where it has none), whether the job
    fits, the share of its GPUs that are fully free, and t / (t + 1 h) for the time t
    until all its jobs are expected to end. Of the job: GPUs of a worker / 8, share of
    each of them, w / (w + 1) for its workers w, d / (d + 1 h) for its estimated
    duration d, n / (n + 10) for n jobs in the queue, and t / (t + 1 h) for the time t
    it has waited.

    Action: the node. `info["action_mask"]` (nodes,) int8 says which have room, as does
    `action_masks()`; an action that it forbids is replaced by best fit's, and counted
    in `info["replaced"]`.

    Reward: minus the hours that all jobs in the queue waited since the last action, so
    that the sum over an episode is minus their total time in the queue: the queueing
    delay, and with failures the waits after them. An episode is a trace, to the end of
    its last job; it is never truncated. A trace in which there is never a choice ends
    with the first action, whatever it is.

    Seeding: `reset(seed=s)` draws the trace of that seed; without one, the next seed
    of the environment's own generator. Equal seeds and actions give equal episodes.

    Parameters
    ----------
    settings : of the simulation; `queue` must be fifo. Fields may be given by name.

    Raises
    ------
    UserError
        If the settings make no sense, or the queue is not fifo.
    """

    metadata = {"render_modes": []}

    def __init__(self, settings: Settings | None = None, **fields: Any) -> None:
        base = settings or Settings(num_node=16, num_jobs=1000)
        self.settings = Settings(**{**base.as_dict(), **fields})
        if self.settings.queue != "fifo":
            raise UserError(f"queue {self.settings.queue}: DefragEnv needs fifo")
        nodes = load_nodes(self.settings)
        self._width = max(node.num_gpus for node in nodes)
        size = len(nodes) * (self._width + OF_NODE) + OF_JOB
        self.observation_space = spaces.Box(0.0, 1.0, (size,), np.float32)
        self.action_space = spaces.Discrete(len(nodes))
        self._simulation: Simulation

    def _seeded(self, seed: int) -> Settings:
        return Settings(**{**self.settings.as_dict(), "seed": seed})

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begin a trace; return what is seen at its first choice. See `Env.reset`."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**31)) if seed is None else seed
        settings = self._seeded(drawn)
        workload = load_workload(settings)
        self._simulation = Simulation(
            settings, workload.jobs, workload.nodes, workload.changes, scheduler=Asked
        )
        simulation = self._simulation
        self._agent: Asked = simulation.scheduler  # type: ignore[assignment]
        self._since, self._waiting, self._area, self._replaced = 0.0, 0, 0.0, 0
        simulation.dispatcher.sources.append(self._agent)
        simulation.dispatcher.after_pass.append(self._note)
        self._fresh = True
        self._go_on()
        return self._observe(), self._info()

    def step(
        self, action: np.int64
    ) -> tuple[Floats, float, bool, bool, dict[str, Any]]:
        """Place a worker; run until the next choice, or the end. See `Env.step`."""
        if self._agent.asking is None:
            if not self._fresh:
                raise UserError("the episode has ended: reset() begins another")
            self._fresh = False
            return self._observe(), -self._area / HOUR, True, False, self._info()
        self._fresh = False
        node = int(action)
        if not self.action_masks()[node]:
            node = self.best_fit()
            self._replaced += 1
        self._agent.answer(node)
        self._simulation.dispatcher.wake()
        self._go_on()
        ended = self._agent.asking is None
        reward = -self._area / HOUR
        self._area = 0.0  # what came before the first choice is part of the first
        return self._observe(), reward, ended, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return which nodes have room for the worker, (nodes,)."""
        if self._agent.asking is None:  # nothing is asked, so nothing is forbidden
            return np.ones(len(self._agent.rooms), np.bool_)
        return np.asarray(self._agent.rooms, np.bool_)

    def best_fit(self) -> int:
        """Return the node with room that has the least free, the lowest of equals."""
        rooms = np.flatnonzero(self._agent.rooms)
        return int(rooms[self._agent.capacity.free_total[rooms].argmin()])

    def _go_on(self) -> None:
        """Process events until someone is asked or the last job has left."""
        env, finished = self._simulation.env, self._simulation.finished
        while self._agent.asking is None and not finished.processed:
            env.step()
        self._note(env.now)

    def _note(self, now: float) -> None:
        """Add up how long jobs have waited; the queue is as it was since the last."""
        self._area += self._waiting * (now - self._since)
        self._since = now
        self._waiting = len(self._simulation.dispatcher.pending)

    def _observe(self) -> Floats:
        job, capacity = self._agent.asking, self._agent.capacity
        now = self._simulation.env.now
        free = np.zeros((len(capacity.nodes), self._width))
        for node, row in enumerate(capacity.rows):
            free[node, : len(row)] = row
        ends = np.full(len(free), now)
        for held in self._simulation.cluster.held:
            for place in held.placements:
                ends[place.node] = max(ends[place.node], held.expected_end)
        sizes = np.maximum(1, capacity.num_gpus)
        whole = (free == WHOLE_GPU).sum(axis=1) / sizes
        nodes = np.column_stack(
            [
                free / WHOLE_GPU,
                self.action_masks(),
                whole,
                _saturating(ends - now, HOUR),
            ]
        )
        seen = np.concatenate([nodes.ravel(), self._of_job(job, now)])
        within: Floats = np.clip(seen, 0.0, 1.0).astype(np.float32)
        return within

    def _of_job(self, job: Job | None, now: float) -> Sequence[float]:
        if job is None:
            return [0.0] * OF_JOB
        return [
            job.num_gpus / 8,
            job.gpu_milli / WHOLE_GPU,
            job.num_workers / (job.num_workers + 1),
            job.estimate / (job.estimate + HOUR),
            self._waiting / (self._waiting + 10),
            (now - job.submit_time) / (now - job.submit_time + HOUR),
        ]

    def _info(self) -> dict[str, Any]:
        return {
            "action_mask": self.action_masks().astype(np.int8),
            "time": self._simulation.env.now,
            "replaced": self._replaced,
        }


def _saturating(values: NDArray[np.float64], half: float) -> NDArray[np.float64]:
    positive = np.maximum(0.0, values)
    shares: NDArray[np.float64] = positive / (positive + half)
    return shares


if "Defrag-v0" not in gymnasium.registry:
    gymnasium.register("Defrag-v0", entry_point="commands.environment:DefragEnv")
