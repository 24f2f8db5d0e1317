"""Alibaba PAI (cluster-trace-gpu-v2020) as the CSV of its simulator, one line per job.

Columns: job_id, num_inst (workers, as 1 or 1.0), submit_time (s), num_cpu (cores of
each worker), num_gpu (GPUs of each worker, as 0.25), gpu_type (CPU, MISC, T4, P100,
V100), duration (s), and optionally user, and what its authors estimated (wait_time,
user_dur, user_gpu_dur, group, group_dur, group_gpu_dur), of which nothing is used.

Quirks, and what is done about them: num_inst > 1 is a gang, all or nothing, as in the
simulator; ``pai-jobs:gangs=false`` takes each job for one worker, with which the
trace's own rate is the load of 64 nodes x 8 GPUs. A duration of 0 counts as 1 s, as
there. gpu_type CPU and MISC are no demand. Some copies have lost submit_time: they can
be replayed with redrawn arrivals only.

Source: https://github.com/alibaba/clusterdata, cluster-trace-gpu-v2020/simulator/
traces (pai_job_no_estimate_100K.csv, pai_job_duration_estimate_100K.csv); CC-BY-4.0.
Cite Weng et al., "MLaaS in the Wild", NSDI 2022.
"""

from pathlib import Path

import numpy as np

from clusterdata.formats.building import jobs_of, requested, since_first
from clusterdata.formats.canonical import LONGEST, MOST_WORKERS, check_ids
from clusterdata.formats.format import YES_NO, Format, Option, Options
from clusterdata.report import Report
from clusterdata.table import Table
from model.job import Job

REQUIRED = ("job_id", "num_inst", "num_cpu", "num_gpu", "gpu_type", "duration")
OPTIONAL = (
    "submit_time",
    "user",
    "wait_time",
    "user_dur",
    "user_gpu_dur",
    "group",
    "group_dur",
    "group_gpu_dur",
)
ANY = ("CPU", "MISC", "")  # types that demand nothing


def read_pai_jobs(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the jobs in the order of the file.

    Raises
    ------
    TraceError
        If a column or a value is not what the format allows.
    """
    table = Table(path, report)
    table.check_columns(REQUIRED, OPTIONAL)
    check_ids(table, "job_id")
    inst = table.integers("num_inst", low=1, high=MOST_WORKERS)
    submit, report.timed = np.zeros(len(table)), "submit_time" in table
    if report.timed:
        submit = table.numbers("submit_time", high=LONGEST)
    gpus, milli = requested(table, table.numbers("num_gpu", high=64))
    seconds = table.numbers("duration", high=LONGEST)
    table.repaired(seconds == 0, "duration 0 counts as 1 s")
    cores = table.numbers("num_cpu", high=1e6)
    columns = {
        "job_id": table.text("job_id"),
        "submit_time": since_first(submit, ~table.bad),
        "duration": np.maximum(1.0, seconds),
        "num_gpus": gpus,
        "gpu_milli": milli,
        "cpu_milli": np.round(cores * 1000).astype(np.int64),
        "gpu_type": ["" if t in ANY else t for t in table.text("gpu_type")],
        "num_workers": np.ones_like(inst) if options["gangs"] == "false" else inst,
        "user": table.text("user"),
    }
    return jobs_of(table, columns)


FORMAT = Format(
    "pai-jobs",
    "Alibaba PAI, CSV of its simulator (cluster-trace-gpu-v2020)",
    read_pai_jobs,
    REQUIRED,
    options={"gangs": Option("true", "false: each job is one worker", YES_NO)},
)
