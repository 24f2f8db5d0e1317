"""Pods of Kubernetes as a trace: ``kubectl get pods -A -o json > pods.json``.

With the nodes in the same file (``kubectl get nodes,pods``), MiB of a GPU can be
turned into shares. `clusterdata.pods` says how a pod's GPUs are read.

Quirks, and what is done about them: a pod is submitted when it was created and runs
from its start until its last container ended; one that still runs counts as if it
ended at the newest time in the file, and is reported, since it will run for longer;
those that never started, or ask for no GPU (``kubernetes:cpu=true`` keeps them), are
left out, and so are a pod that is there twice and one that ended at no known time.
Shares of each of several GPUs count as whole ones. Finished pods are deleted by most
clusters after a while, so a trace made of one call is short: keep several, or an audit
log. Each pod is a job of its own.

Source: your own cluster.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from clusterdata.formats.format import YES_NO, Format, Head, Option, Options
from clusterdata.kubernetes import named, read_items
from clusterdata.pods import DEVICE_MEMORY, part, pod_job, quantity
from clusterdata.report import LEFT_OUT, REPAIRED, Report
from model.errors import TraceError
from model.job import Job


class Life(NamedTuple):
    """When a pod was created, started and ended; s since 1970, None = not yet."""

    created: float
    started: float | None
    ended: float | None
    over: bool  # whether it has ended, whenever that was


Pod = tuple[Job, Life]
Items = Mapping[str, list[dict[str, Any]]]


def read_pods(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the pods as jobs, in the order of their creation.

    Raises
    ------
    TraceError
        If it is not kubectl's JSON, or a pod makes no sense; names the pod.
    """
    items = read_items(path)
    pods = _pods(path, items, report)
    newest = max(
        (t for _, life in pods for t in life[:3] if t is not None), default=0.0
    )
    pods.sort(key=lambda pod: (pod[1].created, pod[0].job_id))

    def note(what: str, why: str, which: list[bool]) -> list[bool]:
        report.note(
            what, str(path), np.array(which), why, lambda row: pods[row][0].job_id
        )
        return which

    wait = note(LEFT_OUT, "never started", [life.started is None for _, life in pods])
    lost = [life.over and life.ended is None and life.started is not None
            for _, life in pods]  # fmt: skip
    note(LEFT_OUT, "nothing says when it ended (evicted, or its node was lost)", lost)
    bare = [
        not (late or gone) and job.num_gpus == 0 and options["cpu"] != "true"
        for (job, _), late, gone in zip(pods, wait, lost, strict=True)
    ]
    note(LEFT_OUT, "no GPU (kubernetes:cpu=true keeps them)", bare)
    kept = [
        pod for pod, *out in zip(pods, wait, lost, bare, strict=True) if not any(out)
    ]
    pods = kept
    running = [life.ended is None and not life.over for _, life in kept]
    note(REPAIRED, "still running: as if it ended at the newest time", running)
    first = min((life.created for _, life in kept), default=0.0)
    return [_timed(job, life, first, newest) for job, life in kept]


def _pods(path: Path, items: Items, report: Report) -> list[Pod]:
    """Return each pod once, as a job and when it lived."""
    memory = _device_memory(path, items["Node"])
    pods: list[Pod] = []
    known: set[str] = set()
    again, rounded = [], list[str]()
    for item in items["Pod"]:
        found = _read(path, item, memory, report, rounded)
        again.append(bool(found) and found[0][0].job_id in known)
        if found and not again[-1]:
            known.add(found[0][0].job_id)
            pods += found
    names = [str(part(item, "metadata").get("name")) for item in items["Pod"]]
    report.note(
        LEFT_OUT, str(path), np.array(again, bool), "a pod that is there twice",
        lambda row: names[row],
    )  # fmt: skip
    report.note(
        REPAIRED, str(path), np.ones(len(rounded), bool),
        "shares of each of several GPUs: whole", lambda row: rounded[row],
    )  # fmt: skip
    return pods


def _device_memory(path: Path, nodes: list[dict[str, Any]]) -> dict[str, int]:
    """Return the MiB of a GPU of each node that tells; under "" if all are equal."""

    def size(node: dict[str, Any]) -> tuple[str, int]:
        about = part(node, "metadata")
        mib = quantity(part(about, "labels").get(DEVICE_MEMORY, 0))
        return str(about.get("name", "")), int(mib)

    sizes = {
        name: mib for name, mib in (named(path, node, size) for node in nodes) if mib
    }
    if len({*sizes.values()}) == 1:
        sizes[""] = next(iter(sizes.values()))
    return sizes


def _read(
    path: Path,
    item: dict[str, Any],
    memory: Mapping[str, int],
    report: Report,
    rounded: list[str],
) -> list[Pod]:
    """Return a pod, or nothing if it makes no sense."""

    def job(item: dict[str, Any]) -> Job:
        node = part(item, "spec").get("nodeName") or ""
        mib = memory.get(node, memory.get("", 0))
        made = pod_job(item, mib, lambda: rounded.append(item["metadata"]["name"]))
        made.job_id.encode()  # half a character cannot be written
        return made

    try:
        return [(named(path, item, job), named(path, item, _life))]
    except TraceError as error:
        report.wrong(error)
        return []


def _timed(job: Job, life: Life, first: float, newest: float) -> Job:
    start = life.created if life.started is None else life.started
    end = newest if life.ended is None else life.ended
    return replace(
        job, submit_time=life.created - first, duration=max(0.0, end - start)
    )


def _life(item: dict[str, Any]) -> Life:
    status = part(item, "status")
    containers = status.get("containerStatuses") or []
    ends = [
        part(part(container, "state"), "terminated").get("finishedAt")
        for container in containers
    ]
    ended = [_seconds(end) for end in ends if end]
    started = status.get("startTime")
    over = status.get("phase") in ("Succeeded", "Failed")
    since = _seconds(started) if started else None
    until = max(ended) if over and ended else None
    if since is not None and until is not None and until < since:
        raise ValueError(f"ends at {max(ends, key=str)}, before it starts")
    created = _seconds(item["metadata"]["creationTimestamp"])
    return Life(created, since, until, over)


def _seconds(text: str) -> float:
    """Return s since 1970 of a time as 2024-01-31T12:00:00Z."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def _recognises(head: Head) -> bool:
    return head.text.lstrip().startswith("{") and '"items"' in head.text


FORMAT = Format(
    "kubernetes",
    "pods of Kubernetes, kubectl get pods -A -o json",
    read_pods,
    recognises=_recognises,
    options={"cpu": Option("false", "true: keep the pods without a GPU", YES_NO)},
)
