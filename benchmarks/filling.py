"""What one run of FGD's published experiment costs: FGD, trace default, seed 0.

python -m benchmarks.filling FOLDER     of the openb CSV files
"""

import resource
import sys
from pathlib import Path
from time import perf_counter

from clusterdata.formats.openb import read_openb_nodes, read_openb_requests
from clusterdata.inflation import inflation_jobs, shuffled_nodes
from clusterdata.table import Table
from commands.fgd_openb import NODES, PODS
from model.streams import stream
from model.target import target_workload
from schedulers.inflation import empty_world, inflation_events
from schedulers.published import PUBLISHED


def main() -> None:
    """Print wall-clock seconds, arrivals per second and peak memory."""
    folder = Path(sys.argv[1])
    began = perf_counter()
    pods = read_openb_requests(Table(folder / PODS.format("default")))
    nodes = read_openb_nodes(Table(folder / NODES))
    jobs = inflation_jobs(pods, 6_212_000, stream(0, "inflation"))
    read = perf_counter()
    world = empty_world(
        shuffled_nodes(nodes, stream(0, "node order")),
        target_workload(pods, 0.95),
        stream(0, "scheduler"),
    )
    inflation_events(PUBLISHED["FGD"](world), jobs)
    seconds = perf_counter() - read
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(jobs):,} arrivals on {len(nodes):,} nodes in {seconds:.2f} s, "
        f"{len(jobs) / seconds:,.0f} arrivals/s, peak memory {peak:.0f} MiB "
        f"(reading the files took {read - began:.2f} s more)"
    )


if __name__ == "__main__":
    main()
