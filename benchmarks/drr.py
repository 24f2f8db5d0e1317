"""What a decision of DRR costs: python -m benchmarks.drr [PODS NODES].

Milliseconds of each decision of whole runs in inference (`--learn False`), on clusters
of several sizes, native mix at load 1; with PODS and NODES also openb as it arrived.
"""

import sys
from collections.abc import Sequence

import numpy as np

from clusterdata.workload import load_workload
from model.config import Settings
from processes.simulation import Simulation

CELLS = ((32, 16.0), (64, 8.0), (128, 3.8))
JOBS = 10_000
SEED = 100


def main(words: Sequence[str]) -> None:
    """Print one line for each cluster."""
    for nodes, gap in CELLS:
        settings = Settings(
            scheduler="DRR", learn=False, seed=SEED, num_jobs=JOBS, num_node=nodes,
            interarrival_time=gap, use_rescheduling=True,
        )  # fmt: skip
        measure(f"{nodes} nodes", settings)
    if words:
        pods, node_list = words
        settings = Settings(
            scheduler="DRR", learn=False, trace=pods, node_list=node_list,
            resources="gpu,cpu,memory",
        )  # fmt: skip
        measure("openb", settings)


def measure(label: str, settings: Settings) -> None:
    """Simulate once to compile, once to measure; print percentiles."""
    workload = load_workload(settings)
    for jobs in (workload.jobs[:200], workload.jobs):
        result = Simulation(settings, jobs, workload.nodes).run()
    spent = np.array(result.decision_seconds) * 1000
    p50, p99 = np.percentile(spent, [50, 99])
    print(
        f"{label:<10} decisions {len(spent):>7,}  p50 {p50:6.3f} ms  p99 {p99:6.2f} ms"
        f"  whole run {result.wall_seconds:6.1f} s"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
