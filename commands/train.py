"""Train what DRR ships with: the tuned scorer, then the policy.

run.py train --stage scorer --name scorer
run.py train --stage policy --name policy --rounds 8

The scorer's weights are tuned by the cross-entropy method on the replayed delay; the
policy learns by expert iteration from the look ahead. Seeds 0 to 99 train, 100 to 119
validate. A training that was stopped goes on with --resume, to the same result.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from analysis.bounds import pooled_start_times
from analysis.run_folder import write_text
from clusterdata.workload import load_workload
from commands.curriculum import TRAINING, VALIDATION, Cell, cells_of, of_cell
from commands.parallel import add_workers
from commands.train_policy import train_policy
from model.command_line import Parser, read_settings, settings_parser
from model.config import Settings
from model.errors import UserError
from model.job import WHOLE_GPU
from schedulers.drr.kernel import FEATURES
from schedulers.drr.search import (
    ELITE,
    GROWTH,
    LIFETIME,
    WARM_UP,
    Case,
    Replay,
    cross_entropy,
)
from schedulers.drr.search import left_of_gap as left_by_scorer
from schedulers.drr.state import Floats
from schedulers.drr.teachers import teacher_weights


def command(words: Sequence[str]) -> int:
    """Run ``run.py train WORDS``; return the exit code."""
    options = make_parser().parse(words)
    settings = replace(read_settings(options), scheduler="DRR", learn=False)
    check(options, settings)
    out = options.out / (options.name or f"train-{options.stage}")
    if options.stage == "scorer":
        return train_scorer(settings, options, out)
    return train_policy(settings, options, out)


def check(options: argparse.Namespace, settings: Settings) -> None:
    """Raise UserError for what cannot be trained with."""
    ranges = {
        "rounds": (0, 100_000),
        "population": (ELITE, 100_000),
        "episodes": (1, 100_000),
        "validation": (1, len(VALIDATION)),
    }
    for name, (low, high) in ranges.items():
        value = getattr(options, name)
        if not low <= value <= high:
            raise UserError(f"--{name} {value}: must be {low} to {high}")
    cells_of(options.sizes)
    teacher_weights(settings.teacher)
    plain = settings.queue == "fifo" and settings.resource_names == ("gpu",)
    if not plain or settings.gangs or settings.gpu_types:
        raise UserError("train: fifo, GPUs only, no --gangs and no --gpu-types")
    if options.stage == "policy" and settings.look_ahead < 2:
        raise UserError(f"--look-ahead {settings.look_ahead}: must be at least 2")
    if options.stage == "scorer" and options.resume:
        raise UserError("--resume: the scorer is tuned in one go")


def make_parser() -> Parser:
    """Return the parser of `train`: all settings, and how long to train."""
    parser = settings_parser("train", __doc__)
    parser.set_defaults(num_jobs=10_000, init_from="teacher")
    parser.add_argument("--stage", choices=("scorer", "policy"), default="policy")
    parser.add_argument("--rounds", type=int, default=30, help="generations, or rounds")
    parser.add_argument("--population", type=int, default=64, help="scorers in each")
    parser.add_argument("--episodes", type=int, default=12, help="simulations a round")
    parser.add_argument(
        "--sizes", default="", help="nodes of the clusters to train on; empty = all"
    )
    parser.add_argument(
        "--validation", type=int, default=4, help="validation seeds, from 100"
    )
    add_workers(parser)
    parser.add_argument(
        "--address",
        default="",
        help="of a Ray cluster for the rollouts; auto, or local",
    )
    parser.add_argument("--resume", action="store_true", help="go on where it stopped")
    return parser


def train_scorer(settings: Settings, options: argparse.Namespace, out: Path) -> int:
    """Tune the linear scorer; write tuned.json."""
    rows: list[dict[str, Any]] = []
    cells = cells_of(options.sizes)

    def draw(generation: int) -> list[list[Case]]:
        seeds = [(3 * generation + k) % TRAINING for k in range(3)]
        return [[case(settings, cell, seed) for seed in seeds] for cell in cells]

    def tell(generation: int, share: float, mean: Floats) -> None:
        rows.append({"generation": generation, "share_left": round(share, 4)})
        sys.stderr.write(f"generation {generation}: {share:.3f} of the gap left\n")

    rng = np.random.default_rng(settings.seed)
    weights = cross_entropy(draw, options.rounds, options.population, rng, tell)
    seeds = VALIDATION[: options.validation]
    judged = [[case(settings, cell, seed) for seed in seeds] for cell in cells]
    content = {
        "weights": dict(zip(FEATURES, weights.round(4).tolist(), strict=True)),
        "share_left": {
            "tuned": round(left_by_scorer(weights, judged), 4),
            "LifetimeAligned": round(left_by_scorer(LIFETIME, judged), 4),
        },
        "command": f"run.py train --stage scorer --rounds {options.rounds} "
        f"--population {options.population} --num-jobs {settings.num_jobs} "
        f"--validation {options.validation} --seed {settings.seed}"
        + (f" --sizes {options.sizes}" if options.sizes else ""),
        "validation_seeds": [*seeds],
        "generations": rows,
    }
    write_text(json.dumps(content, indent=1) + "\n", out / "tuned.json")
    sys.stdout.write(f"{content['share_left']}\nresults: {out / 'tuned.json'}\n")
    return 0


def case(settings: Settings, cell: Cell, seed: int) -> Case:
    """Return a replay, with what plain FGD and the pooled cluster make of it."""
    workload = load_workload(of_cell(settings, cell, seed))
    replay = Replay(workload.jobs, workload.nodes)
    total = WHOLE_GPU * sum(node.num_gpus for node in workload.nodes)
    submit, duration, demand = replay.columns()
    starts = pooled_start_times(submit, duration, demand[:, None], [total])
    pooled = float((starts - submit)[int(WARM_UP * len(starts)) :].mean())
    return Case(replay, replay.mean_delay(GROWTH), pooled)
