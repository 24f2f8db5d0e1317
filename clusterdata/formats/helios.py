"""SenseTime's Helios, and Lucid's traces made from it: cluster_log.csv.

Columns: job_id, user, gpu_num, cpu_num, node_num, state (COMPLETED, CANCELLED, FAILED,
TIMEOUT, NODE_FAIL), submit_time, start_time, end_time (local time, as 2020-04-01
00:07:21), duration (s); also vc, jobname, queue (s), and what Lucid added.

Quirks, and what is done about them: jobs that were cancelled before they started have
no start_time and are left out; so are jobs of no GPU, unless ``helios:cpu=true``;
duration is the publisher's, which is end - start; cpu_num and gpu_num are of the whole
job, so each worker has its part; where gpu_num is no multiple of node_num, the workers
are made equal; the virtual cluster is ignored; times are taken as UTC.

Source: https://github.com/S-Lab-System-Group/HeliosData (data.zip: unpack it, four
clusters); CC-BY-4.0. Cite Hu et al., "Characterization and Prediction of Deep Learning
Workloads in Large-Scale GPU Datacenters", SC 2021; for Lucid, Hu et al., ASPLOS 2023.
"""

from pathlib import Path

import numpy as np

from clusterdata.formats.building import (
    MOST_GPUS,
    gangs,
    jobs_of,
    since_first,
    states,
)
from clusterdata.formats.canonical import LONGEST, check_ids
from clusterdata.formats.format import YES_NO, Format, Option, Options
from clusterdata.report import Report
from clusterdata.table import Table
from model.job import WHOLE_GPU, Job

REQUIRED = ("job_id", "user", "gpu_num", "cpu_num", "node_num", "state",
            "submit_time", "duration")  # fmt: skip
STATES = ("COMPLETED", "CANCELLED", "FAILED", "TIMEOUT", "NODE_FAIL")
NEVER = ("", "None", "Unknown", "NaT", "nan")


def read_helios(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the jobs in the order of the file.

    Raises
    ------
    TraceError
        If a column or a value is not what the format allows.
    """
    table = Table(path, report)
    table.need(REQUIRED)
    check_ids(table, "job_id")
    states(table, "state", STATES)
    submit = table.times("submit_time", none=())
    total = table.integers("gpu_num", high=MOST_GPUS)
    nodes = table.integers("node_num", high=MOST_GPUS, default=1)
    cores = table.numbers("cpu_num", high=1e9, default=0.0)
    seconds = table.numbers("duration", high=LONGEST, default=0.0)
    keep = _ran(table, total, seconds, options["cpu"] == "true")
    num_workers, gpus = gangs(table, total, nodes)
    columns = {
        "job_id": table.text("job_id"),
        "submit_time": since_first(submit, keep & ~table.bad),
        "duration": seconds,
        "num_gpus": gpus,
        "gpu_milli": np.where(gpus > 0, WHOLE_GPU, 0),
        "cpu_milli": np.ceil(cores * 1000 / num_workers).astype(np.int64),
        "num_workers": num_workers,
        "user": table.text("user"),
    }
    return jobs_of(table, columns, keep)


def _ran(table: Table, total: np.ndarray, seconds: np.ndarray, cpu: bool) -> np.ndarray:
    """Return which rows are jobs that ran on what we look at."""
    started = np.ones(len(table), bool)
    if "start_time" in table:
        started = ~np.isnan(table.times("start_time", NEVER))
    ran = started & (seconds > 0)
    table.left_out(~ran, "never ran")
    wanted = (total > 0) | cpu
    table.left_out(ran & ~wanted, "no GPU (helios:cpu=true keeps them)")
    kept: np.ndarray = ran & wanted
    return kept


FORMAT = Format(
    "helios",
    "SenseTime Helios and Lucid, cluster_log.csv",
    read_helios,
    REQUIRED,
    options={"cpu": Option("false", "true: keep the jobs without a GPU", YES_NO)},
)
