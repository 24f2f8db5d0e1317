"""A cluster as it is: nodes, running jobs where they run, and jobs that wait.

Our CSV has a line per job: ``job_id, num_gpus, gpu_milli, node, gpus`` and optionally
``cpu_milli, memory_mib, gpu_type, user, remaining`` (s, expected; default a day).
``node`` names the node, ``gpus`` its devices as ``0+1``; both are empty for a job that
waits. A job of several workers has one line for each, with the same job_id.

Kubernetes: the JSON of ``kubectl get nodes,pods -A -o json``. GPUs are nvidia.com/gpu;
shares are the annotations or limits of HAMi (nvidia.com/gpucores, in %) and KAI
(gpu-fraction). Where the devices of a pod are not known they are dealt out by node,
whole GPUs first, then shares by best fit, in the order of the pods' names.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clusterdata.table import Table
from model.errors import TraceError
from model.job import WHOLE_GPU, Job, Placement, Placements
from model.node import Node
from model.snapshot import Snapshot

REQUIRED = ("job_id", "num_gpus", "gpu_milli", "node", "gpus")
OPTIONAL = ("cpu_milli", "memory_mib", "gpu_type", "user", "remaining")
DAY = 86_400.0  # s; what a job is expected to run on if nothing is known
GPU, CORES, FRACTION = "nvidia.com/gpu", "nvidia.com/gpucores", "gpu-fraction"
MODEL = "nvidia.com/gpu.product"


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
        snapshot = _from_kubernetes(path)
    else:
        snapshot = _from_table(Table(path), nodes)
    check(snapshot, path)
    return snapshot


def check(snapshot: Snapshot, path: Path) -> None:
    """Raise TraceError if a device or a node holds more than it has."""
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
        if not texts["node"][first]:
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


def _from_kubernetes(path: Path) -> Snapshot:
    try:
        items = json.loads(path.read_text())["items"]
        found = [item for item in items if item["kind"] == "Node"]
        pods = [item for item in items if item["kind"] == "Pod"]
        nodes = tuple(_node(item) for item in found)
        closed = tuple(
            place
            for place, item in enumerate(found)
            if item.get("spec", {}).get("unschedulable")
        )
        jobs = [(_pod(item), item) for item in pods if _is_live(item)]
    except (ValueError, KeyError, TypeError) as error:
        raise TraceError(
            f"{path}: is not the JSON of kubectl get nodes,pods -A -o json ({error})"
        ) from None
    index = {node.name: place for place, node in enumerate(nodes)}
    by_node: dict[int, list[Job]] = defaultdict(list)
    waiting = []
    for job, item in sorted(jobs, key=lambda pair: pair[0].job_id):
        name = item["spec"].get("nodeName", "")
        if name and name not in index:
            raise TraceError(f"{path}: pod {job.job_id} is on unknown node {name}")
        if name:
            by_node[index[name]].append(job)
        elif job.num_gpus:
            waiting.append(job)
    running = [
        placed
        for node, mine in sorted(by_node.items())
        for placed in _deal_devices(path, nodes, node, mine)
    ]
    return Snapshot(nodes, running, waiting, closed)


def _deal_devices(
    path: Path, nodes: tuple[Node, ...], node: int, jobs: Iterable[Job]
) -> list[tuple[Job, Placements]]:
    """Give each pod of a node devices: whole ones first, shares by best fit."""
    free = [WHOLE_GPU] * nodes[node].num_gpus
    dealt: list[tuple[Job, Placements]] = []
    for job in sorted(jobs, key=lambda job: (-job.total_milli, job.job_id)):
        able = [gpu for gpu, milli in enumerate(free) if milli >= job.gpu_milli]
        able.sort(key=lambda gpu: (free[gpu], gpu))
        gpus = tuple(sorted(able[: job.num_gpus]))
        if len(gpus) < job.num_gpus:
            raise TraceError(
                f"{path}: the pods of node {nodes[node].name} ask for more GPUs than "
                f"it has ({job.job_id} finds no room)"
            )
        for gpu in gpus:
            free[gpu] -= job.gpu_milli
        dealt.append((job, (Placement(node, gpus),)))
    return dealt


def _is_live(item: dict[str, Any]) -> bool:
    return item.get("status", {}).get("phase") in ("Running", "Pending")


def _node(item: dict[str, Any]) -> Node:
    have = item["status"]["allocatable"]
    labels = item["metadata"].get("labels", {})
    return Node(
        item["metadata"]["name"],
        int(have.get(GPU, 0)),
        _cpu(have.get("cpu", "0")),
        _memory(have.get("memory", "0")),
        labels.get(MODEL, ""),
    )


def _pod(item: dict[str, Any]) -> Job:
    about, notes = item["metadata"], item["metadata"].get("annotations", {})
    cpu = memory = gpus = cores = 0
    for container in item["spec"]["containers"]:
        resources = container.get("resources", {})
        asks = {**resources.get("limits", {}), **resources.get("requests", {})}
        cpu += _cpu(asks.get("cpu", "0"))
        memory += _memory(asks.get("memory", "0"))
        gpus += int(asks.get(GPU, 0))
        cores = max(cores, int(asks.get(CORES, 0)))
    milli = WHOLE_GPU if gpus else 0
    if FRACTION in notes:
        gpus, milli = 1, round(float(notes[FRACTION]) * WHOLE_GPU)
    elif gpus == 1 and 0 < cores < 100:
        milli = cores * WHOLE_GPU // 100
    selector = item["spec"].get("nodeSelector", {})
    return Job(
        f"{about['namespace']}/{about['name']}",
        0.0,
        DAY,
        gpus,
        milli,
        cpu,
        memory,
        selector.get(MODEL, ""),
        user=about["namespace"],
    )


def _cpu(text: str) -> int:
    """Return milli-cores: ``2``, ``500m``."""
    return int(text[:-1]) if text.endswith("m") else round(float(text) * 1000)


def _memory(text: str) -> int:
    """Return MiB: ``1Gi``, ``512Mi``, ``1048576Ki``, bytes."""
    units = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "K": 10**3}
    units |= {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "": 1}
    match = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", text)
    if match is None or match[2] not in units:
        raise ValueError(f"memory {text!r}")
    return int(float(match[1]) * units[match[2]]) // 2**20
