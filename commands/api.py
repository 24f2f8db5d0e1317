"""Defrag from Python: what notebooks and other programs call.

from commands.api import simulate, compare, read_run

run = simulate(scheduler="FGD", num_node=32, num_jobs=5000)
run.summary["mean_queueing_delay"], run.jobs, run.cluster, run.moves
"""

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from analysis.comparison import compare as lines_of
from analysis.comparison import markdown
from analysis.report import write_report
from analysis.run_folder import Run, measures_of, read_run, run_of
from analysis.timeline import timeline
from clusterdata.registry import read_trace
from clusterdata.workload import Workload, load_changes, load_nodes, load_workload
from commands.compare import Cell, run_cell
from commands.parallel import each
from commands.provenance import configured, timing
from commands.variants import read_variants
from model.config import Settings
from model.job import Job
from model.node import Node
from processes.simulation import Simulation
from schedulers.drr.observation import observe
from schedulers.drr.policy import attention, logits
from schedulers.drr.scheduler import DRR

__all__ = [
    "Job", "Node", "Run", "Settings", "action_map", "compare", "read_run",
    "read_trace", "simulate", "table", "timeline", "write_report",
]  # fmt: skip
NOWHERE = Path()


def simulate(
    settings: Settings | None = None,
    jobs: Sequence[Job] | None = None,
    nodes: Sequence[Node] | None = None,
    **fields: Any,
) -> Run:
    """Run one scheduler on one trace, without files.

    Parameters
    ----------
    settings : as on the command line; default the main job's.
    jobs, nodes : a trace and a cluster of one's own, instead of those that *settings*
        name; taken as they are, without the deadlines and classes that others get.
    fields : settings by their names, as ``scheduler="DRR", num_node=32``.

    Returns
    -------
    Run
        ``jobs``, ``cluster`` and ``moves`` are the tables that the command line writes
        (pandas), ``summary`` has every measure, ``config`` all settings.

    Raises
    ------
    UserError
        If a setting makes no sense, or a file cannot be read.
    """
    asked = replace(settings or Settings(), **fields)
    if jobs is None:
        workload = load_workload(asked)
    else:
        ordered = sorted(jobs, key=lambda job: job.submit_time)
        digest = hashlib.sha256(repr(ordered).encode()).hexdigest()
        workload = Workload(ordered, load_nodes(asked), [], digest, [])
    if nodes is not None:
        workload = workload._replace(nodes=tuple(nodes))
    workload = workload._replace(changes=load_changes(asked, workload.nodes))
    simulation, config = configured(asked, workload)
    if jobs is not None:
        config["trace"] = "jobs given in Python"
    result = simulation.run()
    return run_of(NOWHERE, config, result, timing(result))


def compare(
    schedulers: str,
    seeds: Sequence[int],
    settings: Settings | None = None,
    workers: int = 1,
    **fields: Any,
) -> pd.DataFrame:
    """Run variants of schedulers on the same jobs of each seed; nothing is kept.

    Parameters
    ----------
    schedulers : as in ``run.py compare``: ``"FGD,DRR+resched"``.
    workers : processes; 0 = as many as there are cores.

    Returns
    -------
    DataFrame
        One row for each run: its measures, ``scheduler`` (the variant), ``seed``; what
        `analysis.comparison.compare` takes.

    Raises
    ------
    UserError
        If a scheduler or a setting is unknown or not allowed.
    """
    asked = replace(settings or Settings(), **fields)
    cells = [
        Cell(label, replace(variant, seed=seed), NOWHERE)
        for seed in seeds
        for label, variant in read_variants(schedulers, asked)
    ]
    texts = each(run_cell, cells, workers, "comparing")
    table = pd.DataFrame([measures_of(text) for _, text in texts])
    return table.assign(scheduler=[cell.label for cell in cells])


def action_map(at: float, job: Job, **fields: Any) -> pd.DataFrame:
    """Return what DRR's policy thinks of each node at some time of a run.

    Parameters
    ----------
    at : s since the trace began; the simulation runs until then.
    job : to be placed, hypothetically; its submit time does not matter.
    fields : settings by their names.

    Returns
    -------
    DataFrame
        A row for each node that the policy sees: ``node``, ``free`` (GPUs), ``fits``,
        ``probability`` (of the policy alone, before it looks ahead) and ``attention``.
    """
    settings = Settings(**{**fields, "scheduler": "DRR"})
    workload = load_workload(settings)
    simulation = Simulation(settings, workload.jobs, workload.nodes, workload.changes)
    simulation.env.run(until=at)
    drr = cast(DRR, simulation.scheduler)
    pending = simulation.dispatcher.pending
    seen = observe(drr.weights, drr.view, drr.capacity, pending, job, at)
    believed = logits(drr.parameters, seen, settings.use_attn)
    likely = np.exp(believed - believed.max())
    free = drr.capacity.free_total[seen.nodes] / 1000
    return pd.DataFrame(
        {
            "node": seen.nodes,
            "free": free,
            "fits": np.isfinite(believed),
            "probability": likely / likely.sum(),
            "attention": attention(drr.parameters, seen),
        }
    )


def table(rows: pd.DataFrame) -> str:
    """Return what `compare` gave as Markdown: means, 95 % intervals, winners."""
    return markdown(lines_of(rows), rows["seed"].nunique())
