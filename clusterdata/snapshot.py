"""A cluster as it is: nodes, running jobs where they run, and jobs that wait.

Our CSV has a line per job: ``job_id, num_gpus, gpu_milli, node, gpus`` and optionally
``cpu_milli, memory_mib, gpu_type, user, remaining`` (s, expected; default a day).
``node`` names the node, ``gpus`` its devices as ``0+1``; both are empty for a job that
waits. A job of several workers has one line for each, with the same job_id.

The JSON of ``kubectl get nodes,pods -A -o json`` is read too (`kubernetes`).
"""

import re
from collections import defaultdict
from pathlib import Path

from clusterdata.kubernetes import read_kubernetes
from clusterdata.table import Table
from model.errors import TraceError
from model.job import WHOLE_GPU, Job, Placement
from model.node import Node
from model.snapshot import DAY, Snapshot

REQUIRED = ("job_id", "num_gpus", "gpu_milli", "node", "gpus")
OPTIONAL = ("cpu_milli", "memory_mib", "gpu_type", "user", "remaining")


def read_snapshot(path: Path, nodes: tuple[Node, ...]) -> Snapshot:
    """Return a snapshot from our CSV or from kubectl's JSON.

    Parameters
    ----------
    nodes : the cluster, for our CSV; JSON brings its own.

    Raises
    ------
    TraceError
        If the file cannot be read, or places jobs where they do not fit.
    """
    if not path.is_file():
        raise TraceError(f"{path}: no such file")
    if path.suffix == ".json":
        snapshot = read_kubernetes(path)
    else:
        snapshot = _from_table(Table(path), nodes)
    check(snapshot, path)
    return snapshot


def check(snapshot: Snapshot, path: Path) -> None:
    """Raise TraceError if a device holds more than it has."""
    held: dict[tuple[int, int], int] = defaultdict(int)
    for job, placements in snapshot.running:
        for node, gpus in placements:
            for gpu in gpus:
                held[node, gpu] += job.gpu_milli
                known = snapshot.nodes[node]
                if gpu >= known.num_gpus or held[node, gpu] > WHOLE_GPU:
                    raise TraceError(
                        f"{path}: job {job.job_id} does not fit GPU {gpu} of node "
                        f"{known.name} ({known.num_gpus} GPUs, 1000 milli each)"
                    )


def _from_table(table: Table, nodes: tuple[Node, ...]) -> Snapshot:
    table.check_columns(REQUIRED, OPTIONAL)
    index = {node.name: place for place, node in enumerate(nodes)}
    columns = {
        "num_gpus": table.integers("num_gpus", high=1024).tolist(),
        "gpu_milli": table.integers("gpu_milli", high=WHOLE_GPU).tolist(),
        "remaining": table.numbers("remaining", high=1e12, default=DAY).tolist()
        if "remaining" in table
        else [DAY] * len(table),
    }
    for name in ("cpu_milli", "memory_mib"):
        given = name in table
        columns[name] = table.integers(name).tolist() if given else [0] * len(table)
    texts = {
        name: table.text(name) if name in table else [""] * len(table)
        for name in ("job_id", "node", "gpus", "gpu_type", "user")
    }
    rows: dict[str, list[int]] = defaultdict(list)
    for row, job_id in enumerate(texts["job_id"]):
        rows[job_id].append(row)
    running, waiting = [], []
    for job_id, mine in rows.items():
        first = mine[0]
        values = {name: column[first] for name, column in columns.items()}
        remaining = values.pop("remaining")
        try:
            job = Job(
                job_id,
                0.0,
                remaining,
                num_workers=len(mine),
                gpu_type=texts["gpu_type"][first],
                user=texts["user"][first],
                **values,
            )
        except ValueError as error:
            raise table.error(first, "gpu_milli", str(error)) from None
        if not any(texts["node"][row] for row in mine):
            waiting.append(job)
            continue
        places = tuple(_place(table, row, texts, index, job) for row in mine)
        running.append((job, places))
    return Snapshot(nodes, running, waiting)


def _place(
    table: Table, row: int, texts: dict[str, list[str]], index: dict[str, int], job: Job
) -> Placement:
    name, gpus = texts["node"][row], texts["gpus"][row]
    if name not in index:
        raise table.error(row, "node", "a name of the node list")
    if not re.fullmatch(r"(\d+(\+\d+)*)?", gpus):
        raise table.error(row, "gpus", "device indices as 0+1")
    devices = tuple(int(gpu) for gpu in gpus.split("+") if gpu)
    if len(set(devices)) != job.num_gpus:
        raise table.error(row, "gpus", f"{job.num_gpus} different devices")
    return Placement(index[name], devices)
