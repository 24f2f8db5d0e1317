"""Figure of filling a cluster: three measures against the arrived load."""

from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from analysis.figures import BOUND, COLOURS, STYLE
from analysis.inflation import MOST, POLICIES, published_means
from analysis.tables import counted

LABELS = {
    "alloc_pct": "allocated (% of all GPUs)",
    "frag_total_pct": "fragmented (% of all GPUs)",
    "frag_idle_pct": "fragmented (% of free GPUs)",
}
RENAMED = {"Random": "RandomFit"}  # whose colours these policies have


def draw_inflation(series: pd.DataFrame, trace: str) -> Figure:
    """Draw one trace: bands over the seeds, dots for the published means.

    Parameters
    ----------
    series : `arrived_series` of all runs, with columns policy, trace and seed.
    """
    mine = series[series["trace"] == trace]
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    with mpl.rc_context(STYLE):
        for place, (measure, label) in enumerate(LABELS.items(), start=1):
            axes = figure.add_subplot(1, 3, place)
            draw_measure(axes, mine, trace, measure)
            axes.set(xlabel="arrived (% of all GPUs)", ylabel=label, xlim=(0, MOST))
    figure.axes[0].set(xlim=(70, MOST), ylim=(70, 100))  # where policies part
    policies = [name for name in POLICIES if name in set(mine["policy"])]
    handles = [Line2D([], [], color=_colour(name), label=name) for name in policies]
    dots: Any = {"color": BOUND, "marker": "o", "linestyle": "", "markersize": 3}
    handles.append(Line2D([], [], label="published mean", **dots))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
    seeds = counted(mine["seed"].nunique(), "seed")
    figure.suptitle(f"Filling the openb cluster, trace {trace}, {seeds}")
    return figure


def draw_measure(axes: Axes, series: pd.DataFrame, trace: str, measure: str) -> Axes:
    """Draw one measure of one trace: mean and range over seeds, published dots."""
    known = published_means()
    known = known[known["trace"] == trace]
    for policy, part in series.groupby("policy", sort=False):
        by_percent = part.groupby("arrived_pct")[measure]
        mean, low, high = by_percent.mean(), by_percent.min(), by_percent.max()
        colour = _colour(str(policy))
        axes.plot(mean.index, mean, color=colour, linewidth=1.4)
        axes.fill_between(mean.index, low, high, color=colour, alpha=0.2, linewidth=0)
        dots = known[known["policy"] == policy]
        axes.plot(dots["arrived_pct"], dots[measure], "o", color=colour, markersize=3)
    axes.set_ylim(bottom=0)
    return axes


def _colour(policy: str) -> str:
    return COLOURS[RENAMED.get(policy, policy)]
