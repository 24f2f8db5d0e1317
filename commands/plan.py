"""Plan: which running jobs to move on a real cluster. Changes nothing.

run.py plan --snapshot jobs.csv --node-list nodes.csv
kubectl get nodes,pods -A -o json > now.json; run.py plan --snapshot now.json
run.py plan --trace PODS --node-list NODES --at 100000     a simulated trace at a time
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from analysis.figures import save_figure
from analysis.heat_map import draw_heat_maps
from analysis.run_folder import write_csv, write_text
from clusterdata.snapshot import read_snapshot
from clusterdata.workload import load_nodes, load_workload
from model.command_line import Parser, read_settings, settings_parser
from model.config import Settings
from model.errors import UserError
from model.snapshot import Snapshot
from processes.simulation import Simulation
from schedulers.planners.scene import Scene

EXTRA = {"scheduler": "LifetimeAligned", "planner": "useful"}


def command(words: Sequence[str]) -> int:
    """Run ``run.py plan WORDS``; return the exit code."""
    options = make_parser().parse(words)
    settings = read_settings(options)
    scene = Scene(take_snapshot(options, settings), settings)
    before, shares = scene.state(), scene.held_shares()
    moves = scene.plan(options.budget_gpu_seconds)
    columns = ["step", "job_id", "from", "to", "why", "cost_s", "gpu_seconds"]
    table = pd.DataFrame(scene.carry_out(moves), columns=columns)
    report = {"before": before, "after": scene.state(), "moves": len(table)}
    stem = options.out / (options.name or "plan")
    write(table, report, stem)
    names = [node.name for node in scene.nodes]
    picture = stem.with_name(f"{stem.name}.png")
    save_figure(draw_heat_maps([shares, scene.held_shares()], names), picture)
    sys.stdout.write(f"figure: {picture}\n")
    return 0


def make_parser() -> Parser:
    """Return the parser of `plan`."""
    parser = settings_parser("plan", __doc__)
    parser.set_defaults(**EXTRA, max_moves=20)
    parser.add_argument("--snapshot", type=Path, help="CSV, or kubectl's JSON")
    parser.add_argument("--at", type=float, help="s; simulate the --trace until then")
    parser.add_argument(
        "--budget-gpu-seconds",
        type=float,
        default=float("inf"),
        help="GPU-seconds that all moves together may cost",
    )
    return parser


def take_snapshot(options: argparse.Namespace, settings: Settings) -> Snapshot:
    """Return the cluster as the file has it, or as a simulation has it at a time."""
    if (options.snapshot is None) == (options.at is None):
        raise UserError("plan needs either --snapshot FILE or --at SECONDS")
    if options.snapshot is not None:
        nodes = () if options.snapshot.suffix == ".json" else load_nodes(settings)
        return read_snapshot(options.snapshot, nodes)
    if not 0 < options.at < float("inf"):
        raise UserError(f"--at {options.at}: must be above 0")
    workload = load_workload(settings)
    simulation = Simulation(settings, workload.jobs, workload.nodes, workload.changes)
    simulation.env.run(until=options.at)
    held = simulation.cluster.held
    running = []
    for entry in held:
        left = max(0.0, entry.expected_end - options.at)
        job = replace(entry.job, estimated_duration=left)
        running.append((job, entry.placements))
    closed = np.flatnonzero(~simulation.cluster.capacity.open)
    waiting = list(simulation.dispatcher.pending)
    return Snapshot(workload.nodes, running, waiting, tuple(closed.tolist()))


def write(table: pd.DataFrame, report: dict[str, object], stem: Path) -> None:
    """Print the plan; write it as CSV and JSON."""
    moves = table.to_string(index=False) if len(table) else "no move is worth its cost"
    sys.stdout.write(f"{moves}\n\n")
    before, after = report["before"], report["after"]
    names = list(before)  # type: ignore[call-overload]
    for name in names:
        old, new = before[name], after[name]  # type: ignore[index]
        if isinstance(old, list):
            new_ones = [job for job in new if job not in old]
            text = f"{len(old)} -> {len(new)}"
            if new_ones:
                text += f" (new: {', '.join(new_ones[:10])})"
        else:
            text = f"{old} -> {new}"
        sys.stdout.write(f"{name.replace('_', ' '):18} {text}\n")
    total = float(table["gpu_seconds"].sum()) if len(table) else 0.0
    sys.stdout.write(f"{'GPU-seconds lost':18} {total:,.0f}\n\n")
    csv, as_json = (stem.with_name(f"{stem.name}.{kind}") for kind in ("csv", "json"))
    write_csv(table, csv)
    moves_json = json.loads(table.to_json(orient="records"))
    text = json.dumps({**report, "moves": moves_json}, indent=2)
    write_text(text + "\n", as_json)
    sys.stdout.write(f"plan:  {csv}, {as_json}\n")
