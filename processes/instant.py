"""The order of events that fall into one instant.

    completions                     NORMAL, SimPy's own
    node changes, migrations        DISTURBANCE: what is done is not disturbed
    arrivals                        ARRIVAL
    one scheduling pass             PASS, after everything else that is due

SimPy runs events of equal time by priority, then in the order of their creation.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from simpy import Environment, Event
from simpy.events import PENDING, EventPriority

DISTURBANCE, ARRIVAL, PASS = (EventPriority(priority) for priority in (2, 3, 4))


class Timeline(Environment):
    """A SimPy environment that schedules at absolute times and runs with less ado.

    `env.timeout(time - env.now)` ends at *time* only up to rounding, and an arrival
    must not be seen before it was submitted.
    """

    def schedule_at(self, event: Event, time: float, priority: int) -> None:
        """Let a triggered event happen at exactly *time*, s; not before now."""
        time = time if time > self._now else self._now
        entry: Any = (time, priority, next(self._eid), event)
        heappush(self._queue, entry)

    def run_until(
        self, last: Event, check: Callable[[Event], None] | None = None
    ) -> None:
        """Process events until *last* has happened; `run` without a call per event.

        Parameters
        ----------
        last : the event after which to stop.
        check : called with each event once it has been processed.

        Raises
        ------
        RuntimeError
            If the events run out before *last* happens.
        """
        queue = self._queue
        while last.callbacks is not None:
            if not queue:
                raise RuntimeError(f"no event is left at {self._now} s, but {last}")
            self._now, _, _, event = heappop(queue)
            callbacks: Any = event.callbacks
            event.callbacks = None  # type: ignore[assignment]  # as SimPy does
            for callback in callbacks:
                callback(event)
            if not event._ok and not hasattr(event, "_defused"):
                raise event._value
            if check is not None:
                check(event)


class Moment(Event):
    """An event that happens at an absolute time, with a priority of its own."""

    def __init__(self, env: Timeline, time: float, priority: int) -> None:
        self.env = env
        self.callbacks: list[Callable[[Event], None]] = []
        self._ok = True
        self._value = None
        env.schedule_at(self, time, priority)


class Bell(Event):
    """An event that happens at the end of the instant in which it is rung."""

    def ring(self) -> None:
        """Let it happen, once everything else due now has; again is no more."""
        if self._value is PENDING:
            self._ok = True
            self._value = None
            self.env.schedule(self, PASS)
