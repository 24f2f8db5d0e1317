"""The cluster as Kubernetes has it: the JSON of ``kubectl get nodes,pods -A -o json``.

GPUs are nvidia.com/gpu; shares are the limits of HAMi (nvidia.com/gpucores, % of one
GPU) and the annotation of KAI (gpu-fraction). kubectl does not tell a pod's devices:
they are dealt out by node, whole GPUs first, then shares by best fit, in the order of
the pods' names.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from model.errors import TraceError
from model.job import WHOLE_GPU, Job, Placement, Placements
from model.node import Node
from model.snapshot import DAY, Snapshot

GPU, CORES, FRACTION = "nvidia.com/gpu", "nvidia.com/gpucores", "gpu-fraction"
MODEL, COUNT = "nvidia.com/gpu.product", "nvidia.com/gpu.count"  # labels of nodes
BYTES = {
    "": 1, "m": 1e-3, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12,
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40,
}  # fmt: skip

T = TypeVar("T")


def read_kubernetes(path: Path) -> Snapshot:
    """Return the nodes and the live pods of a file.

    Raises
    ------
    TraceError
        If the file is something else, or an item makes no sense; names the item.
    """
    try:
        items = json.loads(path.read_text())["items"]
        by_kind = {
            kind: [item for item in items if item["kind"] == kind]
            for kind in ("Node", "Pod")
        }
    except (ValueError, KeyError, TypeError) as error:
        raise TraceError(
            f"{path}: is not the JSON of kubectl get nodes,pods -A -o json ({error})"
        ) from None
    nodes = tuple(_read(path, _node, item) for item in by_kind["Node"])
    closed = tuple(
        place
        for place, item in enumerate(by_kind["Node"])
        if _part(item, "spec").get("unschedulable")
    )
    live = [item for item in by_kind["Pod"] if _is_live(item)]
    jobs = [(_read(path, _pod, item), item) for item in live]
    index = {node.name: place for place, node in enumerate(nodes)}
    by_node: dict[int, list[Job]] = defaultdict(list)
    waiting = []
    for job, item in sorted(jobs, key=lambda pair: pair[0].job_id):
        name = item["spec"].get("nodeName") or ""
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
    return _part(item, "status").get("phase") in ("Running", "Pending")


def _part(item: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part of an item, empty where kubectl leaves it out or has null."""
    part: dict[str, Any] = item.get(name) or {}
    return part


def _read(path: Path, read: Callable[[dict[str, Any]], T], item: dict[str, Any]) -> T:
    """Return what an item describes; an error names it."""
    try:
        return read(item)
    except (ValueError, KeyError, TypeError) as error:
        name = _part(item, "metadata").get("name", "?")
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise TraceError(f"{path}: {item['kind']} {name}: {what}") from None


def _node(item: dict[str, Any]) -> Node:
    have = item["status"]["allocatable"]
    labels = _part(item["metadata"], "labels")
    gpus = int(have.get(GPU, 0))
    return Node(
        item["metadata"]["name"],
        min(gpus, int(labels.get(COUNT, gpus))),  # HAMi offers each device many times
        _cpu(have.get("cpu", "0")),
        _memory(have.get("memory", "0")),
        labels.get(MODEL, ""),
    )


def _pod(item: dict[str, Any]) -> Job:
    about, spec = item["metadata"], item["spec"]
    notes = _part(about, "annotations")
    cpu = memory = gpus = cores = 0
    for container in spec["containers"]:
        resources = _part(container, "resources")
        asks = {**_part(resources, "limits"), **_part(resources, "requests")}
        cpu += _cpu(asks.get("cpu", "0"))
        memory += _memory(asks.get("memory", "0"))
        gpus += int(asks.get(GPU, 0))
        cores = max(cores, int(asks.get(CORES, 0)))
    milli = WHOLE_GPU if gpus else 0
    if FRACTION in notes:
        gpus, milli = 1, round(float(notes[FRACTION]) * WHOLE_GPU)
    elif gpus and 0 < cores < 100:
        milli = cores * WHOLE_GPU // 100
    return Job(
        f"{about['namespace']}/{about['name']}",
        0.0,
        DAY,
        gpus,
        milli,
        cpu,
        memory,
        _part(spec, "nodeSelector").get(MODEL, ""),
        user=about["namespace"],
    )


def _cpu(text: str) -> int:
    """Return milli-cores: ``2``, ``500m``."""
    return int(text[:-1]) if text.endswith("m") else round(float(text) * 1000)


def _memory(text: str) -> int:
    """Return MiB: ``1Gi``, ``512Mi``, ``1048576Ki``, bytes, ``128000m`` (milli-bytes).

    >>> _memory("1Gi"), _memory("1048576"), _memory("1048576000m")
    (1024, 1, 1)
    """
    match = re.fullmatch(r"([0-9.]+)([A-Za-z]*)", text)
    if match is None or match[2] not in BYTES:
        raise ValueError(f"memory {text!r} must be a number of {', '.join(BYTES)}")
    return int(float(match[1]) * BYTES[match[2]]) // 2**20
