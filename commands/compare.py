"""Compare schedulers over paired seeds, in parallel; a finished run is never repeated.

run.py compare --schedulers FGD,BestFit --seeds 100-104
run.py compare --schedulers "FGD,FGD+fgd_score=plain,FGD+resched" --traces native
run.py compare --experiment fgd-openb --data FOLDER
"""

import argparse
import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from analysis.comparison import compare, latex, markdown
from analysis.figures import save_figure
from analysis.frontier import draw_frontier
from analysis.run_folder import (
    check_folder,
    measures_of,
    run_of,
    to_json,
    write_csv,
    write_text,
)
from clusterdata.generator import MIXES
from clusterdata.workload import checksum_of, load_workload
from commands.fgd_openb import TRACES, fgd_openb
from commands.notes import tell
from commands.parallel import add_workers, as_done, read_seeds
from commands.provenance import code_version, configured, files_of, timing
from commands.variants import read_variants
from model.command_line import Parser, read_settings, settings_parser
from model.config import Settings
from model.errors import UserError
from schedulers.planners.registry import planners_of

MANY = 100  # runs, of which to warn
DEFAULT = "FGD,BestFit,GpuPacking,R&P,ElasticFlow,Hops,LifetimeAligned"


class Cell(NamedTuple):
    """One run: a variant of a scheduler on one trace, cluster and seed."""

    label: str
    settings: Settings
    path: Path  # where its summary is kept


def command(words: Sequence[str]) -> int:
    """Run ``run.py compare WORDS``; return the exit code."""
    options = make_parser().parse(words)
    out = options.out / (options.name or options.experiment or "compare")
    seeds = read_seeds(options.seeds)
    if options.experiment == "fgd-openb":
        traces = (options.traces or "default").split(",")
        return fgd_openb(traces, seeds, options.data, out, options.workers)
    if options.experiment:
        raise UserError(f"--experiment {options.experiment}: must be fgd-openb")
    for name in ("scheduler", "seed"):
        if name in options.given:
            raise UserError(f"--{name}: compare takes --{name}s")
    settings = read_settings(options)
    cells = [
        cell(label, replace(variant, trace=trace, seed=seed), out)
        for trace in traces_of(options, settings.trace)
        for seed in seeds
        for label, variant in read_variants(options.schedulers, settings)
    ]
    return run_cells(cells, len(seeds), out, options.workers)


def traces_of(options: argparse.Namespace, one: str) -> list[str]:
    """Return the traces that are asked for, each once; *one* is the setting."""
    names = [name.strip() for name in options.traces.split(",") if name.strip()]
    if not names:
        asked = one not in MIXES or "trace" in options.given
        names = [one] if asked else [*MIXES]
    return list(dict.fromkeys(names))


def make_parser() -> Parser:
    """Return the parser of `compare`: all settings, and what is compared."""
    parser = settings_parser("compare", __doc__)
    parser.add_argument(
        "--schedulers",
        default=DEFAULT,
        help="with commas; NAME+option=value changes a setting for one of them, "
        "NAME+resched is NAME+use_rescheduling=True",
    )
    parser.add_argument(
        "--traces",
        default="",
        help=f"with commas (default: {', '.join(MIXES)}); for fgd-openb, of "
        f"{', '.join(TRACES)} (default: default)",
    )
    parser.add_argument(
        "--seeds", default="3", help="range (200-204), list, or how many from 0"
    )
    parser.add_argument("--experiment", default="", help="fgd-openb, or nothing")
    parser.add_argument(
        "--data", type=Path, default=Path("openb"), help="folder of the openb CSV files"
    )
    add_workers(parser)
    return parser


def cell(label: str, settings: Settings, out: Path) -> Cell:
    """Return a run, and where it is kept: by its settings, files and our code."""
    planners_of(settings.planner, ())
    inputs = files_of(settings)
    if settings.trace not in MIXES and Path(settings.trace).exists():
        inputs["trace"] = checksum_of(Path(settings.trace))
    text = to_json({**settings.as_dict(), "code": code_version(), "inputs": inputs})
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return Cell(label, settings, out / "cells" / f"{digest}.json")


def run_cells(cells: Sequence[Cell], seeds: int, out: Path, workers: int) -> int:
    """Run what is not there yet; print the tables and write them."""
    check_folder(out)
    missing = missing_of(cells)
    if len(missing) < len(cells):
        tell([f"{len(cells) - len(missing)} runs are there already"])
    if len(missing) > MANY:  # perhaps --seeds 200 was to mean one of them
        tell([f"{len(missing):,} runs to do, of {seeds} seeds"])
    for _, (path, text) in as_done(run_cell, missing, workers, "comparing"):
        write_text(text, path)
    names = shown(one.settings.trace for one in cells)
    rows = pd.DataFrame(
        {
            **measures_of(one.path.read_text()),
            "scheduler": one.label,
            "trace": names[one.settings.trace],
        }
        for one in cells
    )
    compared = compare(rows)
    tables = markdown(compared, seeds)
    write_csv(rows, out / "comparison.csv")
    write_text(tables, out / "comparison.md")
    write_text(latex(compared, seeds), out / "comparison.tex")
    sys.stdout.write(
        f"{tables}\nmean ± half of the 95 % interval over the seeds; * = better than "
        f"each other one, paired by seed, beyond the interval\n"
    )
    sys.stdout.write(f"results: {out / 'comparison.csv'}, .md and .tex\n")
    if (rows["moves"] > 0).any():
        save_figure(draw_frontier(rows), out / "frontier.png")
        sys.stdout.write(f"figure:  {out / 'frontier.png'}\n")
    return 0


def shown(traces: Iterable[str]) -> dict[str, str]:
    """Return what each trace is called in the tables: its file's name, if one has it.

    >>> shown(["a/jobs.csv", "b/jobs.csv", "c/old.csv"])["c/old.csv"]
    'old.csv'
    """
    once = dict.fromkeys(traces)
    files = Counter(Path(name).name for name in once)
    short = {name: Path(name).name for name in once}
    return {name: file if files[file] == 1 else name for name, file in short.items()}


def missing_of(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that were not run yet, or whose file was damaged; each once."""
    return list({one.path: one for one in cells if not _is_there(one.path)}.values())


def _is_there(path: Path) -> bool:
    try:
        measures = measures_of(path.read_text())
    except (FileNotFoundError, ValueError, AttributeError):
        return False
    return measures.get("interrupted") is False


def run_cell(cell: Cell) -> tuple[Path, str]:
    """Simulate one cell; return where its measures belong, and them as JSON."""
    workload = load_workload(cell.settings)
    simulation, config = configured(cell.settings, workload)
    result = simulation.run().whole()
    run = run_of(cell.path, config, result, timing(result))
    row: dict[str, Any] = {
        "trace": Path(cell.settings.trace).name,
        "nodes": len(workload.nodes),
        "interarrival_time": cell.settings.interarrival_time,
        **run.summary,
        **run.timing,
    }
    return cell.path, to_json(row)
