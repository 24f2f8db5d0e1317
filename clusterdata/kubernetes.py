"""The cluster as Kubernetes has it: the JSON of ``kubectl get nodes,pods -A -o json``.

`pods` says what a pod asks for. kubectl does not tell a pod's devices: they are dealt
out by node, whole GPUs first, then shares by best fit, in the order of the pods' names.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from clusterdata.pods import kube_node, part, pod_job
from clusterdata.source import opened
from model.errors import TraceError
from model.job import WHOLE_GPU, Job, Placement, Placements
from model.node import Node
from model.snapshot import Snapshot

T = TypeVar("T")


def read_kubernetes(path: Path) -> Snapshot:
    """Return the nodes and the live pods of a file.

    Raises
    ------
    TraceError
        If the file is something else, or an item makes no sense; names the item.
    """
    by_kind = read_items(path)
    nodes = tuple(named(path, item, kube_node) for item in by_kind["Node"])
    closed = tuple(
        place
        for place, item in enumerate(by_kind["Node"])
        if part(item, "spec").get("unschedulable")
    )
    live = [item for item in by_kind["Pod"] if _is_live(item)]
    jobs = [(named(path, item, pod_job), item) for item in live]
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
    return part(item, "status").get("phase") in ("Running", "Pending")


def named(path: Path, item: dict[str, Any], read: Callable[[dict[str, Any]], T]) -> T:
    """Return what an item describes; an error names it."""
    try:
        return read(item)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        about = item.get("metadata") if isinstance(item, dict) else None
        name = about.get("name", "?") if isinstance(about, dict) else "?"
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        kind = item.get("kind") if isinstance(item, dict) else "item"
        raise TraceError(f"{path}: {kind} {name}: {what}") from None


def read_items(path: Path) -> dict[str, list[dict[str, Any]]]:
    """Return the nodes and the pods of a file, as kubectl has them.

    Raises
    ------
    TraceError
        If it is not kubectl's JSON.
    """
    try:
        with opened(path) as file:
            items = json.load(file)["items"]
        return {
            kind: [item for item in items if item["kind"] == kind]
            for kind in ("Node", "Pod")
        }
    except TraceError:
        raise
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise TraceError(
            f"{path}: is not the JSON of kubectl get nodes,pods -A -o json ({error})"
        ) from None
