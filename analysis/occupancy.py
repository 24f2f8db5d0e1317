"""Who held which GPU, from when until when: rebuilt from what a run left behind."""

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.run_folder import Run

COLUMNS = ("job", "job_id", "node", "gpu", "milli", "start", "end")
Place = tuple[int, int]  # a node and a GPU of it


def occupancy(run: Run) -> pd.DataFrame:
    """Return a row for each stretch of time that a job held a GPU.

    Columns: ``job`` (its row in jobs.csv), ``job_id``, ``node``, ``gpu``, ``milli``
    (milli-GPU held), ``start``, ``end`` (s). A job has one for each of its GPUs, and
    again after each move or restart. Jobs that never started, or were cut short when
    the run was interrupted, have none.
    """
    jobs = run.jobs.fillna({"nodes": "", "gpus": ""})
    changes = _changes(run)
    columns = zip(
        jobs["job_id"].astype(str).tolist(),
        jobs["gpu_milli"].tolist(),
        jobs["start_time"].tolist(),
        jobs["end_time"].tolist(),
        jobs["nodes"].tolist(),
        jobs["gpus"].tolist(),
        strict=True,
    )
    rows = [
        (job, job_id, node, gpu, milli, since, until)
        for job, (job_id, milli, start, end, nodes, gpus) in enumerate(columns)
        if end == end and nodes
        for since, until, places in _stays(
            start, end, _places(nodes, gpus), changes.get(job_id, [])
        )
        for node, gpu in places
    ]
    return pd.DataFrame(rows, columns=[*COLUMNS])


def _changes(run: Run) -> dict[str, list[tuple[float, str, str]]]:
    """Return when each job changed its place: time, from, to; in order of time."""
    changes: dict[str, list[tuple[float, str, str]]] = defaultdict(list)
    moves = run.moves.fillna("")
    for time, job_id, source, to in zip(
        moves["time"], moves["job_id"].astype(str), moves["from"], moves["to"],
        strict=True,
    ):  # fmt: skip
        changes[job_id].append((float(time), source, to))
    again = run.jobs[run.jobs["restarts"].fillna("") != ""]
    for job_id, text in zip(
        again["job_id"].astype(str), again["restarts"], strict=True
    ):
        for restart in text.split("|"):
            time, _, to = restart.partition("@")
            changes[job_id].append((float(time), "", to))
    return {job_id: _in_order(of_job) for job_id, of_job in changes.items()}


def _in_order(changes: list[tuple[float, str, str]]) -> list[tuple[float, str, str]]:
    """Return changes by time; of one instant, each begins where the last one ended."""
    left = sorted(changes, key=lambda change: change[0])
    ordered: list[tuple[float, str, str]] = []
    here: str | None = None
    while left:
        now = [change for change in left if change[0] == left[0][0]]
        following = [change for change in now if here in (None, change[1])]
        chosen = following[0] if following else now[0]
        left.remove(chosen)
        ordered.append(chosen)
        here = chosen[2]
    return ordered


def _stays(
    start: float,
    end: float,
    last: list[Place],
    changes: list[tuple[float, str, str]],
) -> Iterator[tuple[float, float, list[Place]]]:
    """Yield from when until when a job was where."""
    if not changes:
        yield start, end, last
        return
    here = read_places(changes[0][1])
    since = start
    for time, _, to in changes:
        if here:
            yield since, time, here
        since, here = time, read_places(to)
    if here:
        yield since, end, here


def _places(nodes: str, gpus: str) -> list[Place]:
    return [
        (int(node), int(gpu))
        for node, devices in zip(nodes.split(";"), gpus.split(";"), strict=True)
        for gpu in devices.split("+")
        if gpu
    ]


def read_places(text: str) -> list[Place]:
    """Return the GPUs that a text of moves.csv names.

    >>> read_places("3:0+1;5:7")
    [(3, 0), (3, 1), (5, 7)]
    """
    places = []
    for worker in filter(None, text.split(";")):
        node, _, devices = worker.partition(":")
        places += [(int(node), int(gpu)) for gpu in devices.split("+") if gpu]
    return places


def held_at(
    stretches: pd.DataFrame, node_gpus: list[int], time: float
) -> NDArray[np.float64]:
    """Return which share of each GPU is held at a time, (nodes, GPUs); nan = no GPU.

    What begins at that instant counts, what ends does not.
    """
    state = np.where(
        np.arange(max(node_gpus, default=0)) < np.array(node_gpus)[:, None], 0.0, np.nan
    )
    now = stretches[(stretches["start"] <= time) & (stretches["end"] > time)]
    np.add.at(state, (now["node"], now["gpu"]), now["milli"].to_numpy(float) / 1000)
    return state
