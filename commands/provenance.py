"""What a run's results depend on, and what it cost: config.json and timing.json."""

import hashlib
import os
import platform
import resource
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from clusterdata.workload import Workload, checksum_of, offered_load
from model.config import Settings
from model.result import Result
from processes.simulation import Simulation

ROOT = Path(__file__).parents[1]
CODE = ("model", "processes", "schedulers", "clusterdata", "analysis")
SHIPPED = (".py", ".json", ".safetensors")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
FILES = ("node_list", "node_events", "init_from", "teacher")
PACKAGES = ("simpy", "numpy", "pandas", "torch")


def configured(
    settings: Settings, workload: Workload
) -> tuple[Simulation, dict[str, Any]]:
    """Return the simulation of one scheduler, ready to run, and its config.json."""
    simulation = Simulation(settings, workload.jobs, workload.nodes, workload.changes)
    config = provenance(settings, workload)
    config["in_order"] = simulation.scheduler.in_order
    gpus = sum(node.num_gpus for node in workload.nodes)
    config["offered_load"] = offered_load(simulation.accepted, gpus)
    return simulation, config


def files_of(settings: Settings) -> dict[str, str]:
    """Return the SHA-256 of each other file that the results depend on."""
    named = {name: getattr(settings, name) for name in FILES}
    return {
        name: checksum_of(Path(path))
        for name, path in named.items()
        if path and Path(path).is_file()
    }


@cache
def code_version() -> str:
    """Return a hash of all that we ship and that can change a result."""
    digest = hashlib.sha256()
    for folder in CODE:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SHIPPED:
                digest.update(path.read_bytes())
    return digest.hexdigest()


def provenance(settings: Settings, workload: Workload) -> dict[str, Any]:
    """Return config.json: everything that the results depend on."""
    nodes = workload.nodes
    capacity = {"gpu_milli": 1000 * sum(node.num_gpus for node in nodes)}
    if "cpu" in settings.resource_names:
        capacity["cpu_milli"] = sum(node.cpu_milli for node in nodes)
    if "memory" in settings.resource_names:
        capacity["memory_mib"] = sum(node.memory_mib for node in nodes)
    return {
        "settings": settings.as_dict(),
        "trace": Path(settings.trace).name,
        "trace_sha256": workload.checksum,
        "files_sha256": files_of(settings),
        "nodes": len(nodes),
        "node_gpus": [node.num_gpus for node in nodes],
        "capacity": capacity,
        "code_sha256": code_version(),
        "versions": {name: version(name) for name in PACKAGES},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "threads": {name: os.environ.get(name, "") for name in THREADS},
    }


def timing(result: Result) -> dict[str, float]:
    """Return timing.json: the only file that differs between equal runs."""
    left = sum(record.status == "finished" for record in result.records)
    decisions = np.array(result.decision_seconds) * 1000
    p50, p99 = np.percentile(decisions, [50, 99]) if len(decisions) else (0.0, 0.0)
    return {
        "wall_seconds": result.wall_seconds,
        "jobs_per_second": left / result.wall_seconds,
        "decision_ms_p50": float(p50),
        "decision_ms_p99": float(p99),
        "peak_rss_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
