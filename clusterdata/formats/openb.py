"""Alibaba's openb trace (cluster-trace-gpu-v2023), the one FGD was published with.

Pods: name, cpu_milli, memory_mib, num_gpu (0, 1, 2, 4, 8), gpu_milli (of each GPU; 0
if num_gpu is 0), gpu_spec (accepted models, ``A|B`` or empty), qos, pod_phase,
creation_time, deletion_time, scheduled_time (s). Nodes: sn, cpu_milli, memory_mib,
gpu, model.

Quirks, and what is done about them: `pod_phase` is a snapshot, every pod has a
deletion time, so it is ignored; pods without a scheduled_time (those then pending) run
from their creation; a pod deleted as it is created has duration 0; times count from
the first creation; the files named gpushare, cpu and multigpu are not sorted. The
multigpu files have no times at all: they can fill a cluster, but not be replayed.

Source: https://github.com/alibaba/clusterdata, cluster-trace-gpu-v2023; no licence is
stated there. Cite Weng et al., "Beware of Fragmentation", USENIX ATC 2023.
"""

import numpy as np
from numpy.typing import NDArray

from clusterdata.formats.building import jobs_of, since_first
from clusterdata.formats.canonical import LONGEST, check_gpus, check_ids
from clusterdata.formats.format import Format
from clusterdata.table import Table
from model.errors import TraceError
from model.job import WHOLE_GPU, Job
from model.node import Node

REQUIRED = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli")
TIMES = ("creation_time", "deletion_time", "scheduled_time")
OPTIONAL = ("gpu_spec", "qos", "pod_phase", *TIMES)
NODE_COLUMNS = ("sn", "cpu_milli", "memory_mib", "gpu", "model")


def read_openb_pods(table: Table) -> list[Job]:
    """Return the pods as jobs, in the order of the file.

    Raises
    ------
    TraceError
        If a column or value is not what the format allows, or there are no times.
    """
    table.check_columns(REQUIRED, OPTIONAL)
    for name in TIMES:
        if name not in table:
            raise TraceError(
                f"{table.path}, line 1: no column {name!r}: without times the pods "
                f"cannot be replayed (they can fill a cluster: "
                f"run.py compare --experiment fgd-openb)"
            )
    created = table.numbers("creation_time", high=LONGEST)
    scheduled = table.numbers("scheduled_time", high=LONGEST, default=np.nan)
    deleted = table.numbers("deletion_time", high=LONGEST)
    began = np.where(np.isnan(scheduled), created, scheduled)
    after = (deleted >= began) | table.bad
    table.check(after, "deletion_time", "at or after the pod's start")
    pending = np.isnan(scheduled)
    table.repaired(pending, "no scheduled_time: runs from its creation_time")
    return _jobs(table, since_first(created, ~table.bad), deleted - began)


def read_openb_requests(table: Table) -> list[Job]:
    """Return the pods without their times: all come at 0 and stay as long as can be.

    Raises
    ------
    TraceError
        If a column or value is not what the format allows.
    """
    table.check_columns(REQUIRED, OPTIONAL)
    return _jobs(table, np.zeros(len(table)), np.full(len(table), LONGEST))


def _jobs(
    table: Table, submitted: NDArray[np.float64], durations: NDArray[np.float64]
) -> list[Job]:
    check_ids(table, "name")
    gpus = table.integers("num_gpu")
    milli = table.integers("gpu_milli", high=WHOLE_GPU)
    check_gpus(table, gpus, milli)
    columns = {
        "job_id": table.text("name"),
        "submit_time": submitted,
        "duration": durations,
        "num_gpus": gpus,
        "gpu_milli": milli,
        "cpu_milli": table.integers("cpu_milli"),
        "memory_mib": table.integers("memory_mib"),
        "gpu_type": table.text("gpu_spec"),
    }
    return jobs_of(table, columns)


def read_openb_nodes(table: Table) -> tuple[Node, ...]:
    """Return the nodes in the order of the file.

    Raises
    ------
    TraceError
        If a column or value is not what the format allows, or no node has a GPU.
    """
    table.check_columns(NODE_COLUMNS, ())
    check_ids(table, "sn")
    gpus = table.integers("gpu", high=64)
    if not gpus.any():
        raise TraceError(f"{table.path}: no node has a GPU (column 'gpu' is all 0)")
    columns = (
        table.text("sn"),
        gpus.tolist(),
        table.integers("cpu_milli", high=2**40).tolist(),
        table.integers("memory_mib", high=2**40).tolist(),
        table.text("model"),
    )
    return tuple(Node(*values) for values in zip(*columns, strict=True))


FORMAT = Format(
    "openb",
    "Alibaba openb pods (cluster-trace-gpu-v2023)",
    lambda path, report, options: read_openb_pods(Table(path, report)),
    REQUIRED,
)
