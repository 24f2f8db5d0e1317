"""ElasticFlow's traces of Microsoft's ITP clusters, one line per job.

Columns: job_id, submission_time (s), duration (s), num_gpu (1 to 256), and in the
files made for ElasticFlow num_iteration, model_name, deadline (s, on the clock of
submission_time) and batch_size, drawn at random by its authors.

Quirks, and what is done about them: times begin anywhere, so they count from the first
submission; num_gpu beyond 8 are gangs of workers with 8 each; model_name is the job's
class, the deadline is kept. Jobs under 600 s are not in the published files.

Source: https://github.com/microsoft/elasticflow-traces; MIT. Cite Gu et al.,
"ElasticFlow", ASPLOS 2023.
"""

from pathlib import Path

import numpy as np

from clusterdata.formats.building import MOST_GPUS, gangs, jobs_of, since_first
from clusterdata.formats.canonical import LONGEST, check_ids
from clusterdata.formats.format import Format, Options
from clusterdata.report import Report
from clusterdata.table import Table
from model.job import WHOLE_GPU, Job

REQUIRED = ("job_id", "submission_time", "duration", "num_gpu")
OPTIONAL = ("num_iteration", "model_name", "deadline", "batch_size")


def read_elasticflow(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the jobs in the order of the file.

    Raises
    ------
    TraceError
        If a column or a value is not what the format allows.
    """
    table = Table(path, report)
    table.check_columns(REQUIRED, OPTIONAL)
    check_ids(table, "job_id")
    submit = table.numbers("submission_time", high=LONGEST)
    num_workers, gpus = gangs(table, table.integers("num_gpu", 1, MOST_GPUS))
    deadline = table.numbers("deadline", high=LONGEST, default=np.nan)
    start = submit[~table.bad].min() if (~table.bad).any() else 0.0
    columns = {
        "job_id": table.text("job_id"),
        "submit_time": since_first(submit, ~table.bad),
        "duration": table.numbers("duration", high=LONGEST),
        "num_gpus": gpus,
        "gpu_milli": np.full(len(table), WHOLE_GPU),
        "num_workers": num_workers,
        "deadline": [None if d != d else d - start for d in deadline.tolist()],
        "job_class": table.text("model_name"),
    }
    return jobs_of(table, columns)


FORMAT = Format(
    "elasticflow",
    "ElasticFlow's traces of Microsoft ITP clusters",
    read_elasticflow,
    REQUIRED,
)
