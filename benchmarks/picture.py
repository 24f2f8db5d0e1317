"""The figure of `python -m benchmarks`: how costs grow with everything that grows."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

GROWING = {  # section: what is varied
    "nodes": "nodes of 8 GPUs",
    "jobs": "jobs, on 64 nodes",
    "queue": "jobs that come at once",
    "classes": "kinds of request",
}


def draw(table: pd.DataFrame) -> Figure:
    """Return one panel for each section that was measured.

    Parameters
    ----------
    table : columns section, case, x, value, unit.
    """
    figure = Figure(figsize=(12, 7), layout="constrained")
    panels = figure.subplots(2, 3).flat
    for section, title in GROWING.items():
        _growth(next(panels), table[table["section"] == section], title)
    ratios = table[(table["section"] == "skeleton") & (table["unit"] == "skeletons")]
    _bars(next(panels), ratios, "whole run / bare SimPy skeleton, 64 nodes")
    spent = table[(table["section"] == "decisions") & (table["x"] == 64)]
    _bars(next(panels), spent, "one decision, 64 nodes, ms")
    return figure


def _growth(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    for case, group in rows.groupby("case"):
        axes.plot(group["x"], group["value"], marker="o", label=str(case))
    axes.set(xscale="log", xlabel=title, ylabel="CPU us per job")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    if len(rows):
        axes.legend(frameon=False)


def _bars(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    """Draw a bar for each case; a range if there are its least and most."""
    cases = rows[~rows["case"].str.contains(", least|, most")]
    bars = axes.barh(cases["case"], cases["value"], color="#0072B2")
    axes.bar_label(bars, fmt="%.3g", padding=3)
    axes.set(xlabel=title, xscale="log")
    axes.margins(x=0.2)
    axes.invert_yaxis()
