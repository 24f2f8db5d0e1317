"""Nodes and racks that fail and are repaired: one process for each.

Times between failures are Weibull (shape 1: exponential), repairs exponential; each
process has a random stream of its own, so that one node's fate never shifts another's.
A failed node sends its jobs back to the queue with what their last checkpoints saved.
"""

import math
from collections import Counter
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
from simpy import Event, Store

from model.capacity import Capacity
from model.config import Settings
from model.hopeless import empty_room
from model.node import FAIL, REPAIRED
from model.streams import stream
from processes.instant import DISTURBANCE, Moment, Timeline
from processes.node import Order
from schedulers.queue import PendingQueue


class Failures:
    """Lets nodes fail and repairs them.

    Attributes
    ----------
    is_alive : whether a repair is on its way that could let a waiting job start.
    count : failures so far, of nodes and of racks.
    """

    def __init__(
        self,
        env: Timeline,
        mailboxes: Sequence[Store],
        settings: Settings,
        capacity: Capacity,
        pending: PendingQueue,
    ) -> None:
        self.count = 0
        self._env = env
        self._mailboxes = mailboxes
        self._settings = settings
        self._down: Counter[int] = Counter()  # nodes, by how many failures of theirs
        self._capacity = capacity
        self._pending = pending
        numbers = range(len(mailboxes))
        nodes = [("node", (number,), settings.mtbf) for number in numbers]
        size = settings.rack_nodes
        starts = range(0, len(numbers), size) if size else ()
        racks = [
            ("rack", (*numbers[at : at + size],), settings.rack_mtbf) for at in starts
        ]
        units = [unit for unit in (*nodes, *racks) if unit[2] > 0]
        streams = stream(settings.seed, "failures").spawn(len(units))
        for (kind, unit, mean), rng in zip(units, streams, strict=True):
            env.process(self._fail(kind, unit, mean, rng))

    @property
    def is_alive(self) -> bool:
        """Whether a node is being repaired, and the queue's head would fit then."""
        if not self._down:
            return False
        if not self._pending.entries:
            return True
        job, capacity = self._pending.head, self._capacity
        able = capacity.open.copy()
        able[[*self._down]] = True
        room = empty_room(capacity, job)[able & capacity.accessible(job.gpu_type)]
        return int(room.sum()) >= job.num_workers

    def measures(self) -> dict[str, float]:
        """Return what failures have done, for summary.json.

        failures : of nodes and racks, until the last job had left.
        """
        return {"failures": self.count}

    def _fail(
        self, kind: str, unit: Sequence[int], mean: float, rng: np.random.Generator
    ) -> Generator[Event, Any, None]:
        who = f"{kind} {unit[0]}"
        shape = self._settings.failure_shape
        scale = mean / math.gamma(1 + 1 / shape)
        while True:
            up = float(scale * rng.weibull(shape))
            yield Moment(self._env, self._env.now + up, DISTURBANCE)
            if kind == "node" and self._down[unit[0]]:
                continue  # its rack is down; a node fails while it is up
            self.count += 1
            self._down.update(unit)
            for node in unit:
                yield self._mailboxes[node].put(Order(FAIL, who))
            repair = float(rng.exponential(self._settings.mttr))
            yield Moment(self._env, self._env.now + repair, DISTURBANCE)
            for node in unit:
                yield self._mailboxes[node].put(Order(REPAIRED, who))
            self._down = +(self._down - Counter(unit))
