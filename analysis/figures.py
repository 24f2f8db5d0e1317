"""One function per figure: takes axes and runs, returns the axes.

python -m analysis.figures RUN_DIR... --out FILE    draws the overview of some runs
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis.bounds import bound_holds, pooled_delays, those
from analysis.metrics import load_window
from analysis.run_folder import Run, read_run
from model.errors import UserError, complain

# Okabe and Ito's colours, safe for colour-blind readers; one per scheduler, for good
COLOURS = {
    "FGD": "#0072B2",
    "BestFit": "#E69F00",
    "RandomFit": "#CC79A7",
    "FirstFit": "#56B4E9",
    "WorstFit": "#F0E442",
    "LifetimeAligned": "#117733",
    "DRR": "#D55E00",
    "TunedLinear": "#A23B72",
    "ElasticFlow": "#009E73",
    "R&P": "#8B4513",
    "Hops": "#5D3A9B",
    "BestFitExact": "#A6761D",
    "DotProd": "#7F7F7F",
    "GpuClustering": "#66A61E",
    "GpuPacking": "#B22222",
}
BOUND = "#444444"
HOUR = 3600.0  # s
POINTS = 240  # over time; more cannot be told apart
STYLE: Any = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "legend.frameon": False,
    "svg.hashsalt": "defrag",  # the same picture is the same file
}


def colour(run: Run) -> str:
    """Return the colour of a run's scheduler."""
    return COLOURS.get(run.summary["scheduler"], BOUND)


def measured_jobs(run: Run) -> pd.DataFrame:
    """Return the finished jobs after the warm-up."""
    asked = those(run.jobs, run.jobs["status"] != "refused")
    measured = asked.iloc[int(run.config["settings"]["warm_up"] * len(asked)) :]
    return those(measured, measured["status"] == "finished")


def draw_delay_cdf(axes: Axes, runs: Sequence[Run]) -> Axes:
    """Draw which share of jobs waited at most how long, with the pooled bound."""
    for run in runs:
        jobs = measured_jobs(run)
        _draw_cdf(
            axes,
            (jobs["start_time"] - jobs["submit_time"]).to_numpy(float),
            color=colour(run),
            label=run.title,
        )
    first = runs[0]
    if bound_holds(first.jobs, first.config):
        delays = pooled_delays(first.jobs, first.config["capacity"])
        warm = int(first.config["settings"]["warm_up"] * len(delays))
        bound: Any = {"color": BOUND, "linestyle": "--", "label": "pooled bound"}
        _draw_cdf(axes, delays[warm:], **bound)
    axes.set_xscale("symlog", linthresh=1.0)
    axes.set_xlim(left=0)
    axes.set(xlabel="queueing delay (s)", ylabel="share of jobs", ylim=(0, 1))
    axes.set_title("Who waits how long")
    axes.legend(loc="center left", bbox_to_anchor=(0, 0.85))
    return axes


def _draw_cdf(axes: Axes, values: NDArray[np.float64], **line: Any) -> None:
    values = np.sort(values)
    axes.step(values, np.arange(1, len(values) + 1) / len(values), where="post", **line)


def draw_over_time(
    axes: Axes, runs: Sequence[Run], column: str, scale: float, label: str
) -> Axes:
    """Draw a column of cluster.csv over time, as means of equal stretches of time."""
    for run in runs:
        window = load_window(run.cluster, measured_jobs(run))
        if window.empty:
            continue
        passed = np.concatenate([[0.0], window["seconds"].cumsum()])
        edges = np.linspace(0, passed[-1], POINTS + 1)  # s since the window began
        area = np.concatenate([[0.0], (window[column] * window["seconds"]).cumsum()])
        at_edges = np.interp(edges, passed, area)
        mean = np.diff(at_edges) / np.diff(edges) * scale
        axes.plot(
            (window["from"].iloc[0] + edges[:-1]) / HOUR,
            mean,
            color=colour(run),
            label=run.title,
        )
    axes.set(xlabel="time since the trace began (h)", ylabel=label)
    axes.set_ylim(bottom=0)
    return axes


def draw_delay_by_size(axes: Axes, runs: Sequence[Run]) -> Axes:
    """Draw the mean queueing delay of jobs by the GPUs they ask for."""
    names = ["below ½", "½ to 1", "1", "2 to 4", "more than 4"]
    width = 0.8 / len(runs)
    for place, run in enumerate(runs):
        jobs = measured_jobs(run)
        asked = jobs["num_workers"] * jobs["num_gpus"] * jobs["gpu_milli"]
        group = pd.cut(asked, [-1, 499, 999, 1000, 4000, np.inf], labels=names)
        delay = (jobs["start_time"] - jobs["submit_time"]).groupby(
            group, observed=False
        )
        axes.bar(
            np.arange(len(names)) + (place - (len(runs) - 1) / 2) * width,
            delay.mean() / HOUR,
            width,
            color=colour(run),
            label=run.title,
        )
    axes.set_xticks(np.arange(len(names)), names)
    axes.set(xlabel="GPUs of the job", ylabel="mean queueing delay (h)")
    axes.set_title("Who pays")
    return axes


def draw_overview(runs: Sequence[Run]) -> Figure:
    """Return one page on runs of the same trace: delays, allocation, stranded GPUs."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 7), layout="constrained")
        axes = figure.subplots(2, 2)
        draw_delay_cdf(axes[0, 0], runs)
        draw_delay_by_size(axes[0, 1], runs)
        total = runs[0].config["capacity"]["gpu_milli"]
        draw_over_time(axes[1, 0], runs, "allocated", 100 / total, "allocated GPU (%)")
        axes[1, 0].set_title("How full the cluster is")
        axes[1, 0].set_ylim(0, 100)
        draw_over_time(axes[1, 1], runs, "stranded", 1e-3, "stranded GPUs")
        axes[1, 1].set_title(
            "Free GPUs beside a head of queue that would fit into them"
        )
        settings = runs[0].config["settings"]
        load = runs[0].config["offered_load"]
        figure.suptitle(
            f"{runs[0].config['trace']}, {total // 1000} GPUs, "
            f"{settings['queue']} queue"
            + ("" if load is None or load != load else f", offered load {load:.2f}"),
            parse_math=False,
        )
    return figure


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure without a date, so that equal runs give equal files."""
    metadata = {"Date": None} if path.suffix == ".svg" else {}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(STYLE):
            figure.savefig(path, dpi=110, metadata=metadata)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error


def main() -> int:
    """Draw the overview of the runs named on the command line."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("runs", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    try:
        save_figure(draw_overview([read_run(run) for run in asked.runs]), asked.out)
    except UserError as error:
        return complain(error)
    return 0


if __name__ == "__main__":
    sys.exit(main())
