"""Nodes and racks that fail and are repaired: one process for each.

Times between failures are Weibull (shape 1: exponential), repairs exponential; each
process has a random stream of its own, so that one node's fate never shifts another's.
A failed node sends its jobs back to the queue with what their last checkpoints saved.
"""

import math
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
from simpy import Event, Store

from model.config import Settings
from model.node import FAIL, REPAIRED
from model.streams import stream
from processes.instant import DISTURBANCE, Moment, Timeline
from processes.node import Order


class Failures:
    """Lets nodes fail and repairs them.

    Attributes
    ----------
    is_alive : whether a repair is on its way, so that those who wait may hope.
    count : failures so far, of nodes and of racks.
    """

    def __init__(
        self, env: Timeline, mailboxes: Sequence[Store], settings: Settings
    ) -> None:
        self.count = 0
        self._env = env
        self._mailboxes = mailboxes
        self._settings = settings
        self._down = 0
        numbers = range(len(mailboxes))
        nodes = [(number,) for number in numbers] if settings.mtbf else []
        size = settings.rack_nodes if settings.rack_mtbf else 0
        racks = [numbers[i : i + size] for i in range(0, len(numbers), size or 1)]
        units = [*((nodes_, settings.mtbf) for nodes_ in nodes)]
        units += [((*rack,), settings.rack_mtbf) for rack in racks if size]
        streams = stream(settings.seed, "failures").spawn(len(units))
        for (unit, mean), rng in zip(units, streams, strict=True):
            env.process(self._fail(unit, mean, rng))

    @property
    def is_alive(self) -> bool:
        """Whether something is being repaired."""
        return self._down > 0

    def measures(self) -> dict[str, float]:
        """Return what failures have done, for summary.json.

        failures : of nodes and racks, until the last job had left.
        """
        return {"failures": self.count}

    def _fail(
        self, unit: Sequence[int], mean: float, rng: np.random.Generator
    ) -> Generator[Event, Any, None]:
        shape = self._settings.failure_shape
        scale = mean / math.gamma(1 + 1 / shape)
        who = f"failure of {'rack' if len(unit) > 1 else 'node'} {unit[0]}"
        while True:
            up = float(scale * rng.weibull(shape))
            yield Moment(self._env, self._env.now + up, DISTURBANCE)
            self.count += 1
            self._down += 1
            for node in unit:
                yield self._mailboxes[node].put(Order(FAIL, who))
            repair = float(rng.exponential(self._settings.mttr))
            yield Moment(self._env, self._env.now + repair, DISTURBANCE)
            for node in unit:
                yield self._mailboxes[node].put(Order(REPAIRED, who))
            self._down -= 1
