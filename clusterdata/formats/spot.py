"""Alibaba's spot GPU trace (cluster-trace-v2026-spot-gpu), one line per job.

Columns: job_name, organization, gpu_model, cpu_request (vCPUs of each worker),
gpu_request (GPUs of each worker), worker_num, submit_time (s since the first job),
duration (s), job_type (HP: high priority, or Spot).

Quirks, and what is done about them: gpu_request and cpu_request may be fractions; the
organization is the user, the job_type the class; gpu_model is what the job demands.
Priorities and evictions are not simulated.

Source: https://github.com/alibaba/clusterdata, cluster-trace-v2026-spot-gpu; no
licence is stated there. Cite its ASPLOS 2026 paper, as named there.
"""

from pathlib import Path

import numpy as np

from clusterdata.formats.building import jobs_of, requested, since_first
from clusterdata.formats.canonical import LONGEST, MOST_WORKERS, check_ids
from clusterdata.formats.format import Format, Options
from clusterdata.report import Report
from clusterdata.table import Table
from model.job import Job

REQUIRED = (
    "job_name",
    "organization",
    "gpu_model",
    "cpu_request",
    "gpu_request",
    "worker_num",
    "submit_time",
    "duration",
    "job_type",
)


def read_spot(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the jobs in the order of the file.

    Raises
    ------
    TraceError
        If a column or a value is not what the format allows.
    """
    table = Table(path, report)
    table.need(REQUIRED)
    check_ids(table, "job_name")
    gpus, milli = requested(table, table.numbers("gpu_request", high=64))
    submit = table.numbers("submit_time", high=LONGEST)
    cores = table.numbers("cpu_request", high=1e6, default=0.0)
    columns = {
        "job_id": table.text("job_name"),
        "duration": table.numbers("duration", high=LONGEST),
        "num_gpus": gpus,
        "gpu_milli": milli,
        "cpu_milli": np.round(cores * 1000).astype(np.int64),
        "gpu_type": table.text("gpu_model"),
        "num_workers": table.integers("worker_num", low=1, high=MOST_WORKERS),
        "user": table.text("organization"),
        "job_class": table.text("job_type"),
        "submit_time": since_first(submit, ~table.bad),
    }
    return jobs_of(table, columns)


FORMAT = Format(
    "spot",
    "Alibaba's spot GPU jobs (cluster-trace-v2026-spot-gpu)",
    read_spot,
    REQUIRED,
)
