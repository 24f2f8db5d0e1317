"""All formats: which one a file has, and its jobs."""

from pathlib import Path
from typing import NamedTuple

from clusterdata.formats import (
    canonical,
    durations,
    elasticflow,
    helios,
    kubernetes_pods,
    openb,
    pai_jobs,
    pai_tables,
    parquet,
    philly,
    slurm,
    spot,
    swf,
)
from clusterdata.formats.format import Format, Head
from clusterdata.report import Report
from clusterdata.source import head
from model.collection import rare_collection
from model.errors import TraceError, UserError, suggestion
from model.job import Job

AUTO = "auto"
FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT
    for module in (
        canonical, parquet, openb, pai_jobs, pai_tables, elasticflow, philly, helios,
        spot, swf, slurm, kubernetes_pods, durations,
    )
}  # fmt: skip


class Trace(NamedTuple):
    """A trace as it was read.

    Attributes
    ----------
    jobs : in the order of the file.
    format : which one it has.
    report : what was left out, repaired or wrong.
    """

    jobs: list[Job]
    format: Format
    report: Report


def read_trace(
    path: str | Path, trace_format: str = AUTO, report: Report | None = None
) -> Trace:
    """Return what a trace file holds.

    Parameters
    ----------
    trace_format : auto, or a name, with options as ``slurm:shards=8,cpu=true``.
    report : gets what was left out and repaired, and if it collects, what is wrong.

    Raises
    ------
    TraceError
        If the file cannot be read or has no known format.
    UserError
        If there is no such format or option.
    """
    path, report = Path(path), report or Report()
    name, _, text = trace_format.partition(":")
    known = sniff(path) if name == AUTO else find_format(name)
    with rare_collection():
        jobs = known.read(path, report, _options(known, text))
    return Trace(jobs, known, report)


def find_format(name: str) -> Format:
    """Return the format of that name, or raise UserError."""
    if name not in FORMATS:
        near = suggestion(name, [*FORMATS, AUTO])
        raise UserError(
            f"--trace-format {name}: no such format{near}; there are "
            f"{', '.join([AUTO, *FORMATS])}"
        )
    return FORMATS[name]


def sniff(path: Path) -> Format:
    """Return the format of a file, by its beginning, its columns or its name.

    A CSV file that fits none exactly is taken for the format with most of its columns,
    whose loader then says what is missing.

    Raises
    ------
    TraceError
        If it is like none of them.
    """
    if path.is_dir() and pai_tables.find_table(path, pai_tables.TASKS):
        return FORMATS["pai-tables"]
    seen = _head(path)
    for known in FORMATS.values():
        if known.recognises(seen):
            return known

    def share(known: Format) -> float:
        return len(seen.columns & {*known.columns}) / max(1, len(known.columns))

    best = max(FORMATS.values(), key=share)
    if share(best) == 0 and "," not in seen.text:
        raise TraceError(
            f"{path}: is like no known format; there are {', '.join(FORMATS)} "
            f"(--trace-format)"
        )
    return best


def _head(path: Path) -> Head:
    if path.suffix == ".parquet" and path.is_file():
        return Head(path, parquet.MAGIC.decode(), frozenset())
    text = head(path, philly.FILE)
    first = text.split("\n", 1)[0]
    return Head(path, text, frozenset(word.strip(' "\r') for word in first.split(",")))


def _options(known: Format, text: str) -> dict[str, str]:
    """Return a format's options, those that *text* names changed."""
    options = {name: option.default for name, option in known.options.items()}
    for word in filter(None, text.split(",")):
        name, equals, value = word.partition("=")
        if name not in options or not equals:
            there = ", ".join(f"{n}=..." for n in options) or "none"
            raise UserError(
                f"--trace-format {known.name}:{word}: its options are {there}"
            )
        options[name] = known.options[name].read(f"{known.name}:{name}", value)
    return options
