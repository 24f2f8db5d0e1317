"""Figures over time, and of what the cluster looked like at one."""

from collections.abc import Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis.bounds import bound_holds, pooled_delays
from analysis.figures import BOUND, HOUR, POINTS, STYLE, colour
from analysis.heat_map import draw_heat_map
from analysis.occupancy import held_at, occupancy
from analysis.run_folder import Run

Floats = NDArray[np.float64]
MOST_NODES = 128  # in a heat map; more are thinner than a line of print


def draw_pooled_allocation(axes: Axes, run: Run) -> Axes:
    """Draw how full the pooled cluster would be: what no scheduler could exceed."""
    if not bound_holds(run.jobs, run.config):
        return axes
    asked = run.jobs[run.jobs["status"] != "refused"]
    starts = asked["submit_time"] + pooled_delays(run.jobs, run.config["capacity"])
    ends = starts + asked["duration"]
    milli = asked["num_workers"] * asked["num_gpus"] * asked["gpu_milli"]
    if not len(starts):
        return axes
    times = np.concatenate([starts, ends])
    order = np.argsort(times, kind="stable")
    held = np.concatenate([milli, -milli])[order].cumsum()
    at, level = means(times[order], held, (0.0, float(asked["submit_time"].max())))
    total = run.config["capacity"]["gpu_milli"]
    axes.plot(
        at / HOUR, 100 * level / total, color=BOUND, ls="--", lw=1, label="pooled bound"
    )
    return axes


def means(
    times: Floats, levels: Floats, span: tuple[float, float]
) -> tuple[Floats, Floats]:
    """Return a step function as means over equal stretches: their starts, and means."""
    edges = np.linspace(*span, POINTS + 1)
    passed = np.concatenate([[0.0], times, [max(span[1], times[-1])]])
    steps = np.concatenate([[0.0], levels])
    area = np.concatenate([[0.0], (steps * np.diff(passed)).cumsum()])
    at_edges = np.interp(edges, passed, area)
    return edges[:-1], np.diff(at_edges) / np.diff(edges)


def draw_moves(axes: Axes, runs: Sequence[Run]) -> Axes:
    """Draw how many jobs had been moved by when."""
    for run in runs:
        if len(run.moves):
            times = run.moves["time"].to_numpy(float) / HOUR
            axes.step(
                np.concatenate([[0.0], times]),
                np.arange(len(times) + 1),
                where="post",
                color=colour(run),
                label=run.title,
            )
    axes.set(xlabel="time since the trace began (h)", ylabel="moves so far")
    axes.set_ylim(bottom=0)
    return axes


def chosen_times(run: Run) -> dict[str, float]:
    """Return when to look at a cluster: title and s.

    The instant with the most stranded GPUs; just before the round that moved most jobs,
    and just after it; or without moves, half way through.
    """
    cluster = run.cluster
    worst = float(cluster["time"].iloc[int(cluster["stranded"].to_numpy().argmax())])
    times = {"most GPUs stranded": worst}
    if len(run.moves):
        last = float(run.jobs["submit_time"].max())
        rounds = run.moves.groupby("time").size()
        rounds = rounds[rounds.index <= last] if rounds.index[0] <= last else rounds
        busiest = float(rounds.index[int(rounds.to_numpy().argmax())])
        times["before a round of moves"] = np.nextafter(busiest, 0)
        times["after it"] = busiest
    else:
        times["half way"] = float(run.jobs["submit_time"].max()) / 2
    return times


def draw_clusters(run: Run) -> Figure:
    """Draw which share of each GPU was held at the chosen times."""
    times, stretches = chosen_times(run), occupancy(run)
    node_gpus = run.config["node_gpus"]
    nodes = len(node_gpus)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(5.6, 1.6 * len(times) + 0.6), layout="constrained")
        panels = figure.subplots(len(times), 1, sharex=True, squeeze=False)[:, 0]
        for axes, (name, time) in zip(panels, times.items(), strict=True):
            state = held_at(stretches, node_gpus, time)[:MOST_NODES]
            draw_heat_map(axes, state, f"{name} ({time / HOUR:.2f} h)")
        label = "node" if nodes <= MOST_NODES else f"node (the first {MOST_NODES})"
        panels[-1].set_xlabel(label)
        bar = figure.colorbar(
            panels[-1].images[-1], ax=panels, label="share of the GPU held"
        )
        bar.outline.set_visible(False)
    return figure


def draw_learning(axes: Axes, learning: pd.DataFrame) -> Axes:
    """Draw how certain the policy became, and how well its critic foresees."""
    at = learning["decisions"].cumsum()
    axes.plot(at, learning["entropy"], color="#0072B2", label="entropy (nats)")
    explained: Any = learning["explained_variance"].clip(lower=-1)
    axes.plot(at, explained, color="#E69F00", label="explained variance, at least -1")
    axes.plot(at, learning["kl"] * 100, color="#009E73", label="KL x 100")
    axes.set(xlabel="decisions learned from", ylabel="measure of a batch")
    axes.legend()
    return axes
