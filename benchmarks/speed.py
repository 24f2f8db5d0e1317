"""Time whole simulations against the bare SimPy skeleton, in pairs, on one core.

    python -m benchmarks.speed [--rounds 9] [--openb PODS NODES] [--profile]

Each round runs the skeleton and then the simulation, so that a machine whose speed
drifts slows both; quoted are the median of the paired ratios and the medians of the
CPU seconds. The simulation is timed whole: building the cluster, the run with its
samples and records, and the final check; reading the trace and writing files are not.
"""

import argparse
import cProfile
import pstats
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import paired, peak_memory
from benchmarks.skeleton import run_skeleton
from clusterdata.formats.openb import read_openb_nodes, read_openb_pods
from clusterdata.generator import generate
from clusterdata.table import Table
from model.config import Settings
from model.job import Job
from model.node import Node
from processes.simulation import simulate

ROW = "{:<28} {:>7} {:>9} {:>9} {:>7} {:>7} {:>9} {:>8}"
PARTS = {  # which code a function belongs to, by a part of its path
    "simpy/": "SimPy",
    "schedulers/": "deciding",
    "model/": "ledger and fragmentation",
    "processes/": "processes and samples",
}


def measure(
    name: str,
    settings: Settings,
    jobs: Sequence[Job],
    nodes: Sequence[Node],
    rounds: int,
) -> str:
    """Return a row of the table: paired ratio, CPU seconds, jobs/s, peak memory."""
    pool = sum(node.num_gpus for node in nodes) * 1000
    found = paired(
        lambda: run_skeleton(jobs, pool),
        lambda: simulate(settings, jobs, nodes),
        rounds,
    )
    return ROW.format(
        name,
        len(jobs),
        f"{found.reference:.3f}",
        f"{found.seconds:.3f}",
        f"{found.ratio:.2f}",
        f"{found.least:.2f}",
        f"{found.most:.2f}",
        f"{len(jobs) / found.seconds:,.0f}",
    )


def show_profile(
    settings: Settings, jobs: Sequence[Job], nodes: Sequence[Node]
) -> None:
    """Print which share of the time each part of the code takes."""
    profile = cProfile.Profile()
    profile.runcall(simulate, settings, jobs, nodes)
    seconds: dict[str, float] = {}
    for (path, _, _), entry in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        part = next((part for key, part in PARTS.items() if key in path), "built-ins")
        seconds[part] = seconds.get(part, 0.0) + entry[2]
    total = sum(seconds.values())
    for part, spent in sorted(seconds.items(), key=lambda item: -item[1]):
        print(f"  {part:<26} {100 * spent / total:5.1f} %")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--openb", nargs=2, type=Path, metavar=("PODS", "NODES"))
    parser.add_argument("--profile", action="store_true")
    asked = parser.parse_args()
    jobs, nodes = generate(Settings()), Settings().uniform_cluster()
    cases = [
        (f"{name}, 64 x 8, PAI-like", Settings(scheduler=name), jobs, nodes)
        for name in ("FGD", "BestFit", "RandomFit")
    ]
    if asked.openb:
        settings = Settings(scheduler="FGD", resources="gpu,cpu,memory")
        pods, machines = (Table(path) for path in asked.openb)
        trace, cluster = read_openb_pods(pods), read_openb_nodes(machines)
        cases.append(("FGD, openb 1,213 nodes", settings, trace, cluster))
    heads = ("case", "jobs", "skeleton", "whole, s", "ratio", "least", "most", "jobs/s")
    print(ROW.format(*heads))
    for case in cases:
        print(measure(*case, asked.rounds), flush=True)
    memory = peak_memory(["run.py", "--scheduler", "FGD"])
    print(f"peak memory of run.py, FGD: {memory:.0f} MiB")
    if asked.profile:
        for name, *case in cases:
            print(name)
            show_profile(*case)


if __name__ == "__main__":
    main()
