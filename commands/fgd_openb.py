"""FGD's published experiment: fill the openb cluster under six policies."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analysis.figures import save_figure
from analysis.inflation import (
    POLICIES,
    arrived_series,
    inflation_table,
    published_means,
    reductions,
)
from analysis.inflation_figure import draw_inflation
from analysis.run_folder import write_csv
from clusterdata.formats.openb import read_openb_nodes, read_openb_requests
from clusterdata.inflation import inflation_jobs, shuffled_nodes
from clusterdata.table import Table
from commands.parallel import each
from model.errors import UserError, suggestion
from model.streams import stream
from model.target import target_workload
from schedulers.inflation import empty_world, inflation_events
from schedulers.published import PUBLISHED

NODES = "openb_node_list_gpu_node.csv"
PODS = "openb_pod_list_{}.csv"
TRACES = tuple(dict.fromkeys(published_means()["trace"]))
SOURCE = "https://github.com/alibaba/clusterdata, cluster-trace-gpu-v2023/csv"
COLUMNS = [
    "policy", "trace", "seed", "arrived_pct", "alloc_pct", "frag_total_pct",
    "frag_idle_pct",
]  # fmt: skip


class Filling(NamedTuple):
    """One run: a policy fills the cluster with a trace in one random order."""

    policy: str
    trace: str
    seed: int
    folder: Path


def fgd_openb(
    traces: Sequence[str], seeds: Sequence[int], data: Path, out: Path, workers: int
) -> int:
    """Run all policies on each trace and seed; write CSV and figures; print tables."""
    check_files(traces, data)
    fillings = [
        Filling(policy, trace, seed, data)
        for trace in traces
        for seed in seeds
        for policy in POLICIES
    ]
    series = pd.concat(each(fill, fillings, workers, "filling openb"))[COLUMNS]
    table = inflation_table(series)
    for frame in (table, reductions(table)):
        text = frame.to_string(index=False, float_format="%.2f", na_rep="-")
        sys.stdout.write(f"{text}\n\n")
    write_csv(series, out / "fgd_openb.csv")
    sys.stdout.write(f"results: {out / 'fgd_openb.csv'}\n")
    for trace in traces:
        picture = out / f"fgd_openb_{trace}.png"
        save_figure(draw_inflation(series, trace), picture)
        sys.stdout.write(f"figure:  {picture}\n")
    return 0


def check_files(traces: Sequence[str], data: Path) -> None:
    """Raise UserError if a trace is unknown or a file is not there."""
    for trace in traces:
        if trace not in TRACES and not (data / PODS.format(trace)).is_file():
            near = suggestion(trace, TRACES)
            raise UserError(
                f"--traces {trace}: no such trace{near}; published are "
                f"{', '.join(TRACES)}"
            )
    for name in [NODES, *map(PODS.format, traces)]:
        if not (data / name).is_file():
            raise UserError(
                f"--data {data}: has no {name}; the openb files are at {SOURCE}"
            )


def fill(filling: Filling) -> pd.DataFrame:
    """Fill the cluster once; return the measures at each percent arrived."""
    policy, trace, seed, folder = filling
    pods = read_openb_requests(Table(folder / PODS.format(trace)))
    nodes = read_openb_nodes(Table(folder / NODES))
    gpu_milli = 1000 * sum(node.num_gpus for node in nodes)
    jobs = inflation_jobs(pods, gpu_milli, stream(seed, "inflation"))
    world = empty_world(
        shuffled_nodes(nodes, stream(seed, "node order")),
        target_workload(pods, 0.95),
        stream(seed, "scheduler"),
    )
    events = inflation_events(PUBLISHED[policy](world), jobs)
    return arrived_series(events, gpu_milli).assign(
        policy=policy, trace=trace, seed=seed
    )
