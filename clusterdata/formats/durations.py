"""Run times and nothing else: one column, runtime or duration, s.

Alibaba's analysis of its PAI trace has those of Philly in this form
(cluster-trace-gpu-v2020/analysis/philly_runtime.csv; CC-BY-4.0, cite Jeon et al.,
USENIX ATC 2019). They are no trace: nothing says what a job asked for, or when. But
generated jobs can have them: ``run.py trace generate --durations FILE``.
"""

from pathlib import Path

from clusterdata.formats.building import Floats
from clusterdata.formats.canonical import LONGEST
from clusterdata.formats.format import Format, Options
from clusterdata.report import Report
from clusterdata.table import Table
from model.errors import TraceError
from model.job import Job

COLUMN = "runtime"
NAMES = (COLUMN, "duration")


def read_durations(path: Path, report: Report | None = None) -> Floats:
    """Return the run times above 0, (jobs,) s; others are left out, and reported.

    Raises
    ------
    TraceError
        If the file has no such column, or nothing above 0.
    """
    table = Table(path, report)
    name = next((name for name in NAMES if name in table), COLUMN)
    table.need([name])
    values = table.numbers(name, high=LONGEST)
    table.left_out(values == 0, "run time 0")
    if not (values > 0).any():
        raise TraceError(f"{path}: no run time above 0")
    return values[values > 0]


def _refuse(path: Path, report: Report, options: Options) -> list[Job]:
    raise TraceError(
        f"{path}: has run times only, no jobs; give them to generated jobs: run.py "
        f"trace generate --durations {path}"
    )


FORMAT = Format(
    "durations",
    "run times without jobs, as philly_runtime.csv",
    _refuse,
    recognises=lambda head: head.columns in ({COLUMN}, {"duration"}),
)
