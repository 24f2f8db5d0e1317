"""Our own trace format, one CSV line per job.

========================  =======================================================
column                    meaning, unit
========================  =======================================================
job_id                    any text, unique
submit_time               s since the trace began
duration                  s of undisturbed work
num_gpus                  devices for each worker; 0 = CPU-only
gpu_milli                 milli-GPU on each device, 1-1000; 0 = CPU-only;
                          below 1000 only if num_gpus is 1
cpu_milli                 milli-cores for each worker; optional, 0
memory_mib                MiB for each worker; optional, 0
gpu_type                  accepted GPU types, ``A|B``; optional, any
num_workers               workers that start together or not at all; optional, 1
user                      who submitted it; optional
deadline                  s since the trace began; optional, none
job_class                 what kind of job it is; optional
estimated_duration        s, what schedulers believe; optional, exact
========================  =======================================================

Units are those of the openb trace. Lines may be in any order of time.
"""

import gzip
from collections.abc import Sequence

import numpy as np
import pandas as pd

from clusterdata.formats.building import MOST_GPUS, Ints, jobs_of
from clusterdata.formats.format import Format
from clusterdata.table import Table
from model.cells import as_cells, from_cells
from model.job import WHOLE_GPU, Job

LONGEST = 1e12  # s; 30,000 years
MOST_WORKERS = 65_536  # of one job
SURROGATE = "[\ud800-\udfff]"  # halves of characters, which no file can hold
TEXTS = ("job_id", "gpu_type", "user", "job_class")
REQUIRED = ("job_id", "submit_time", "duration", "num_gpus", "gpu_milli")
OPTIONAL = (
    "cpu_milli",
    "memory_mib",
    "gpu_type",
    "num_workers",
    "user",
    "deadline",
    "job_class",
    "estimated_duration",
)


def read_canonical(table: Table) -> list[Job]:
    """Return the jobs of a canonical trace in the order of the file.

    Raises
    ------
    TraceError
        If a column or a value is not what the format allows.
    """
    table.check_columns(REQUIRED, OPTIONAL)
    gpus = table.integers("num_gpus", high=MOST_GPUS)
    milli = table.integers("gpu_milli", high=WHOLE_GPU)
    check_gpus(table, gpus, milli)
    columns = {
        **{name: from_cells(table.text(name)) for name in TEXTS},
        "submit_time": table.numbers("submit_time", high=LONGEST),
        "duration": table.numbers("duration", high=LONGEST),
        "num_gpus": gpus,
        "gpu_milli": milli,
        "cpu_milli": table.integers("cpu_milli", default=0),
        "memory_mib": table.integers("memory_mib", default=0),
        "num_workers": table.integers(
            "num_workers", low=1, high=MOST_WORKERS, default=1
        ),
        "deadline": _optional(table, "deadline"),
        "estimated_duration": _optional(table, "estimated_duration"),
    }
    check_ids(table, "job_id")
    return jobs_of(table, columns)


def check_ids(table: Table, column: str) -> None:
    """Refuse rows whose id is empty or that of an earlier row."""
    ids = table.frame[column].str.strip()
    table.check((ids != "").to_numpy(bool), column, "an id")
    table.check(~ids.str.contains(SURROGATE).to_numpy(bool), column, "Unicode text")
    again = ids.duplicated().to_numpy(bool)
    if again.any():
        first = dict(zip(ids[::-1], table.line[::-1].tolist(), strict=True))
        for row in np.flatnonzero(again & ~table.bad).tolist():
            rule = f"unique: {table.word} {first[ids.iloc[row]]} has it too"
            table.report.wrong(table.error(row, column, rule))
    table.bad |= again


def check_gpus(table: Table, gpus: Ints, milli: Ints) -> None:
    """Refuse rows whose number of devices and share contradict each other."""
    rule = "allowed: num_gpus and gpu_milli must both be 0 or neither"
    table.check(((gpus == 0) == (milli == 0)) | table.bad, "gpu_milli", rule)
    rule = f"{WHOLE_GPU}, as a job with several GPUs needs them whole"
    table.check((gpus <= 1) | (milli == WHOLE_GPU) | table.bad, "gpu_milli", rule)


def _optional(table: Table, name: str) -> list[float | None]:
    values = table.numbers(name, high=LONGEST, default=float("nan"))
    return [None if np.isnan(value) else value for value in values.tolist()]


def jobs_frame(jobs: Sequence[Job]) -> pd.DataFrame:
    """Return the jobs as a canonical table, one row each, in their order."""
    names = (*REQUIRED, *OPTIONAL)
    return pd.DataFrame({name: [getattr(job, name) for job in jobs] for name in names})


def to_csv(jobs: Sequence[Job], packed: bool = False) -> bytes:
    """Return a canonical trace as CSV; equal jobs give equal bytes, packed or not."""
    frame = spoken(jobs)
    for name in frame.columns.intersection([*TEXTS]):
        frame[name] = as_cells(frame[name])
    text = frame.to_csv(index=False, lineterminator="\n").encode()
    return gzip.compress(text, mtime=0) if packed else text


def spoken(jobs: Sequence[Job]) -> pd.DataFrame:
    """Return the jobs as a table without the optional columns that say nothing."""
    frame = jobs_frame(jobs)
    silent = {"num_workers": 1, "cpu_milli": 0, "memory_mib": 0}
    for name in OPTIONAL:
        empty = frame[name].isna() | (frame[name] == silent.get(name, ""))
        if empty.all():
            frame = frame.drop(columns=name)
    return frame


FORMAT = Format(
    "canonical",
    "our own CSV",
    lambda path, report, options: read_canonical(Table(path, report)),
    REQUIRED,
)
