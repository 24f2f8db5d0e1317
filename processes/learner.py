"""The learner: a process that DRR's decisions reach through a store.

It learns while the simulation runs, in zero simulated time, and leaves a row of
learning.csv for each batch.
"""

from collections.abc import Generator
from typing import Any

import pandas as pd
from simpy import Environment, Event, Store

from model.config import Settings
from model.result import Learned
from schedulers.drr.checkpoint import saved
from schedulers.drr.experience import HOUR, Transition
from schedulers.drr.observation import MOST
from schedulers.drr.scheduler import DRR

BATCH, SMALLEST = 512, 64  # decisions
AT_ONCE = 65_536  # nodes in a batch, over all its decisions, about


class Learner:
    """Lets DRR's network learn from what its decisions lead to."""

    def __init__(self, env: Environment, scheduler: DRR, settings: Settings) -> None:
        from schedulers.drr.update import Agent

        self._env = env
        self._scheduler = scheduler
        self._agent = Agent(scheduler.parameters, settings)
        self._settings = settings
        self._rows: list[dict[str, float]] = []
        nodes = min(len(scheduler.capacity.nodes), MOST)
        self._batch = max(SMALLEST, min(BATCH, AT_ONCE // nodes))
        self.store = Store(env)
        scheduler.tell = self.store.put

    def learn(self) -> Generator[Event, Any, None]:
        """Learn from each batch of decisions; the policy changes at once."""
        transitions: list[Transition] = []
        while True:
            transitions.append((yield self.store.get()))
            if len(transitions) < self._batch:
                continue
            told = self._agent.update(transitions)
            self._scheduler.parameters = self._agent.network.parameters_of()
            spent = sum(transition.elapsed for transition in transitions)
            waited = sum(transition.waited for transition in transitions)
            self._rows.append(
                {
                    "time": self._env.now,
                    "decisions": len(transitions),
                    **told,
                    "queued_gpus_per_gpu": waited * HOUR / max(spent, 1.0),
                }
            )
            transitions = []

    def learned(self) -> Learned:
        """Return what was learned: a row for each batch, and the parameters."""
        about = {"seed": self._settings.seed, "updates": self._agent.updates}
        columns = None if self._rows else ["time", "decisions"]
        batches = pd.DataFrame(self._rows, columns=columns)
        return Learned(batches, saved(self._scheduler.parameters, about))
