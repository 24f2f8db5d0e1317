"""Microsoft's Philly trace: cluster_job_log, a JSON list with an object for each job.

Keys: jobid, submitted_time, status (Pass, Killed, Failed), vc, user, attempts: a list
of start_time, end_time and detail, which lists machines as {ip, gpus: [gpu0, ...]}.
Times are Pacific local time, as 2017-10-09 07:18:06; null or "None" if unknown.

Quirks, and what is done about them: times are taken as UTC, so an hour is twice there
in autumn; jobs without an attempt that ended are left out; those with several attempts
run for all of them together, as each held its GPUs; an attempt without an end is
passed over; a job has the most GPUs that an attempt had, in equal workers over the
machines. Duration is end - start; nothing says CPU or memory.

`philly_runtime.csv` of Alibaba's analysis has durations only: see `durations`.

Source: https://github.com/msr-fiddle/philly-traces (trace-data.tar.gz is read as it
is); CC-BY-4.0. Cite Jeon et al., USENIX ATC 2019.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np

from clusterdata.formats.building import gangs, jobs_of, since_first
from clusterdata.formats.canonical import LONGEST, check_ids
from clusterdata.formats.format import Format, Head, Options
from clusterdata.report import Report
from clusterdata.source import opened
from clusterdata.table import Table
from model.errors import TraceError
from model.job import WHOLE_GPU, Job

FILE = "cluster_job_log"
NONE = ("", "None")
MOST_ATTEMPTS_GPUS = 100_000


def read_philly(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the jobs in the order of the file.

    Raises
    ------
    TraceError
        If it is not such JSON, or a value makes no sense; names the item.
    """
    items = read_list(path, FILE)
    read = [_row(path, number, item, report) for number, item in enumerate(items, 1)]
    numbers = np.flatnonzero([row is not None for row in read]) + 1
    rows = [row for row in read if row is not None]
    names = ("jobid", "submitted_time", "user", "gpus", "nodes", "seconds", "attempts")
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    table = Table.of(path, columns, numbers, report, "item")
    check_ids(table, "jobid")
    submit = table.times("submitted_time", NONE)
    seconds = table.numbers("seconds", high=LONGEST)
    total = table.integers("gpus", high=MOST_ATTEMPTS_GPUS)
    keep = (seconds > 0) & ~np.isnan(submit)
    table.left_out(~keep, "no attempt that ended, or no time of submission")
    table.left_out(keep & (total == 0), "no GPU")
    keep &= total > 0
    several = keep & (table.integers("attempts") > 1)
    table.repaired(several, "several attempts, run as one")
    num_workers, gpus = gangs(table, total, table.integers("nodes"))
    made = {
        "job_id": table.text("jobid"),
        "submit_time": since_first(submit, keep & ~table.bad),
        "duration": seconds,
        "num_gpus": gpus,
        "gpu_milli": np.where(gpus > 0, WHOLE_GPU, 0),
        "num_workers": num_workers,
        "user": table.text("user"),
    }
    return jobs_of(table, made, keep)


def read_list(path: Path, member: str = "") -> list[Any]:
    """Return the list that a JSON file holds, which must not be empty."""
    try:
        with opened(path, member) as file:
            items = json.load(file)
    except (ValueError, RecursionError) as error:
        if isinstance(error, TraceError):
            raise
        raise TraceError(f"{path}: is not JSON ({error})") from None
    if not (isinstance(items, list) and items):
        raise TraceError(f"{path}: must be a JSON list of jobs, with at least one")
    return items


def _row(path: Path, number: int, item: Any, report: Report) -> tuple[str, ...] | None:
    """Return one job's columns as text, in the order above; None if it is wrong."""
    try:
        return _values(item)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        what = f"no {error}" if isinstance(error, KeyError) else str(error)
        report.wrong(TraceError(f"{path}, item {number}: is no job of Philly: {what}"))
        return None


def _values(item: Any) -> tuple[str, ...]:
    attempts, name = item["attempts"] or [], item["jobid"]
    if not isinstance(name, str):
        raise TypeError(f"jobid {name!r} is no text")
    ended = [(start, end) for start, end in map(_span, attempts) if start and end]
    if any(end < start for start, end in ended):
        raise ValueError("an attempt ends before it starts")
    seconds = sum((end - start).total_seconds() for start, end in ended)
    machines = [attempt.get("detail") or [] for attempt in attempts]
    most = max(machines, key=_devices, default=[])
    values = (name, item["submitted_time"] or "", item.get("user") or "")
    numbers = (_devices(most), len(most), seconds, len(ended))
    return (*map(str, values), *map(str, numbers))


def _devices(machines: list[Mapping[str, Any]]) -> int:
    lists = [machine["gpus"] for machine in machines]
    if not all(isinstance(gpus, list) for gpus in lists):
        raise TypeError("gpus must be a list")
    return sum(map(len, lists))


def _span(attempt: Mapping[str, Any]) -> tuple[datetime | None, datetime | None]:
    start, end = (
        None if attempt.get(name) in (None, *NONE) else attempt[name]
        for name in ("start_time", "end_time")
    )
    return (
        None if start is None else datetime.fromisoformat(start),
        None if end is None else datetime.fromisoformat(end),
    )


def _recognises(head: Head) -> bool:
    return head.text.lstrip().startswith("[") and '"attempts"' in head.text


FORMAT = Format(
    "philly", "Microsoft Philly, cluster_job_log", read_philly, recognises=_recognises
)
