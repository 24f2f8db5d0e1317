"""What one decision costs: R&P against FGD, ElasticFlow's admissions, Hops' plans.

python -m benchmarks.decisions [--num-jobs 20000]
"""

import argparse
import statistics
from collections.abc import Callable
from time import perf_counter
from typing import Any

from clusterdata.workload import load_workload
from model.config import Settings
from processes.simulation import Simulation

CLUSTERS = ((64, 8.0), (128, 3.8))


def timed(function: Callable[..., Any], times: list[float]) -> Callable[..., Any]:
    """Return the function, noting the milliseconds of each call."""

    def run(*arguments: Any) -> Any:
        began = perf_counter()
        try:
            return function(*arguments)
        finally:
            times.append(1000 * (perf_counter() - began))

    return run


def build(name: str, nodes: int, gap: float, num_jobs: int) -> Simulation:
    """Return a simulation of the native mix, seed 100, ready to run."""
    settings = Settings(
        scheduler=name,
        num_node=nodes,
        interarrival_time=gap,
        num_jobs=num_jobs,
        seed=100,
    )
    workload = load_workload(settings)
    return Simulation(settings, workload.jobs, workload.nodes)


def measure(name: str, method: str, nodes: int, gap: float, num_jobs: int) -> str:
    """Run one scheduler; return a line about one of its methods."""
    simulation, times = build(name, nodes, gap, num_jobs), list[float]()
    live: list[int] = []
    original = getattr(simulation.scheduler, method)
    held = simulation.cluster.held

    def noted(*arguments: Any) -> Any:
        live.append(len(held) + len(simulation.dispatcher.pending))
        return original(*arguments)

    setattr(simulation.scheduler, method, timed(noted, times))
    simulation.run()
    many = [ms for ms, jobs in zip(times, live, strict=True) if jobs >= 300] or times
    p99 = statistics.quantiles(many, n=100)[98] if len(many) > 1 else many[0]
    return (
        f"{name:16} {nodes:4} nodes  {method:20} calls {len(many):7,}  "
        f"median {statistics.median(many):8.3f} ms  p99 {p99:8.2f} ms  "
        f"mean live jobs {statistics.mean(live):6.0f}"
    )


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-jobs", type=int, default=20_000)
    num_jobs = parser.parse_args().num_jobs
    for nodes, gap in CLUSTERS:
        for name, method in (
            ("FGD", "decide"),
            ("R&P", "decide"),
            ("ElasticFlow", "_admit"),
            ("Hops", "plan"),
        ):
            print(measure(name, method, nodes, gap, num_jobs), flush=True)


if __name__ == "__main__":
    main()
