"""What ``--check`` costs: paired runs with and without it, in CPU seconds.

python -m benchmarks.checks [--rounds 5]
"""

import argparse
from statistics import median
from time import process_time

from clusterdata.generator import generate
from model.config import Settings
from processes.simulation import Simulation
from processes.watch import Watch


def seconds(settings: Settings, watched: bool) -> float:
    """Return the CPU seconds of a run."""
    simulation = Simulation(settings, generate(settings), settings.uniform_cluster())
    watch = Watch(simulation.cluster, simulation.env) if watched else None
    began = process_time()
    simulation.run(check=watch)
    return process_time() - began


def main() -> None:
    """Print the median ratio for two schedulers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    for name in ("FGD", "BestFit"):
        settings = Settings(scheduler=name)
        pairs = [
            (seconds(settings, False), seconds(settings, True)) for _ in range(rounds)
        ]
        ratios = [checked / plain for plain, checked in pairs]
        print(
            f"{name:10} {median(ratios):.2f} times, "
            f"{min(ratios):.2f} to {max(ratios):.2f}"
        )


if __name__ == "__main__":
    main()
