"""How much of the pooled cluster is free over the time to come, as a staircase."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable


class Profile:
    """Free capacity from some moment on, minus what is reserved.

    >>> profile = Profile(0.0, 1000, [(10.0, 500)])  # 500 more once a job ends at 10
    >>> profile.earliest(1500, 5.0, 0.0)
    10.0
    >>> profile.reserve(10.0, 15.0, 1500)
    >>> profile.earliest(1000, 20.0, 0.0), profile.earliest(1000, 9.0, 0.0)
    (15.0, 0.0)
    """

    def __init__(
        self, now: float, free: int, ends: Iterable[tuple[float, int]] = ()
    ) -> None:
        self.times = [now]  # s, when a step begins; the last one goes on for ever
        self.free = [free]  # on each step
        for time, freed in sorted(ends):
            if time > self.times[-1]:
                self.times.append(time)
                self.free.append(self.free[-1])
            self.free[-1] += freed

    def copy(self) -> "Profile":
        """Return an independent copy."""
        twin = Profile.__new__(Profile)
        twin.times, twin.free = self.times.copy(), self.free.copy()
        return twin

    def at(self, time: float) -> int:
        """Return what is free at a moment."""
        return self.free[max(0, bisect_right(self.times, time) - 1)]

    def earliest(self, demand: int, duration: float, ready: float) -> float:
        """Return when so much is first free for so long, at or after *ready*.

        Returns infinity if it never is.
        """
        times, free = self.times, self.free
        step = max(0, bisect_right(times, ready) - 1)
        start, last = max(ready, times[step]), len(times) - 1
        while True:
            if free[step] < demand:
                if step == last:
                    return float("inf")
                step += 1
                start = times[step]
            elif step == last or times[step + 1] >= start + duration:
                return start
            else:
                step += 1

    def holds(self, demand: int, start: float, end: float) -> bool:
        """Return whether so much is free all the time from *start* to *end*."""
        first = max(0, bisect_right(self.times, start) - 1)
        last = max(first + 1, bisect_left(self.times, end))
        return min(self.free[first:last]) >= demand

    def reserve(self, start: float, end: float, demand: int) -> None:
        """Take so much from *start* to *end*; a negative demand gives it back."""
        if end <= start or not demand:
            return
        first, last = self._step_at(start), self._step_at(end)
        self.free[first:last] = [free - demand for free in self.free[first:last]]
        for step in (last, first):  # a step that is none any more
            if step and self.free[step] == self.free[step - 1]:
                del self.times[step], self.free[step]

    def forget(self, now: float) -> None:
        """Drop the steps that are over."""
        over = bisect_right(self.times, now) - 1
        if over > 0:
            del self.times[:over], self.free[:over]

    def _step_at(self, time: float) -> int:
        """Return the step that begins at *time*, split off if there is none."""
        step = bisect_left(self.times, time)
        if step == len(self.times) or self.times[step] != time:
            self.times.insert(step, time)
            self.free.insert(step, self.free[max(0, step - 1)])
        return step
