"""What was wrong with the rows of a trace, and what was done about each."""

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.errors import TraceError

Mask = NDArray[np.bool_]
LEFT_OUT, REPAIRED = "left out", "repaired"


class Note(NamedTuple):
    """One kind of row that was left out or repaired."""

    file: str
    what: str  # left out | repaired
    why: str


class Report:
    """No row vanishes or changes unseen: each is counted here, or is an error.

    Parameters
    ----------
    collect : go on after what is an error, and gather it in `problems`.

    Attributes
    ----------
    problems : what is not allowed, one line each, with file, line and column.
    counts : rows by what was done to them.
    timed : whether the trace says when its jobs were submitted.
    """

    def __init__(self, collect: bool = False) -> None:
        self.collect = collect
        self.problems: list[str] = []
        self.counts: Counter[Note] = Counter()
        self.timed = True
        self._first: dict[Note, str] = {}

    def wrong(self, error: TraceError) -> None:
        """Raise the error, or remember it."""
        if not self.collect:
            raise error
        self.problems.append(str(error))

    def note(
        self, what: str, file: str, rows: Mask, why: str, where: Callable[[int], str]
    ) -> None:
        """Count the *rows* of a file that were left out or repaired, and say why."""
        count = int(np.count_nonzero(rows))
        if count:
            kind = Note(file, what, why)
            self.counts[kind] += count
            self._first.setdefault(kind, where(int(np.argmax(rows))))

    def lines(self) -> list[str]:
        """Return one line for each kind of row that was left out or repaired."""
        return [
            f"{kind.file}: {count:,} {'row' if count == 1 else 'rows'} {kind.what}: "
            f"{kind.why} (first: {self._first[kind]})"
            for kind, count in self.counts.items()
        ]

    def total(self, what: str) -> int:
        """Return how many rows were left out, or repaired."""
        return sum(n for kind, n in self.counts.items() if kind.what == what)
