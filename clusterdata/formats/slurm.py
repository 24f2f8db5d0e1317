"""Slurm's accounting, as ``sacct -a -X --parsable2`` writes it: fields between ``|``.

    sacct -a -X --parsable2 -S 2024-01-01 -E 2024-02-01 -o \
      JobID,User,State,Submit,Start,End,ElapsedRaw,NNodes,ReqTRES,AllocTRES,TimelimitRaw

Needed: JobID, Submit, AllocTRES or ReqTRES, and ElapsedRaw, Elapsed ([days-]hh:mm:ss)
or Start and End. Others may be there in any order.

Quirks, and what is done about them: what was allocated counts, else what was asked for
(gres/gpu=N; without it the sum of gres/gpu:type=N). Of the type only what was asked
for is a demand. gres/shard=N are parts of a GPU, and only the cluster's gres.conf says
of which size: ``slurm:shards=N`` is how many make a GPU. mem= is in M, or has one of
the units K M G T P. Steps (123.batch, 123.0) are left out; an array task 123_4 is a
job; so is each component of a heterogeneous job (123+0). Jobs that never started
(pending arrays 123_[1-9], cancelled in the queue) or still run are left out. With -D,
a requeued job has a line for each attempt: the last one counts, submitted when the
first was. ``CANCELLED by 1000`` is CANCELLED. Times have no zone and are taken as UTC.
Jobs without a GPU are left out, unless ``slurm:cpu=true``.

Source: your own cluster (https://slurm.schedmd.com/sacct.html).
"""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from clusterdata.formats.building import (
    MOST_GPUS,
    Floats,
    Ints,
    gangs,
    jobs_of,
    since_first,
    states,
)
from clusterdata.formats.canonical import LONGEST
from clusterdata.formats.format import YES_NO, Format, Head, Option, Options
from clusterdata.report import Mask, Report
from clusterdata.table import Table
from model.job import WHOLE_GPU, Job

TYPED = r"(?:^|,)gres/gpu:[^=,]+=([^,]*)"
NEVER = ("", "Unknown", "None", "N/A")
MEBI = {"K": 2**-10, "": 1, "M": 1, "G": 2**10, "T": 2**20, "P": 2**30}
UNFINISHED = ("RUNNING", "PENDING", "SUSPENDED", "COMPLETING", "CONFIGURING", "STOPPED",
              "SIGNALING", "STAGE_OUT", "RESV_DEL_HOLD", "SPECIAL_EXIT", "REQUEUE_HOLD",
              "REQUEUE_FED")  # fmt: skip
ENDED = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL", "PREEMPTED",
         "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REQUEUED", "RESIZING",
         "REVOKED")  # fmt: skip


