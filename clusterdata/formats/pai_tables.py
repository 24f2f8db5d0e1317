"""Alibaba PAI (cluster-trace-gpu-v2020) as published: tables of two months, GBs.

Given is ``pai_task_table`` (.csv, .tar.gz, .zst), or the folder that has it; those of
the other tables that lie beside it are used. They have no header (columns below), are
read piece by piece, and each task becomes a job:

=================  ============================================================
pai_task_table     job_name, task_name, inst_num, status, start_time, end_time,
                   plan_cpu (% of a core), plan_mem (GiB), plan_gpu (% of a
                   GPU), gpu_type; plans are of each instance
pai_job_table      job_name, inst_id, user, status, start_time, end_time
pai_instance_table job_name, task_name, inst_name, worker_name, inst_id, status,
                   start_time, end_time, machine
=================  ============================================================

Quirks, and what is done about them: a job's start_time is when it was submitted, a
task's when it was launched, so tasks are submitted when their job was, or without the
job table when they were launched; a task without times takes the first start and the
last end of its instances; those that never ended (Waiting, Running) or took no time
are left out, and so are those that
were stopped; Failed tasks held their GPUs and stay; plan_gpu may be blank (no GPU: left
out, unless ``pai-tables:cpu=true``) or neither a share nor whole (rounded up, and
reported); inst_num > 1 is a gang (``pai-tables:gangs=false``: one worker); gpu_type CPU
and MISC are no demand.

Source: https://github.com/alibaba/clusterdata, cluster-trace-gpu-v2020/data;
CC-BY-4.0. Cite Weng et al., "MLaaS in the Wild", NSDI 2022.
"""

from pathlib import Path

import numpy as np

from clusterdata.formats.building import Floats, jobs_of, requested
from clusterdata.formats.canonical import LONGEST, MOST_WORKERS
from clusterdata.formats.format import YES_NO, Format, Head, Option, Options
from clusterdata.formats.pai_jobs import ANY
from clusterdata.report import Mask, Report
from clusterdata.source import SUFFIXES
from clusterdata.table import Table
from model.errors import TraceError
from model.job import Job

TASKS, JOBS, INSTANCES = "pai_task_table", "pai_job_table", "pai_instance_table"
COLUMNS = {
    TASKS: ("job_name", "task_name", "inst_num", "status", "start_time", "end_time",
            "plan_cpu", "plan_mem", "plan_gpu", "gpu_type"),
    JOBS: ("job_name", "inst_id", "user", "status", "start_time", "end_time"),
    INSTANCES: ("job_name", "task_name", "inst_name", "worker_name", "inst_id",
                "status", "start_time", "end_time", "machine"),
}  # fmt: skip
ENDED = ("Terminated", "Failed")
STATUS = (*ENDED, "Waiting", "Running", "Ready", "Interrupted", "Cancelled", "Killed")
Spans = dict[str, tuple[float, float]]  # first start and last end of a task, s


