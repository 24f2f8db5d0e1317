"""Sweep: a grid of settings x seeds, over many processes or machines, into one table.

run.py sweep load.toml                          processes of this machine
run.py sweep load.toml --address auto           a Ray cluster that is there
run.py sweep load.toml --address local          Ray on this machine

A file names what all runs have in common, and what varies:

    seeds = "0-4"
    [settings]
    num_jobs = 5000
    [grid]
    scheduler = ["FGD", "LifetimeAligned+recommended"]
    num_node = [32, 64]

Every combination of the grid is run with each seed; tables ``[[runs]]`` are run as they
are. A run that is done is kept in OUT/NAME/cells and never repeated, whatever
happens to workers or to the sweep. The result, sweep.parquet, holds a row for each run,
the same bytes whatever the number of workers.
"""

import argparse
import itertools
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.run_folder import check_folder, measures_of, write_bytes, write_text
from clusterdata.formats.parquet import parquet_of
from commands.compare import Cell, cell, missing_of, run_cell
from commands.notes import tell
from commands.parallel import add_workers, as_done, read_seeds
from commands.provenance import code_version
from commands.variants import read_variants
from model.command_line import Parser
from model.config import Settings, described_options
from model.errors import UserError, suggestion

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KEYS = ("seeds", "settings", "grid", "runs")
TIMES = ("wall_seconds", "jobs_per_second", "decision_ms_p50", "decision_ms_p99",
         "peak_rss_mib")  # differ between equal runs  # fmt: skip
MOST = 1_000_000  # runs


def command(words: Sequence[str]) -> int:
    """Run ``run.py sweep WORDS``; return the exit code."""
    options = make_parser().parse(words)
    out = options.out / (options.name or options.file.stem)
    plan = read_plan(options.file)
    cells = cells_of(plan, options.file, out)
    check_folder(out)
    missing = missing_of(cells)
    if len(missing) < len(cells):
        tell([f"{len(cells) - len(missing)} runs are there already"])
    for _, (path, text) in as_done(
        run_cell, missing, options.workers, "sweeping", options.address
    ):
        write_text(text, path)
    write_bytes(dataset(cells), out / "sweep.parquet")
    write_text(options.file.read_text(), out / "sweep.toml")
    sys.stdout.write(f"{len(cells):,} runs: {out / 'sweep.parquet'}\n")
    return 0


def make_parser() -> Parser:
    """Return the parser of `sweep`."""
    parser = Parser(
        prog="run.py sweep",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", type=Path, help="TOML")
    parser.add_argument("--out", type=Path, default=Path("runs"), help="output folder")
    parser.add_argument("--name", default="", help="what it is called there")
    add_workers(parser)
    parser.add_argument(
        "--address", default="", help="of a Ray cluster; auto, or local"
    )
    return parser


def read_plan(path: Path) -> dict[str, Any]:
    """Return the content of a sweep's file.

    Raises
    ------
    UserError
        If it is no TOML, or has other keys than a sweep.
    """
    try:
        plan: dict[str, Any] = tomllib.loads(path.read_text())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UserError(f"{path}: cannot be read ({error})") from None
    for key in plan:
        if key not in KEYS:
            raise UserError(f"{path}: unknown key {key!r}{suggestion(key, KEYS)}")
    for key, kind in (("settings", dict), ("grid", dict), ("runs", list)):
        if not isinstance(plan.get(key, kind()), kind):
            raise UserError(f"{path}: {key} must be a {kind.__name__} of settings")
    return plan


def cells_of(plan: dict[str, Any], path: Path, out: Path) -> list[Cell]:
    """Return the runs of a sweep, in the order of grid, list and seeds.

    Raises
    ------
    UserError
        If a setting is unknown, has a wrong value, or there are too many runs.
    """
    grid = plan.get("grid", {})
    for name, values in grid.items():
        if not isinstance(values, list) or not values:
            raise UserError(f"{path}: grid.{name} must be a list of values")
    points = [
        dict(zip(grid, values, strict=True))
        for values in itertools.product(*grid.values())
        if grid
    ]
    points += plan.get("runs", [])
    seeds = read_seeds(str(plan.get("seeds", "1")))
    if not 0 < len(points) * len(seeds) <= MOST:
        raise UserError(
            f"{path}: {len(points)} settings x {len(seeds)} seeds; there must be some, "
            f"and at most {MOST}"
        )
    found = []
    for point in points:
        if not isinstance(point, dict):
            raise UserError(f"{path}: {point!r} in runs must be a table of settings")
        asked = {**plan.get("settings", {}), **point}
        label, settings = _variant(asked, path)
        found += [cell(label, replace(settings, seed=seed), out) for seed in seeds]
    return found


def _variant(asked: dict[str, Any], path: Path) -> tuple[str, Settings]:
    """Return what one point of the sweep is called, and its settings."""
    options = {option.name: option for option in described_options()}
    for name, value in asked.items():
        if name == "seed":
            raise UserError(f"{path}: seed is no setting of a sweep; say seeds = ...")
        if name not in options:
            raise UserError(
                f"{path}: unknown setting {name!r}{suggestion(name, options)}"
            )
        if not options[name].takes(value):
            kind = options[name].kind.__name__
            raise UserError(f"{path}: {name} = {value!r} must be {kind}")
    scheduler = str(asked.pop("scheduler", Settings().scheduler))
    (variant, *others) = read_variants(scheduler, Settings(**asked))
    if others:
        raise UserError(f"{path}: scheduler = {scheduler!r} must be one of them")
    return variant


def dataset(cells: Sequence[Cell]) -> bytes:
    """Return the table as Parquet: a row for each run, settings, measures, provenance.

    Raises
    ------
    UserError
        If the package pyarrow is missing.
    """
    rows = []
    for one in cells:
        measures = measures_of(one.path.read_text())
        row = {"variant": one.label, **measures, **one.settings.as_dict()}
        rows.append({name: row[name] for name in row if name not in TIMES})
    return parquet_of(pd.DataFrame(rows).assign(code=code_version()))