def read_slurm(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the jobs in the order of the file.

    Raises
    ------
    TraceError
        If a column is missing, or a value is not what the format allows.
    """
    table = Table(path, report, separator="|")
    table.need(["JobID", "Submit"])
    if "AllocTRES" not in table:
        table.need(["ReqTRES"])
    submit = table.times("Submit", NEVER)
    seconds = _seconds(table)
    amounts, milli = _gpus(table, options["shards"])
    keep = _jobs_that_ran(table, submit, seconds)
    submit = _last_attempts(table, keep, submit)
    lacking = keep & (amounts == 0) & (options["cpu"] != "true")
    table.left_out(lacking, "no GPU (slurm:cpu=true keeps them)")
    keep &= ~lacking
    num_workers, gpus = gangs(table, amounts, _tres(table, "node"))
    part = np.maximum(1, num_workers)
    columns = {
        "job_id": table.text("JobID"),
        "submit_time": since_first(submit, keep & ~table.bad),
        "duration": seconds,
        "num_gpus": gpus,
        "gpu_milli": np.where(gpus > 0, milli, 0),
        "cpu_milli": np.ceil(1000 * _tres(table, "cpu") / part).astype(np.int64),
        "memory_mib": np.ceil(_memory(table) / part).astype(np.int64),
        "gpu_type": _types(table),
        "num_workers": num_workers,
        "user": table.text("User"),
    }
    return jobs_of(table, columns, keep)


def _seconds(table: Table) -> Floats:
    """Return how long each job ran, s; 0 if it never did."""
    if "ElapsedRaw" in table:
        return table.numbers("ElapsedRaw", high=LONGEST, default=0.0)
    if "Elapsed" in table:
        parts = (
            table.frame["Elapsed"]
            .str.strip()
            .str.extract(r"^(?:(\d{1,6})-)?(?:(\d{1,6}):)?(\d{1,6}):(\d\d(?:\.\d+)?)$")
        )
        table.check(~parts[3].isna().to_numpy(), "Elapsed", "as [days-]hh:mm:ss")
        units = np.array([86_400.0, 3600.0, 60.0, 1.0])
        numbers: Floats = parts.fillna("0").to_numpy().astype(float)
        seconds: Floats = numbers @ units
        return seconds
    table.need(["Start", "End"])
    ran = table.times("End", NEVER) - table.times("Start", NEVER)
    table.check(~(ran < 0) | table.bad, "End", "at or after Start")
    return np.nan_to_num(ran)


def _resources(table: Table) -> "pd.Series[str]":
    """Return what was allocated to each job, or else what it asked for."""
    asked = table.frame["ReqTRES"] if "ReqTRES" in table else None
    if "AllocTRES" not in table:
        return table.frame["ReqTRES"].str.strip()
    given = table.frame["AllocTRES"].str.strip()
    return given if asked is None else given.where(given != "", asked.str.strip())


def _tres(table: Table, name: str) -> Ints:
    """Return the amount of a plain resource, (rows,); 0 if it is not there."""
    given = _resources(table)
    found = given.str.extract(rf"(?:^|,){name}=([^,]*)")[0]
    right = found.isna() | found.str.fullmatch(r"\d{1,9}").fillna(False)
    table.check(
        right.to_numpy(bool), _column(table), f"with a whole number for {name}="
    )
    return np.asarray(found.where(right, "0").fillna("0").to_numpy().astype(np.int64))


def _column(table: Table) -> str:
    return "AllocTRES" if "AllocTRES" in table else "ReqTRES"


def _gpus(table: Table, shards: str) -> tuple[Ints, Ints]:
    """Return devices and milli-GPU on each."""
    plain, total = _tres(table, "gres/gpu"), np.zeros(len(table), np.int64)
    name = _column(table)
    for row, amounts in enumerate(_resources(table).str.findall(TYPED).tolist()):
        if all(re.fullmatch(r"\d{1,9}", amount) for amount in amounts):
            total[row] = sum(map(int, amounts))
        else:
            total[row] = -1
    table.check(total >= 0, name, "with whole numbers for gres/gpu:TYPE=")
    gpus = np.where(plain > 0, plain, np.maximum(0, total))
    table.check(gpus <= MOST_GPUS, name, f"at most {MOST_GPUS} GPUs")
    parts, milli = _tres(table, "gres/shard"), np.full(len(table), WHOLE_GPU)
    sharing = (parts > 0) & (gpus == 0)
    if not shards:
        rule = "clear: how many shards make a GPU (--trace-format slurm:shards=N)"
        table.check(~sharing, name, rule)
        return gpus, milli
    share = np.minimum(WHOLE_GPU, np.maximum(1, WHOLE_GPU * parts // int(shards)))
    whole = -(-parts // int(shards))
    several = sharing & (parts > int(shards))
    table.repaired(several & (parts % int(shards) > 0), "shards of several GPUs: whole")
    gpus = np.where(sharing, np.where(several, whole, 1), gpus)
    return gpus, np.where(sharing & ~several, share, milli)


def _memory(table: Table) -> Floats:
    """Return what each job had of memory, MiB."""
    given = _resources(table).str.extract(r"(?:^|,)mem=([^,]*)")[0].fillna("0")
    found = given.str.extract(r"^(\d{1,12}(?:\.\d+)?)([KMGTP]?)$")
    right = ~found[0].isna().to_numpy(bool)
    table.check(right, _column(table), "with memory as mem=64G")
    unit = found[1].fillna("").map(MEBI).to_numpy(float)
    amount: Floats = found[0].fillna("0").to_numpy().astype(float)
    return amount * unit


def _types(table: Table) -> list[str]:
    if "ReqTRES" not in table:
        return [""] * len(table)
    asked = table.frame["ReqTRES"].str.findall(r"(?:^|,)gres/gpu:([^=,]+)=")
    several = np.array([len(types) > 1 for types in asked.tolist()], bool)
    table.repaired(several, "GPUs of several types: none is demanded")
    return [types[0] if len(types) == 1 else "" for types in asked.tolist()]


def _jobs_that_ran(table: Table, submit: Floats, seconds: Floats) -> Mask:
    ids = table.frame["JobID"].str.strip()
    table.check((ids != "").to_numpy(bool), "JobID", "an id")
    step = ids.str.contains(".", regex=False).to_numpy(bool)
    table.left_out(step, "steps of a job")
    unfinished = np.zeros(len(table), bool)
    if "State" in table:
        unfinished = ~step & np.isin(
            states(table, "State", (*ENDED, *UNFINISHED)), UNFINISHED
        )
    table.left_out(unfinished, "still pending or running")
    never = ~step & ~unfinished & ((seconds <= 0) | np.isnan(submit))
    table.left_out(never, "never ran")
    return ~(step | unfinished | never)


def _last_attempts(table: Table, keep: Mask, submit: Floats) -> Floats:
    """Drop all but last attempts from *keep*; return when the first was submitted."""
    ids = table.frame["JobID"].str.strip().where(keep & ~table.bad)
    earlier = ids.duplicated(keep="last").to_numpy(bool) & keep & ~table.bad
    table.left_out(earlier, "an attempt before the job was requeued")
    keep &= ~earlier
    first = pd.Series(submit).groupby(ids).transform("min").to_numpy(float)
    return np.where(keep, first, submit)


def _recognises(head: Head) -> bool:
    first = head.text.split("\n", 1)[0]
    return first.count("|") > first.count(",") and not first.startswith(("{", "["))


FORMAT = Format(
    "slurm",
    "Slurm's sacct --parsable2",
    read_slurm,
    recognises=_recognises,
    options={
        "shards": Option("", "how many gres/shard make a GPU"),
        "cpu": Option("false", "true: keep the jobs without a GPU", YES_NO),
    },
)
