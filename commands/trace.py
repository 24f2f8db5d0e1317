"""Trace: look at jobs, check them, and make files of them.

run.py trace formats                    what can be read
run.py trace describe FILE              how many, how large, how long, when; a figure
run.py trace validate FILE              every problem by line and column
run.py trace convert FILE OUT.csv       to our format, CSV or Parquet
run.py trace generate OUT.csv           jobs as settings say, like PAI's
run.py trace preprocess                 the four traces of clusterdata/
run.py trace fetch NAME                 download a public trace
"""

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from analysis.figures import save_figure
from analysis.trace_figures import draw_trace
from analysis.trace_summary import describe, distances
from clusterdata.formats.canonical import jobs_frame
from clusterdata.formats.format import Format
from clusterdata.generator import MIXES, generate
from clusterdata.registry import AUTO, FORMATS, read_trace
from clusterdata.report import LEFT_OUT, REPAIRED, Report
from clusterdata.workload import adapt, load_nodes, offered_load
from commands.notes import tell
from commands.trace_files import fetch_trace, generate_trace, preprocess_traces, write
from model.command_line import Parser, read_settings, settings_parser
from model.config import Settings
from model.errors import UserError, suggestion
from model.job import Job

SHOWN = 20  # problems


def command(words: Sequence[str]) -> int:
    """Run ``run.py trace WORDS``; return the exit code."""
    name = words[0] if words else "--help"
    if name in ("-h", "--help"):
        sys.stdout.write(f"{__doc__}\n")
        return 0
    if name not in COMMANDS:
        near, known = suggestion(name, COMMANDS), ", ".join(COMMANDS)
        raise UserError(f"trace {name}: no such command{near}; there are {known}")
    return COMMANDS[name](words[1:])


def trace_formats(words: Sequence[str]) -> int:
    """List the formats, by which they are told, and their options."""
    Parser(prog="run.py trace formats", description=trace_formats.__doc__).parse(words)
    for known in FORMATS.values():
        sys.stdout.write(f"{known.name:12} {known.about}\n{_told_by(known)}")
        for name, option in known.options.items():
            sys.stdout.write(f"{'':15}:{name}={option.default}  {option.meaning}\n")
    sys.stdout.write("\nText may be packed as .gz, .zst or .tar.gz.\n")
    return 0


def _told_by(known: Format) -> str:
    return f"{'':13}columns {', '.join(known.columns)}\n" if known.columns else ""


def describe_trace(words: Sequence[str]) -> int:
    """Say what a trace asks for, in text and as a figure."""
    parser = settings_parser("trace describe", describe_trace.__doc__)
    parser.add_argument("file", help=f"of a trace, or one of {', '.join(MIXES)}")
    parser.add_argument(
        "--against",
        default="",
        help=f"how far it is from what is generated: {', '.join(MIXES)}",
    )
    options = parser.parse(words)
    settings = replace(read_settings(options), trace=options.file)
    if options.against and options.against not in MIXES:
        raise UserError(f"--against {options.against}: must be {', '.join(MIXES)}")
    jobs, timed = _jobs(settings)
    frame, nodes = jobs_frame(jobs), load_nodes(settings)
    num_gpus = sum(node.num_gpus for node in nodes)
    load = offered_load(sorted(jobs, key=lambda job: job.submit_time), num_gpus)
    sys.stdout.write(describe(frame, load, num_gpus, timed))
    other = None
    if options.against:
        plain = Settings(trace=options.against, duration_range="off", target_load="off")
        other = jobs_frame(generate(plain))
        sys.stdout.write(f"\ndistance D to the generator's {options.against} jobs\n")
        for name, apart in distances(frame, other).items():
            sys.stdout.write(f"{name:16} {apart:.3f}\n")
    name = options.name or Path(options.file).name.split(".csv")[0]
    picture = options.out / f"{name}-trace.png"
    save_figure(draw_trace(frame, Path(options.file).name, timed, other), picture)
    sys.stdout.write(f"figure: {picture}\n")
    return 0


def _jobs(settings: Settings) -> tuple[list[Job], bool]:
    """Return the jobs and whether their times mean something; print the notes."""
    if settings.trace in MIXES:
        return generate(settings), True
    trace = read_trace(settings.trace, settings.trace_format)
    timed = trace.report.timed or settings.interarrival_time > 0
    notes = trace.report.lines()
    if not trace.jobs:
        raise UserError(f"{settings.trace}: no job is left: {'; '.join(notes)}")
    jobs = adapt(trace, settings, notes) if timed else trace.jobs
    tell(notes)
    return jobs, timed


def validate_trace(words: Sequence[str]) -> int:
    """List what is wrong, left out and repaired in a trace; exit code 2 if wrong."""
    parser = Parser(prog="run.py trace validate", description=validate_trace.__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--trace-format", default=AUTO)
    options = parser.parse(words)
    report = Report(collect=True)
    trace = read_trace(options.file, options.trace_format, report)
    sys.stdout.write(f"{options.file}: {trace.format.about} ({trace.format.name})\n")
    sys.stdout.write(
        f"{len(trace.jobs):,} jobs, {report.total(LEFT_OUT):,} rows left out, "
        f"{report.total(REPAIRED):,} repaired, {len(report.problems):,} problems\n"
    )
    for line in report.lines():
        sys.stdout.write(f"note: {line}\n")
    for problem in sorted(report.problems, key=_place)[:SHOWN]:
        sys.stdout.write(f"{problem}\n")
    if len(report.problems) > SHOWN:
        sys.stdout.write(f"... and {len(report.problems) - SHOWN:,} more\n")
        kinds = Counter(
            problem.rpartition(" is not ")[2] for problem in report.problems
        )
        for rule, count in kinds.most_common():
            sys.stdout.write(f"{count:8,} x not {rule}\n")
    return 2 if report.problems else 0


def _place(problem: str) -> int:
    """Return the number of the line, row or item that a problem is in."""
    found = re.search(r", (?:line|row|item) (\d+)", problem)
    return int(found[1]) if found else 0


def convert_trace(words: Sequence[str]) -> int:
    """Write a trace in our format: OUT.csv, OUT.csv.gz or OUT.parquet."""
    parser = settings_parser("trace convert", convert_trace.__doc__)
    parser.add_argument("file", help="a trace")
    parser.add_argument("to", type=Path, help="OUT.csv, OUT.csv.gz or OUT.parquet")
    options = parser.parse(words)
    settings = replace(read_settings(options), trace=options.file)
    trace = read_trace(settings.trace, settings.trace_format)
    notes = trace.report.lines()
    jobs = adapt(trace, settings, notes)
    tell(notes)
    return write(jobs, options.to)


COMMANDS: dict[str, Callable[[Sequence[str]], int]] = {
    "formats": trace_formats,
    "describe": describe_trace,
    "validate": validate_trace,
    "convert": convert_trace,
    "generate": generate_trace,
    "preprocess": preprocess_traces,
    "fetch": fetch_trace,
}
