"""Simulate: run some schedulers on one trace; one run folder each, one table.

python run.py                                   three schedulers, one table, one figure
python run.py --num-node 64 --interarrival-time 8 --scheduler FGD
python run.py --trace jobs.csv --node-list nodes.csv --resources gpu,cpu,memory

Other commands, each with its own --help: compare, sweep, report, train, trace, plan
"""

import argparse
import gc
import hashlib
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from analysis.run_folder import (
    ORIGIN,
    PARTIAL,
    Run,
    check_place,
    read_run,
    run_of,
    to_json,
    write_bytes,
    write_run,
)
from analysis.tables import about, compare_runs
from analysis.timeline import timeline
from clusterdata.workload import Workload, load_workload
from commands.journal import FILE, Journal, read_seconds
from commands.notes import tell
from commands.provenance import configured, provenance, timing
from commands.recorded import recorded_settings
from commands.tensorboard import write_tensorboard
from model.command_line import Parser, read_settings, reader, settings_parser
from model.config import Settings
from model.errors import INTERRUPTED, UserError
from processes.watch import Watch
from schedulers.planners.registry import planners_of
from schedulers.registry import scheduler_class

MAIN_JOB = "FGD,BestFit,DRR"  # what `python run.py` alone compares


def command(words: Sequence[str]) -> int:
    """Run ``run.py [simulate] WORDS``; return the exit code."""
    parser = make_parser()
    options = parser.parse(words)
    if options.config:
        parser.set_defaults(**recorded_settings(options.config))
        options = parser.parse(words)
    return simulate(read_settings(options), options)


def make_parser() -> Parser:
    """Return the parser of `simulate`: all settings, and where to put the results."""
    parser = settings_parser("[simulate]", __doc__)
    parser.set_defaults(scheduler=MAIN_JOB)
    parser.add_argument(
        "--timeline",
        type=reader(bool),
        nargs="?",
        const=True,
        default=False,
        help="write timeline.json.gz, for https://ui.perfetto.dev",
    )
    parser.add_argument(
        "--tensorboard",
        type=reader(bool),
        nargs="?",
        const=True,
        default=False,
        help="write what DRR learned for TensorBoard, if it is installed",
    )
    parser.add_argument(
        "--check",
        type=reader(bool),
        nargs="?",
        const=True,
        default=False,
        help="check the invariants at every event; a contradiction stops the run",
    )
    parser.add_argument(
        "--checkpoint-every",
        default="10m",
        help="wall-clock time between entries of the journal: 600, 30s, 10m, 2h",
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with a run that was killed: replay it, verified by its journal",
    )
    parser.add_argument(
        "--config",
        type=Path,
        help="config.json of a run: its settings are the defaults",
    )
    return parser


def simulate(settings: Settings, options: argparse.Namespace) -> int:
    """Run each scheduler on the same trace; write the run folders; print the table."""
    names = [scheduler_class(name).name for name in settings.schedulers]
    names = list(dict.fromkeys(names))
    planners_of(settings.planner, ())
    workload = load_workload(settings)
    tell(workload.notes)
    runs = []
    for name in names:
        one = replace(settings, scheduler=name)
        path = options.out / run_name(one, options.name, len(names))
        done = completed(path, one, workload) if options.resume else None
        run = done or run_one(one, workload, path, options)
        runs.append(run)
        if options.tensorboard:
            write_tensorboard(run, path / "tensorboard")
        if options.timeline:
            write_bytes(timeline(run), path / "timeline.json.gz")
        if run.summary["interrupted"]:
            break
    report(runs, workload, options.out / (options.name or runs[0].path.name))
    return INTERRUPTED if runs[-1].summary["interrupted"] else 0


def completed(path: Path, settings: Settings, workload: Workload) -> Run | None:
    """Return the run that is there, if it is of these settings and files, and whole."""
    if not path.is_dir():
        return None
    run = read_run(path)
    asked = provenance(settings, workload)
    same = all(run.config.get(name) == asked[name] for name in (*ORIGIN, "code_sha256"))
    if not same or run.summary["interrupted"]:
        return None
    tell([f"{path} is complete"])
    return run


def run_name(settings: Settings, name: str, schedulers: int) -> str:
    """Return the run folder's name: as asked, or from the settings and their hash."""
    scheduler = settings.scheduler.lower().replace("&", "")
    if name and (Path(name).name != name or name.startswith(".")):
        raise UserError(f"--name {name}: must be a plain name, no path")
    if name.endswith(PARTIAL):
        raise UserError(f"--name {name}: must not end in {PARTIAL}, as unfinished runs")
    if name:
        return f"{name}-{scheduler}" if schedulers > 1 else name
    digest = hashlib.sha256(to_json(settings.as_dict()).encode()).hexdigest()[:8]
    return f"{scheduler}-{digest}"


def run_one(
    settings: Settings, workload: Workload, path: Path, options: argparse.Namespace
) -> Run:
    """Simulate one scheduler under a progress bar and write its run folder."""
    run = simulated(settings, workload, path, options)
    gc.collect()  # the simulation holds as much memory as its results
    write_run(run)
    return run


def simulated(
    settings: Settings, workload: Workload, path: Path, options: argparse.Namespace
) -> Run:
    """Simulate one scheduler; leave a journal meanwhile in the partial folder."""
    simulation, config = configured(settings, workload)
    every = read_seconds(options.checkpoint_every)
    partial = check_place(path, config)
    resume = options.resume and (partial / FILE).is_file()
    journal = Journal(partial, simulation, every, resume)
    watch = Watch(simulation.cluster, simulation.env) if options.check else None
    with tqdm(
        total=len(simulation.accepted),
        desc=settings.scheduler,
        unit="job",
        disable=None,
    ) as bar:
        result = simulation.run(lambda left: bar.update(left - bar.n), watch)
    if journal.verified:
        tell([f"{journal.verified} checkpoints were passed again"])
    journal.remove()
    return run_of(path, config, result, timing(result))


def report(runs: Sequence[Run], workload: Workload, stem: Path) -> None:
    """Print the table and draw the overview of what was run beside *stem*."""
    summary = runs[0].summary
    sys.stdout.write(f"{about(summary, runs[0].config)}\n\n")
    table = compare_runs([run.summary for run in runs], [run.timing for run in runs])
    sys.stdout.write(f"{table}\n\n")
    for run in runs:
        sys.stdout.write(f"results: {run.path}\n")
    if summary["finished"]:
        from analysis.figures import draw_overview, save_figure  # brings matplotlib

        picture = stem.with_name(f"{stem.name}-overview.png")
        save_figure(draw_overview(runs), picture)
        sys.stdout.write(f"figure:  {picture}\n")
