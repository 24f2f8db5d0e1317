"""The commands that make files of jobs: generate, preprocess, fetch."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from tqdm import tqdm

from analysis.run_folder import write_bytes
from clusterdata.fetching import CATALOGUE, Source, fetch
from clusterdata.formats.canonical import to_csv
from clusterdata.formats.durations import read_durations
from clusterdata.formats.parquet import to_parquet
from clusterdata.generator import HERE, MIXES
from clusterdata.preprocess import RAW, find_raw, four_traces
from clusterdata.report import Report
from clusterdata.workload import load_workload, offered_load
from commands.notes import tell
from model.command_line import Parser, read_settings, settings_parser
from model.config import Settings
from model.errors import UserError, suggestion
from model.job import Job
from model.streams import stream

REFERENCE_GPUS = 512  # whose load is told of each of the four traces


def write(jobs: Sequence[Job], path: Path) -> int:
    """Write jobs as CSV or Parquet, whole or not at all; say so; return 0."""
    if path.name.endswith((".csv", ".csv.gz")):
        content = to_csv(jobs, packed=path.suffix == ".gz")
    elif path.suffix == ".parquet":
        content = to_parquet(jobs)
    else:
        raise UserError(f"{path}: must end in .csv, .csv.gz or .parquet")
    write_bytes(content, path)
    sys.stdout.write(f"{len(jobs):,} jobs: {path}\n")
    return 0


def generate_trace(words: Sequence[str]) -> int:
    """Draw jobs like PAI's, as settings say: mix, load, arrivals, gangs, deadlines."""
    parser = settings_parser("trace generate", generate_trace.__doc__)
    parser.add_argument("to", type=Path, help="OUT.csv, OUT.csv.gz or OUT.parquet")
    parser.add_argument(
        "--durations",
        type=Path,
        help="CSV with a column runtime, s: draw the durations from it instead",
    )
    options = parser.parse(words)
    settings = read_settings(options)
    if settings.trace not in MIXES:
        raise UserError(f"--trace {settings.trace}: must be {', '.join(MIXES)}")
    drawn = settings
    if options.durations:  # the range is of the file's durations then
        drawn = replace(settings, target_load="off", duration_range="off")
    jobs = load_workload(drawn).jobs
    if options.durations:
        report = Report()
        jobs = with_durations(jobs, read_durations(options.durations, report), settings)
        tell(report.lines())
    return write(jobs, options.to)


def with_durations(
    jobs: Sequence[Job],
    seconds: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    settings: Settings,
) -> list[Job]:
    """Give each job one of the durations that are within `duration_bounds`, at random.

    Raises
    ------
    UserError
        If none is.
    """
    low, high = settings.duration_bounds
    within = seconds[(seconds >= low) & (seconds <= high)]
    if not len(within):
        raise UserError(f"--durations: none is from {low:g} to {high:g} s")
    drawn = stream(settings.seed, "durations").choice(within, len(jobs)).tolist()
    return [
        replace(job, duration=duration)
        for job, duration in zip(jobs, drawn, strict=True)
    ]


def preprocess_traces(words: Sequence[str]) -> int:
    """Make filtered, sampled, share_0.2 and share_0.6 traces of a raw PAI trace.

    The raw files belong in clusterdata/cluster-trace-gpu-v2020; without them the
    generator draws the jobs.
    """
    parser = settings_parser("trace preprocess", preprocess_traces.__doc__)
    parser.set_defaults(out=HERE)
    parser.add_argument("--raw", type=Path, help=f"file or folder (default: {RAW})")
    options = parser.parse(words)
    settings = read_settings(options)
    raw = options.raw or RAW
    if options.raw and not raw.exists():
        raise UserError(f"--raw {raw}: no such file or folder")
    found = find_raw(raw) if raw.is_dir() else raw if raw.is_file() else None
    traces, notes = four_traces(settings, found, settings.trace_format)
    tell(notes)
    for name, jobs in traces.items():
        write(jobs, options.out / f"{name}_traces.csv")
        load = offered_load(jobs, REFERENCE_GPUS)
        sys.stdout.write(f"  offered load {load:.3f} of {REFERENCE_GPUS} GPUs\n")
    return 0


def fetch_trace(words: Sequence[str]) -> int:
    """Download a public trace from its publisher; without a name, list them."""
    parser = Parser(prog="run.py trace fetch", description=fetch_trace.__doc__)
    parser.add_argument("trace", nargs="?", default="")
    parser.add_argument("--to", type=Path, default=Path("traces"), help="folder")
    parser.add_argument("--url", default="", help="another address of the same file")
    options = parser.parse(words)
    if not options.trace:
        for name, source in CATALOGUE.items():
            sys.stdout.write(f"{name:16} {source.url}\n{'':17}{source.licence}\n")
        return 0
    if options.trace not in CATALOGUE:
        near = suggestion(options.trace, CATALOGUE)
        raise UserError(f"trace fetch {options.trace}: no such trace{near}")
    source = CATALOGUE[options.trace]
    if options.url:
        source = Source(options.url, source.licence, source.sha256)
    sys.stdout.write(f"{source.url}\nlicence: {source.licence}\n")
    with tqdm(unit="B", unit_scale=True, desc=options.trace, disable=None) as bar:
        path, found = fetch(source, options.to, bar.update)
    known = "as published" if source.sha256 else "its publisher tells none"
    sys.stdout.write(f"SHA-256: {found} ({known})\n{path}\n")
    return 0
