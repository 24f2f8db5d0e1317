"""The Standard Workload Format of the Parallel Workloads Archive (.swf, .swf.gz).

One line per job with 18 numbers, -1 if unknown: job, submit (s), wait, run time (s),
allocated processors, CPU time, memory (KiB per processor), requested processors,
requested time (s), requested memory (KiB per processor), status (0 failed, 1 completed,
2-4 part of a job, 5 cancelled), user, group, executable, queue, partition, preceding
job, think time. Lines that begin with ``;`` are comments.

Quirks, and what is done about them: a processor stands for a GPU; more than 8
(``swf:gpus_per_worker=N``) are a gang of equal workers, as few as there can be; jobs
without processors or run time never ran and are left out, and so are the lines for
parts of a job, since its whole has a line too; ``swf:estimates=requested`` lets
schedulers believe the requested time, else they know the run time.

Source: https://www.cs.huji.ac.il/labs/parallel/workload; terms differ by log. Cite
Feitelson, Tsafrir and Krakov, JPDC 2014, and the log.
"""

from pathlib import Path

import numpy as np

from clusterdata.formats.building import MOST_GPUS, jobs_of, since_first, workers
from clusterdata.formats.canonical import LONGEST, check_ids
from clusterdata.formats.format import Format, Head, Option, Options
from clusterdata.report import Report
from clusterdata.source import opened
from clusterdata.table import Table
from model.errors import TraceError
from model.job import WHOLE_GPU, Job

FIELDS = ("job", "submit", "wait", "run_time", "processors", "cpu_time", "memory",
          "requested_processors", "requested_time", "requested_memory", "status",
          "user", "group", "executable", "queue", "partition", "preceding_job",
          "think_time")  # fmt: skip
PARTS = (2, 3, 4)  # status of a line that is part of a job


def read_swf(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the jobs in the order of the file.

    Raises
    ------
    TraceError
        If a line has not 18 fields, or one is no number.
    """
    table = _table(path, report)
    check_ids(table, "job")
    submit = table.numbers("submit", high=LONGEST)
    seconds = table.numbers("run_time", low=-1, high=LONGEST)
    given, asked = (
        table.integers(name, low=-1, high=MOST_GPUS)
        for name in ("processors", "requested_processors")
    )
    gpus = np.where(given > 0, given, asked)
    part = np.isin(table.integers("status", low=-1), PARTS)
    ran = (seconds > 0) & (gpus > 0)
    table.left_out(~ran & ~part, "never ran")
    table.left_out(part, "part of a job")
    keep = ran & ~part
    most = int(options["gpus_per_worker"])
    count = np.array([workers(max(0, n), most=most) for n in gpus.tolist()], np.int64)
    guess = table.numbers("requested_time", low=-1, high=LONGEST).tolist()
    believed = options["estimates"] == "requested"
    columns = {
        "job_id": table.text("job"),
        "submit_time": since_first(submit, keep & ~table.bad),
        "duration": seconds,
        "num_gpus": gpus // np.maximum(1, count),
        "gpu_milli": np.full(len(table), WHOLE_GPU),
        "num_workers": count,
        "user": ["" if user == "-1" else user for user in table.text("user")],
        "estimated_duration": [
            guess if believed and guess > 0 else None for guess in guess
        ],
    }
    return jobs_of(table, columns, keep)


def _table(path: Path, report: Report) -> Table:
    rows, lines = [], []
    with opened(path) as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words or words[0].startswith(";"):
                continue
            if len(words) != len(FIELDS):
                report.wrong(
                    TraceError(
                        f"{path}, line {number}: has {len(words)} fields, not 18"
                    )
                )
                continue
            rows.append(words)
            lines.append(number)
    if not rows:
        raise TraceError(f"{path}: has no jobs")
    columns = {name: [row[at] for row in rows] for at, name in enumerate(FIELDS)}
    return Table.of(path, columns, np.array(lines, np.int64), report)


def _recognises(head: Head) -> bool:
    if ".swf" in head.path.name:
        return True
    plain = [
        line.split()
        for line in head.text.splitlines()[:200]
        if line.strip() and not line.startswith(";")
    ]
    return bool(plain) and len(plain[0]) == len(FIELDS)


FORMAT = Format(
    "swf",
    "Standard Workload Format of the Parallel Workloads Archive",
    read_swf,
    recognises=_recognises,
    options={
        "gpus_per_worker": Option("8", "GPUs of a worker at most; more are gangs"),
        "estimates": Option(
            "exact",
            "requested: schedulers believe the requested time",
            ("exact", "requested"),
        ),
    },
)