def read_pai_tables(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the tasks as jobs, in the order of the table.

    Raises
    ------
    TraceError
        If a table has other columns, or a value is not what the format allows.
    """
    tasks = find_table(path, TASKS) if path.is_dir() else path
    if tasks is None:
        raise TraceError(f"{path}: the folder has no {TASKS}.csv or .tar.gz")
    submitted = _submissions(tasks.parent, report)
    spans = _spans(tasks.parent, report)
    jobs: list[Job] = []
    seen: set[str] = set()
    for table in Table.chunks(tasks, COLUMNS[TASKS], report, f"{TASKS}.csv"):
        jobs += _tasks(table, submitted, spans, options, seen)
    if not jobs and not report.problems:
        raise TraceError(f"{tasks}: has no task that ran on a GPU")
    first = min((job.submit_time for job in jobs), default=0.0)
    for job in jobs:  # in place: a million copies would double the memory
        object.__setattr__(job, "submit_time", job.submit_time - first)
    return jobs


def find_table(folder: Path, name: str) -> Path | None:
    """Return the table's file in a folder, whichever way it is packed."""
    endings = ("", *SUFFIXES)
    names = [f"{name}{csv}{end}" for csv in (".csv", "") for end in endings]
    return next((folder / n for n in names if (folder / n).is_file()), None)


def _submissions(folder: Path, report: Report) -> dict[str, tuple[str, float]]:
    """Return the user and the time of submission of each job, if the table is there."""
    path = find_table(folder, JOBS)
    found: dict[str, tuple[str, float]] = {}
    if path is None:
        return found
    for table in Table.chunks(path, COLUMNS[JOBS], report, f"{JOBS}.csv"):
        times = table.numbers("start_time", high=LONGEST, default=np.nan).tolist()
        users = table.text("user")
        known = {user: user for user in users}  # one copy of each name
        for name, user, time in zip(table.text("job_name"), users, times, strict=True):
            found[name] = (known[user], time)
    return found


def _spans(folder: Path, report: Report) -> Spans:
    """Return when the instances of each task ran, if the table is there."""
    path = find_table(folder, INSTANCES)
    spans: Spans = {}
    if path is None:
        return spans
    for table in Table.chunks(path, COLUMNS[INSTANCES], report, f"{INSTANCES}.csv"):
        frame = table.frame[["job_name", "task_name"]].assign(
            start=table.numbers("start_time", high=LONGEST, default=np.nan),
            end=table.numbers("end_time", high=LONGEST, default=np.nan),
        )
        ran = frame.dropna().groupby(["job_name", "task_name"], sort=False)
        for (job, task), start, end in ran.agg(
            {"start": "min", "end": "max"}
        ).itertuples():
            name = f"{job}/{task}"
            before = spans.get(name, (start, end))
            spans[name] = (min(start, before[0]), max(end, before[1]))
    return spans


def _tasks(
    table: Table,
    submitted: dict[str, tuple[str, float]],
    spans: Spans,
    options: Options,
    seen: set[str],
) -> list[Job]:
    jobs = table.text("job_name")
    names = [
        f"{job}/{task}" for job, task in zip(jobs, table.text("task_name"), strict=True)
    ]
    _check_names(table, names, seen)
    start, end = (
        table.numbers(name, high=LONGEST, default=np.nan)
        for name in ("start_time", "end_time")
    )
    inst = table.integers("inst_num", low=1, high=MOST_WORKERS)
    gpus, milli = requested(
        table, table.numbers("plan_gpu", high=100_000, default=0.0) / 100
    )
    _from_instances(table, names, spans, start, end)
    keep = _that_ran(table, start, end)
    lacking = keep & (gpus == 0) & (options["cpu"] != "true")
    table.left_out(lacking, "no GPU (pai-tables:cpu=true keeps them)")
    keep &= ~lacking
    about = [submitted.get(job, ("", np.nan)) for job in jobs]
    cores = table.numbers("plan_cpu", high=1e9, default=0.0)
    memory = table.numbers("plan_mem", high=1e9, default=0.0)
    single = options["gangs"] == "false"
    columns = {
        "job_id": names,
        "submit_time": _submitted(table, about, start, keep),
        "duration": end - start,
        "num_gpus": gpus,
        "gpu_milli": milli,
        "cpu_milli": np.round(cores * 10).astype(np.int64),
        "memory_mib": np.round(memory * 1024).astype(np.int64),
        "gpu_type": ["" if t in ANY else t for t in table.text("gpu_type")],
        "num_workers": np.ones(len(table), np.int64) if single else inst,
        "user": [user for user, _ in about],
    }
    return jobs_of(table, columns, keep)


def _submitted(
    table: Table, about: list[tuple[str, float]], start: Floats, keep: Mask
) -> Floats:
    """Return when each task's job was submitted, at the latest when it was launched."""
    known = np.array([time for _, time in about])
    late = known > start
    table.repaired(keep & late, "launched before its job was submitted: then")
    return np.where(late | np.isnan(known), start, known)


def _that_ran(table: Table, start: Floats, end: Floats) -> Mask:
    """Return which tasks ended after they had begun."""
    status = np.array(table.text("status"), dtype=object)
    table.check(np.isin(status, STATUS), "status", f"one of {', '.join(STATUS)}")
    ended = np.isin(status, ENDED)
    table.left_out(~ended, "has not ended, or was stopped")
    ran: Mask = ended & (end > start)
    table.left_out(ended & ~ran, "no time passed between a start and an end")
    return ran


def _check_names(table: Table, names: list[str], seen: set[str]) -> None:
    """Refuse tasks without a name, and those that were there before."""
    whole = [not name.startswith("/") and not name.endswith("/") for name in names]
    table.check(np.array(whole, bool), "job_name", "a name beside a task_name")
    new = np.ones(len(names), bool)
    for row, name in enumerate(names):
        new[row] = name not in seen
        seen.add(name)
    table.check(new, "task_name", "unique in its job")


def _from_instances(
    table: Table, names: list[str], spans: Spans, start: Floats, end: Floats
) -> None:
    """Give the tasks without times those of their instances, in place."""
    missing = np.isnan(start) | np.isnan(end)
    for row in np.flatnonzero(missing).tolist() if spans else ():
        span = spans.get(names[row])
        if span is None:
            missing[row] = False
        else:
            start[row], end[row] = span
    if spans:
        table.repaired(missing, "no times: those of its instances")


def _recognises(head: Head) -> bool:
    return TASKS in head.path.name or head.columns >= {*COLUMNS[TASKS]}


FORMAT = Format(
    "pai-tables",
    "Alibaba PAI, the published tables (cluster-trace-gpu-v2020)",
    read_pai_tables,
    recognises=_recognises,
    options={
        "gangs": Option("true", "false: each task is one worker", YES_NO),
        "cpu": Option("false", "true: keep the tasks without a GPU", YES_NO),
    },
)
