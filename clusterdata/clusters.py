"""Which nodes there are: openb's list, PAI's, that of the spot trace, or a TOML file.

==============  =======================================================================
openb           CSV with sn, cpu_milli, memory_mib, gpu, model (ours as well)
PAI             pai_machine_spec: machine, gpu_type, cap_cpu (cores), cap_mem (GiB),
                cap_gpu; as published without a header
spot v2026      node_info_df.csv: node_name, gpu_model, gpu_capacity_num, cpu_num
                (vCPUs); memory is not given, so it never runs out
TOML            a table ``[[nodes]]`` for each kind: count, gpus, and optionally name,
                model, cpu_milli, memory_mib
==============  =======================================================================
"""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clusterdata.formats.canonical import check_ids
from clusterdata.formats.openb import read_openb_nodes
from clusterdata.report import Report
from clusterdata.source import head, opened
from clusterdata.table import Table
from model.errors import TraceError, suggestion
from model.node import Node

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PAI = ("machine", "gpu_type", "cap_cpu", "cap_mem", "cap_gpu")
SPOT = ("gpu_model", "gpu_capacity_num", "cpu_num", "node_name")
MOST_GPUS, PLENTY = 64, 2**40  # of a node; milli-cores or MiB
KIND = {"count": int, "gpus": int, "name": str, "model": str, "cpu_milli": int,
        "memory_mib": int}  # fmt: skip
MOST_NODES = 1_000_000


def read_nodes(path: Path) -> tuple[Node, ...]:
    """Return the nodes that a file describes, in its order.

    Raises
    ------
    TraceError
        If it has none of the forms above, a value is not allowed, or there is no GPU.
    """
    if path.suffix == ".toml":
        return _some(path, _from_toml(path))
    first = head(path).split("\n", 1)[0]
    names = {word.strip(' "\r') for word in first.split(",")}
    if {"cap_gpu", "machine"} <= names or _is_headerless(first):
        return _some(path, _from_pai(path))
    if {*SPOT} <= names:
        return _some(path, _from_spot(Table(path)))
    return read_openb_nodes(Table(path))


def _some(path: Path, nodes: list[Node]) -> tuple[Node, ...]:
    if not any(node.num_gpus for node in nodes):
        raise TraceError(f"{path}: no node has a GPU")
    return tuple(nodes)


def _is_headerless(first: str) -> bool:
    words = first.strip().split(",")
    return len(words) == len(PAI) and words[-1].replace(".", "", 1).isdigit()


def _from_pai(path: Path) -> list[Node]:
    chunks = [*Table.chunks(path, PAI, Report(), "pai_machine_spec.csv")]
    frame = pd.concat([chunk.frame for chunk in chunks])
    lines = np.concatenate([chunk.line for chunk in chunks])
    table = Table.of(path, frame, lines)
    check_ids(table, "machine")
    columns = (
        table.text("machine"),
        table.integers("cap_gpu", high=MOST_GPUS).tolist(),
        (1000 * table.integers("cap_cpu", high=10**6)).tolist(),
        (1024 * table.integers("cap_mem", high=10**6)).tolist(),
        ["" if kind == "CPU" else kind for kind in table.text("gpu_type")],
    )
    return [Node(*values) for values in zip(*columns, strict=True)]


def _from_spot(table: Table) -> list[Node]:
    check_ids(table, "node_name")
    columns = (
        [f"node-{name}" for name in table.text("node_name")],
        table.integers("gpu_capacity_num", high=MOST_GPUS).tolist(),
        (1000 * table.integers("cpu_num", high=10**6)).tolist(),
        [PLENTY] * len(table),
        table.text("gpu_model"),
    )
    return [Node(*values) for values in zip(*columns, strict=True)]


def _from_toml(path: Path) -> list[Node]:
    try:
        with opened(path) as file:
            content = tomllib.loads(file.read())
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TraceError(f"{path}: is not TOML ({error})") from None
    kinds = content.get("nodes")
    if [*content] != ["nodes"] or not isinstance(kinds, list):
        raise TraceError(f"{path}: must have tables [[nodes]] and nothing else")
    nodes: list[Node] = []
    for place, kind in enumerate(kinds, 1):
        nodes += _kind(path, place, kind)
    names = Counter(node.name for node in nodes)
    if len(names) < len(nodes):
        again = names.most_common(1)[0][0]
        raise TraceError(f"{path}: two nodes are called {again!r}; give kinds names")
    return nodes


def _kind(path: Path, place: int, kind: Any) -> list[Node]:
    """Return the nodes of one table of the TOML file."""
    where = f"{path}, [[nodes]] {place}"
    if not isinstance(kind, dict):
        raise TraceError(f"{where}: must be a table")
    for key, value in kind.items():
        if key not in KIND:
            raise TraceError(f"{where}: unknown key {key!r}{suggestion(key, KIND)}")
        if type(value) is not KIND[key]:
            raise TraceError(f"{where}: {key} = {value!r} must be {KIND[key].__name__}")
    for key in ("count", "gpus"):
        if key not in kind:
            raise TraceError(f"{where}: {key} is missing")
    limits = {"count": MOST_NODES, "gpus": MOST_GPUS}
    for key, value in kind.items():
        high = limits.get(key, PLENTY)
        if KIND[key] is int and not (key == "count") <= value <= high:
            raise TraceError(
                f"{where}: {key} = {value} must be from {int(key == 'count')} to {high}"
            )
    model = kind.get("model", "")
    name = kind.get("name") or model or f"kind{place}"
    cpu, memory = kind.get("cpu_milli", PLENTY), kind.get("memory_mib", PLENTY)
    return [
        Node(f"{name}-{number}", kind["gpus"], cpu, memory, model)
        for number in range(kind["count"])
    ]
