"""Whether DRR's network learns: python -m benchmarks.from_scratch [EPISODES].

Runs the published 64-node command with `--init-from scratch`, and keeps the network's
parameters after its first thousand decisions and at the end of each episode; the next
episode goes on from there, on other arrivals. Each network then places the same jobs
of other seeds by itself, beside heuristics: no look ahead, no learning, no moves.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from analysis.comparison import interval
from clusterdata.workload import load_workload
from commands.train_policy import Episode, mean_delay
from model.config import Settings
from processes.simulation import Simulation
from schedulers.drr.checkpoint import saved
from schedulers.drr.experience import Transition
from schedulers.drr.scheduler import DRR

PUBLISHED = Settings(
    scheduler="DRR", num_node=64, interarrival_time=8.0, lr_actor=0.04,
    lr_critic=0.02, use_imitation=True, imitation_loss_weight=0.1,
    use_dynamic_entropy=True, beta0=0.04, use_attn=True, use_advantage_adjustment=0.6,
    use_rescheduling=True, util_threshold=0.5, re_time=3600.0, re_num=5,
    init_from="scratch",
)  # fmt: skip
FIRST = 1000  # decisions, after which parameters are kept
JUDGED = range(100, 105)  # seeds
WAYS: dict[str, dict[str, Any]] = {  # a teacher makes the first 1,000 decisions
    "as published": {},
    "taught best fit": {"teacher": "BestFit"},
    "no look ahead, taught best fit": {"teacher": "BestFit", "look_ahead": 0},
    "no look ahead, no teacher": {"use_imitation": False, "look_ahead": 0},
}
HEURISTICS = ("FGD", "BestFit", "LifetimeAligned", "TunedLinear")


def main(words: Sequence[str]) -> None:
    """Print what jobs wait under heuristics, and under each network."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("episodes", type=int, nargs="?", default=1)
    episodes = parser.parse_args(words).episodes
    print(f"{'mean queueing delay, s':<60}{'less than after 1,000 decisions':>40}")
    for name in HEURISTICS:
        show(name, delays(replace(PUBLISHED, scheduler=name)))
    for way, changed in WAYS.items():
        first = None
        with TemporaryDirectory() as folder:
            settings = replace(PUBLISHED, **changed)
            for label, file in learn(settings, episodes, Path(folder)):
                alone = replace(settings, learn=False, look_ahead=0)
                found = delays(replace(alone, init_from=str(file)))
                show(f"{way}, {label}", found, first)
                first = found if first is None else first


def learn(
    settings: Settings, episodes: int, folder: Path
) -> Iterator[tuple[str, Path]]:
    """Yield files: what is known after the first decisions, and after each episode."""
    begun, known = folder / "begun", folder / "known"
    for episode in range(episodes):
        settings = replace(settings, seed=episode)
        workload = load_workload(settings)
        simulation = Simulation(settings, workload.jobs, workload.nodes)
        if episode == 0:
            keep_first(simulation, begun)
        learned = simulation.run().learned
        assert learned is not None
        known.write_bytes(learned.checkpoint)
        if episode == 0:
            yield f"after {FIRST:,} decisions", begun
        yield f"after episode {episode + 1}", known
        settings = replace(settings, init_from=str(known))


def keep_first(simulation: Simulation, file: Path) -> None:
    """Write what the scheduler knows when it has told of its first decisions."""
    scheduler, told = simulation.scheduler, 0
    assert isinstance(scheduler, DRR) and scheduler.tell
    tell = scheduler.tell

    def count(transition: Transition) -> None:
        nonlocal told
        told += 1
        tell(transition)
        if told == FIRST:
            file.write_bytes(saved(scheduler.parameters, {"decisions": told}))

    scheduler.tell = count


def delays(settings: Settings) -> "pd.Series[float]":
    """Return the mean queueing delay of each seed after the warm-up, s; no moves."""
    still = replace(settings, use_rescheduling=False)
    found = {
        seed: mean_delay(Episode(replace(still, seed=seed), settings.init_from))
        for seed in JUDGED
    }
    return pd.Series(found)


def show(
    label: str, found: "pd.Series[float]", first: "pd.Series[float] | None" = None
) -> None:
    """Print one line: the mean, and what it has gained, paired by seed."""
    mean, half = interval(found)
    line = f"{label:<56}{mean:>9,.0f} ± {half:<6,.0f}"
    if first is not None:
        mean, half = interval(first - found)
        line += f"{mean:>9,.0f} ± {half:<6,.0f}"
    print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
