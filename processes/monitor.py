"""The monitor: what the cluster looked like, sampled whenever it changed."""

from struct import Struct

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from model.capacity import Capacity
from model.fragmentation import Fragmentation
from schedulers.queue import PendingQueue

COLUMNS = (
    "time",  # s; the other values hold from here to the next row's time
    "capacity",  # milli-GPU allocated, or free on nodes that take jobs
    "allocated",  # milli-GPU
    "free",  # milli-GPU
    "fragmented",  # milli-GPU, F_n(M) summed over the nodes
    "stranded",  # milli-GPU free while the head waits though their sum would hold it
    "blocked",  # 1 while that is so, else 0
    "scattered",  # fully free GPUs on nodes that are not wholly free
    "pending",  # jobs
    "pending_milli",  # milli-GPU
    "busy_nodes",  # nodes with any job
    "partial_nodes",  # nodes with some GPU held and some free
    "busy_gpus",  # devices with any use
)
MAX_ROWS = 2**17  # 12 MiB
BUFFER = 2**13  # raw rows kept packed before they join the table
RAW = Struct("11d")

Table = NDArray[np.float64]  # (rows, columns)


class Monitor:
    """Keeps one row per change; when full, merges neighbours into time-weighted means.

    Merging keeps every time integral, so means over the run stay exact however long
    it is; only the resolution halves.
    """

    def __init__(
        self,
        pending: PendingQueue,
        capacity: Capacity,
        fragmentation: Fragmentation,
        max_rows: int = MAX_ROWS,
    ) -> None:
        self._pending = pending
        self._capacity = capacity
        self._fragmentation = fragmentation
        self._max_rows = max_rows
        self._raw = bytearray(BUFFER * RAW.size)
        self._rows = 0  # of them in use
        self._last = -1.0  # s, time of the last row
        self._parts: list[Table] = []  # joined when they are too many rows, or at last
        self._kept = 0  # rows of all parts
        self.sample(0.0)

    def sample(self, now: float) -> None:
        """Add a row for this moment; a second one in the same instant replaces it."""
        if now == self._last:
            self._rows -= 1
        elif self._rows == BUFFER:
            self._flush()
        capacity, waiting = self._capacity, self._pending.entries
        RAW.pack_into(
            self._raw,
            self._rows * RAW.size,
            now,
            capacity.allocated,
            capacity.free_open,
            self._fragmentation.total,
            bool(waiting) and capacity.pool_holds(waiting[0][2]),
            capacity.scattered,
            len(waiting),
            self._pending.milli,
            capacity.busy_nodes,
            capacity.partial_nodes,
            capacity.busy_gpus,
        )
        self._rows += 1
        self._last = now

    def frame(self) -> pd.DataFrame:
        """Return the samples, one row each, in order of time."""
        self._take_up()
        table = np.concatenate([*self._parts, self._derive(1)])
        self._parts = [table[:-1]]  # of which there is no second copy
        return pd.DataFrame(table, columns=list(COLUMNS), copy=False)

    def _flush(self) -> None:
        """Take up all raw rows but the last; halve the table if it is full."""
        self._take_up()
        while self._kept > self._max_rows:
            table = _merge(np.concatenate(self._parts), self._last)
            self._parts, self._kept = [table], len(table)

    def _take_up(self) -> None:
        """Turn all raw rows but the last into table rows."""
        self._parts.append(self._derive(self._rows - 1))
        self._kept += self._rows - 1
        self._raw[: RAW.size] = self._raw[(self._rows - 1) * RAW.size :]
        self._rows = 1

    def _derive(self, rows: int) -> Table:
        """Return the rows of `COLUMNS` for the first raw ones."""
        raw = np.frombuffer(bytes(self._raw[: rows * RAW.size]))
        raw = raw.reshape(rows, RAW.size // 8)
        time, allocated, free, amount, blocked, *rest = raw.T
        fragmented = amount / self._fragmentation.weight
        stranded = blocked * free
        derived = [time, allocated + free, allocated, free, fragmented, stranded]
        return np.column_stack([*derived, blocked, *rest])


def _merge(table: Table, end: float) -> Table:
    """Replace each two rows by their mean over time; an odd last one stays.

    >>> rows = np.array([[0.0, 4.0], [1.0, 8.0], [4.0, 5.0]])  # (time, value)
    >>> _merge(rows, 6.0).tolist()  # (4 x 1 s + 8 x 3 s) / 4 s
    [[0.0, 7.0], [4.0, 5.0]]
    """
    seconds = np.diff(table[:, 0], append=end)
    pairs = len(table) // 2 * 2
    span = seconds[:pairs:2] + seconds[1:pairs:2]
    merged = table[::2].copy()
    for column in range(1, table.shape[1]):  # one by one, since all take much memory
        area = table[:pairs, column] * seconds[:pairs]
        merged[: pairs // 2, column] = (area[::2] + area[1::2]) / span
    return merged
