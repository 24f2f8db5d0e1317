"""A proven lower bound on every queueing delay under `fifo`: the pooled cluster.

Put all devices into one pool that serves the jobs first in, first out. In the real
cluster the jobs start in the same order, and whatever fits on its devices fits into
the pool. By induction over the queue no job starts earlier there than in the pool:
if it holds for all before job k, then at the moment k really starts the pool has
started them too and, since each ends no later than in reality, has as much free. So
no placement and no migration beats the pool; the difference is what fragmentation
costs. (Not for jobs that are evicted and queue twice, nor for other disciplines.)
"""

import heapq
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def pooled_start_times(
    submit_time: ArrayLike,
    duration: ArrayLike,
    demand: ArrayLike,
    capacity: ArrayLike,
) -> Floats:
    """Return when each job starts on a pool that serves first in, first out.

    Parameters
    ----------
    submit_time : (jobs,) s, not decreasing.
    duration : (jobs,) s.
    demand : (jobs, resources) int, of all workers of a job; at most *capacity*.
    capacity : (resources,) int.

    Returns
    -------
    (jobs,) float
        Start times, s.

    Raises
    ------
    ValueError
        If times decrease or a job asks for more than the pool has.

    Examples
    --------
    Two GPUs; the second job needs both and must wait, and so must the third.

    >>> pooled_start_times([0, 1, 2], [10, 5, 5], [[1], [2], [1]], [2]).tolist()
    [0.0, 10.0, 15.0]
    """
    submits = np.asarray(submit_time, dtype=float)
    demands = np.asarray(demand, dtype=np.int64)
    limits = np.asarray(capacity, dtype=np.int64)
    if (np.diff(submits) < 0).any():
        raise ValueError("submit times must not decrease")
    if (demands > limits).any():
        job = int((demands > limits).any(axis=1).argmax())
        raise ValueError(f"job {job} asks for {demands[job]}, the pool has {limits}")
    free: list[int] = limits.tolist()
    now, starts = 0.0, []
    running: list[tuple[float, list[int]]] = []  # (end, what it holds)
    jobs = zip(
        submits.tolist(),
        np.asarray(duration, dtype=float).tolist(),
        (row.tolist() for row in demands),  # one by one: all take much memory
        strict=True,
    )
    for submit, seconds, asks in jobs:
        now = max(now, submit)
        while running and (running[0][0] <= now or any(map(int.__gt__, asks, free))):
            end, held = heapq.heappop(running)
            now = max(now, end)
            free = list(map(int.__add__, free, held))
        free = list(map(int.__sub__, free, asks))
        heapq.heappush(running, (now + seconds, asks))
        starts.append(now)
    return np.array(starts)


def pooled_delays(jobs: pd.DataFrame, capacity: dict[str, int]) -> Floats:
    """Return the pooled queueing delay of each job that was not refused, s.

    Parameters
    ----------
    jobs : jobs.csv of a run, in the order of submission.
    capacity : amount of each counted resource in the cluster: ``gpu_milli`` and, if
        they must fit, ``cpu_milli`` and ``memory_mib``.
    """
    asked = those(jobs, jobs["status"] != "refused")
    demand = []
    for name in capacity:
        each = asked[name] * (asked["num_gpus"] if name == "gpu_milli" else 1)
        demand.append(each * asked["num_workers"])
    starts = pooled_start_times(
        asked["submit_time"],
        asked["duration"],
        np.column_stack(demand),
        list(capacity.values()),
    )
    delays: Floats = starts - asked["submit_time"].to_numpy(float)
    return delays


def those(frame: pd.DataFrame, rows: "pd.Series[bool]") -> pd.DataFrame:
    """Return some rows of a frame; all are no second copy of it."""
    return frame if rows.all() else frame[rows]


def gap_closed(delay: float, delay_fgd: float, delay_pooled: float) -> float:
    """Return how much of FGD's distance to the bound a scheduler takes away.

    0: no better than FGD; 1: fragmentation costs nothing; negative: worse than FGD.

    >>> gap_closed(delay=1200, delay_fgd=4200, delay_pooled=200)
    0.75
    """
    if delay_fgd == delay_pooled:
        return float("nan")
    return (delay_fgd - delay) / (delay_fgd - delay_pooled) + 0.0  # never -0


def pooled_mean(jobs: pd.DataFrame, config: dict[str, Any]) -> float:
    """Return the mean delay on the pooled cluster, over the jobs that are measured.

    pooled_mean_queueing_delay : s; no placement and no migration beats it.

    It bounds the delays of fifo runs in which no node came or went and all jobs ended;
    for others it is nan.
    """
    if not bound_holds(jobs, config):
        return float("nan")
    delays = pooled_delays(jobs, config["capacity"])
    measured = delays[int(config["settings"]["warm_up"] * len(delays)) :]
    return float(measured.mean()) if len(measured) else float("nan")


def bound_holds(jobs: pd.DataFrame, config: dict[str, Any]) -> bool:
    """Return whether the pooled cluster bounds the delays of this run."""
    settings = config["settings"]
    in_order = settings["queue"] == "fifo" and config["in_order"]
    # runs of earlier versions lack settings that came later
    whole = not any(map(settings.get, ("node_events", "mtbf", "rack_mtbf")))
    plain = in_order and whole
    return plain and not (jobs["status"] == "unfinished").any()
