"""What the loaders share: from columns to jobs, from GPUs to workers and shares."""

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clusterdata.report import Mask
from clusterdata.table import Table
from model.job import WHOLE_GPU, Job

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
DEFAULTS = {
    known.name: None if known.default is MISSING else known.default
    for known in fields(Job)
    if known.init
}
GPUS_PER_NODE = 8  # a worker has no more; larger jobs are gangs
MOST_GPUS = 1_000_000  # of one job


def jobs_of(
    table: Table, columns: Mapping[str, Any], keep: Mask | None = None
) -> list[Job]:
    """Return a job for each row that is not bad and that *keep* has.

    Parameters
    ----------
    columns : by the names of `Job`'s fields, one value for each row; the others take
        their defaults.
    """
    wanted = ~table.bad if keep is None else keep & ~table.bad
    rows = np.flatnonzero(wanted)
    picked = [_picked(columns.get(name), rows, DEFAULTS[name]) for name in DEFAULTS]
    return list(map(Job, *picked))


def _picked(column: Any, rows: Ints, default: Any) -> Any:
    if column is None:
        return repeat(default, len(rows))
    if isinstance(column, np.ndarray):
        return column[rows].tolist()
    if len(rows) == len(column):
        return column
    return [column[row] for row in rows.tolist()]


def since_first(times: Floats, keep: Mask) -> Floats:
    """Return times as s since the first of those that are kept."""
    return times - (times[keep].min() if keep.any() else 0.0)


def requested(table: Table, amounts: Floats) -> tuple[Ints, Ints]:
    """Return devices and milli-GPU on each, for amounts of GPUs as 0.25, 1 or 8.

    Less than a thousandth counts as a thousandth; what is neither a share nor whole,
    as 1.5 GPUs, is rounded up, and reported.
    """
    share = (amounts > 0) & (amounts < 1)
    whole = np.ceil(np.where(share, 0.0, amounts)).astype(np.int64)
    table.repaired(whole != np.where(share, 0.0, amounts), "whole GPUs, rounded up")
    milli = np.clip(np.round(amounts * WHOLE_GPU), 1, WHOLE_GPU).astype(np.int64)
    gpus = np.where(share, 1, whole)
    return gpus, np.where(share, milli, np.where(gpus > 0, WHOLE_GPU, 0))


def workers(num_gpus: int, num_nodes: int = 1, most: int = GPUS_PER_NODE) -> int:
    """Return over how many equal workers a job's GPUs are spread.

    As few as there can be: at least one for each node it had, none with more than
    *most* GPUs.

    >>> [workers(gpus) for gpus in (1, 8, 16, 12, 11)]  # 12 = 2 x 6, 11 = 11 x 1
    [1, 1, 2, 2, 11]
    >>> workers(8, num_nodes=2), workers(9, num_nodes=2)  # 2 x 4, 3 x 3
    (2, 3)
    """
    if num_gpus == 0:
        return max(1, num_nodes)
    largest = min(most, -(-num_gpus // max(1, num_nodes)))
    size = next(size for size in range(largest, 0, -1) if num_gpus % size == 0)
    return num_gpus // size


def gangs(
    table: Table, num_gpus: Ints, num_nodes: Ints | None = None
) -> tuple[Ints, Ints]:
    """Return workers and GPUs of each, for (rows,) GPUs and nodes of whole jobs.

    Jobs whose nodes had different numbers of GPUs get equal workers, and are reported.
    """
    nodes = np.ones(len(num_gpus), np.int64) if num_nodes is None else num_nodes
    known: dict[tuple[int, int], int] = {}
    pairs = list(zip(num_gpus.tolist(), nodes.tolist(), strict=True))
    for pair in set(pairs):
        known[pair] = workers(*pair)
    count = np.array([known[pair] for pair in pairs], np.int64).reshape(-1)
    if num_nodes is not None:
        uneven = (num_gpus > 0) & (count != np.maximum(1, nodes))
        table.repaired(uneven, "not the same GPUs on each node: other, equal workers")
    return count, num_gpus // np.maximum(1, count)


def states(table: Table, name: str, known: Sequence[str]) -> Any:
    """Return a column of states in capitals, first word only; unknown ones are bad.

    A ``+`` at the end, by which Slurm shortens, is none of it.
    """
    words = [(t.upper().rstrip("+").split() or [""])[0] for t in table.text(name)]
    found = np.array(words, dtype=object)
    table.check(np.isin(found, [*known]), name, f"one of {', '.join(known)}")
    return found
