"""What a pod of Kubernetes asks for, and what a node has.

GPUs are nvidia.com/gpu. Shares of one are, by who shares it:

=========  ====================================================================
HAMi       limits nvidia.com/gpucores and nvidia.com/gpumem-percentage (% of each
           GPU), nvidia.com/gpumem (MiB of each): the larger of cores and memory
KAI        annotation gpu-fraction (0.5), gpu-memory (MiB), on
           gpu-fraction-num-devices GPUs (1)
MIG        nvidia.com/mig-2g.10gb: two of the seven slices of a GPU
=========  ====================================================================

MiB of device memory become a share by the label nvidia.com/gpu.memory of the nodes.
"""

import re
from collections.abc import Callable
from typing import Any

from model.job import WHOLE_GPU, Job
from model.node import Node
from model.snapshot import DAY

GPU = "nvidia.com/gpu"
CORES, PERCENT, MEMORY = (
    f"nvidia.com/{name}" for name in ("gpucores", "gpumem-percentage", "gpumem")
)
MIG = re.compile(r"nvidia\.com/mig-(\d)g\.\d+gb.*")
SLICES = 7  # of a GPU under MIG
FRACTION, KAI_MEMORY, DEVICES = "gpu-fraction", "gpu-memory", "gpu-fraction-num-devices"
MODEL, COUNT = "nvidia.com/gpu.product", "nvidia.com/gpu.count"  # labels of nodes
DEVICE_MEMORY = "nvidia.com/gpu.memory"  # MiB; label of nodes
UNITS = {
    "": 0, "n": -9, "u": -6, "m": -3, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18,
}  # powers of ten  # fmt: skip
BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}  # powers of two


def part(item: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part of an item, empty where kubectl leaves it out or has null."""
    found: dict[str, Any] = item.get(name) or {}
    return found


def kube_node(item: dict[str, Any]) -> Node:
    """Return a node; raises ValueError, KeyError or TypeError if it makes no sense."""
    have = item["status"]["allocatable"]
    labels = part(item["metadata"], "labels")
    gpus = _whole(GPU, have.get(GPU, 0))
    return Node(
        item["metadata"]["name"],
        min(gpus, int(labels.get(COUNT, gpus))),  # HAMi offers each device many times
        _cpu(have.get("cpu", "0")),
        _memory(have.get("memory", "0")),
        labels.get(MODEL, ""),
    )


def pod_job(
    item: dict[str, Any],
    device_memory: int = 0,
    whole: Callable[[], object] | None = None,
) -> Job:
    """Return a pod as a job that comes at 0 and stays for a day.

    Parameters
    ----------
    device_memory : MiB of a GPU, for pods that ask for so many MiB; 0 = unknown.
    whole : called if the pod asks for shares of each of several GPUs, which no
        scheduler here places: they count as whole ones then; without it, they are
        refused.

    Raises
    ------
    ValueError, KeyError, TypeError
        If it makes no sense.
    """
    about, spec = item["metadata"], item["spec"]
    asks: dict[str, int] = {}
    cpu = memory = 0
    for container in spec["containers"]:
        resources = part(container, "resources")
        asked = {**part(resources, "limits"), **part(resources, "requests")}
        cpu += _cpu(asked.get("cpu", "0"))
        memory += _memory(asked.get("memory", "0"))
        for name, amount in asked.items():
            if name.startswith("nvidia.com/"):
                number = _whole(name, amount)
                together = asks.get(name, 0) + number
                of_each = name in (CORES, PERCENT, MEMORY)
                most = max(asks.get(name, 0), number)
                asks[name] = most if of_each else together
    gpus, milli = _devices(asks, part(about, "annotations"), device_memory)
    if whole and gpus > 1 and milli < WHOLE_GPU:
        whole()
        milli = WHOLE_GPU
    return Job(
        f"{about['namespace']}/{about['name']}",
        0.0,
        DAY,
        gpus,
        milli,
        cpu,
        memory,
        part(spec, "nodeSelector").get(MODEL, ""),
        user=about["namespace"],
    )


def _devices(
    asks: dict[str, int], notes: dict[str, Any], device_memory: int
) -> tuple[int, int]:
    """Return devices and milli-GPU on each."""
    slices = sum(
        int(match[1]) * count
        for name, count in asks.items()
        if (match := MIG.fullmatch(name))
    )
    gpus, share = asks.get(GPU, 0), 0.0
    mib = asks.get(MEMORY, 0)
    if KAI_MEMORY in notes:
        gpus, mib = int(notes.get(DEVICES, 1)), int(notes[KAI_MEMORY])
    if FRACTION in notes:
        gpus, share = int(notes.get(DEVICES, 1)), float(notes[FRACTION])
    elif slices:
        shared = -(-slices // SLICES)
        share = (gpus + slices / SLICES) / (gpus + shared)
        gpus += shared
    elif gpus:
        share = max(asks.get(CORES, 0), asks.get(PERCENT, 0)) / 100
        if mib and not device_memory:
            raise ValueError(
                f"asks for {mib} MiB of a GPU; no node says how many it has "
                f"(label {DEVICE_MEMORY})"
            )
        share = max(share, mib / device_memory if mib else 0.0)
    if not gpus:
        return 0, 0
    if not 0 <= share <= 1:
        raise ValueError(f"a share of {share:g} GPUs must be from 0 to 1")
    return gpus, max(1, round((share or 1.0) * WHOLE_GPU))


def quantity(text: Any) -> float:
    """Return a quantity of Kubernetes: ``2``, ``500m``, ``10k``, ``1Gi``, ``1e9``.

    >>> quantity("1Gi"), quantity("10k"), quantity("1048576000m"), quantity(2)
    (1073741824.0, 10000.0, 1048576.0, 2.0)
    """
    match = re.fullmatch(
        r"\+?(\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,3})|([A-Za-z]*))", str(text).strip()
    )
    unit = (match[3] or "") if match else "?"
    if match is None or unit not in {**UNITS, **BINARY}:
        raise ValueError(
            f"{text!r} must be a number, maybe with one of "
            f"{', '.join([*UNITS, *BINARY][1:])}"
        )
    if unit in BINARY:
        return float(match[1]) * 2.0 ** BINARY[unit]
    return float(f"{match[1]}e{match[2] or UNITS[unit]}")


def _cpu(text: Any) -> int:
    """Return milli-cores."""
    return round(quantity(text) * 1000)


def _memory(text: Any) -> int:
    """Return MiB."""
    return int(quantity(text)) // 2**20


def _whole(name: str, text: Any) -> int:
    """Return a number of devices, slices, per cent or MiB."""
    amount = quantity(text)
    if amount != int(amount):
        raise ValueError(f"{name}: {text!r} must be a whole number")
    return int(amount)
