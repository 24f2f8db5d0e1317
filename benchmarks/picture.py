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
    ratios = table[(table["section"] == "skeleton") & (table["unit"] == "skeletons")]
    spent = table[(table["section"] == "decisions") & (table["x"] == 64)]
    panels = [
        (_growth, table[table["section"] == section], title)
        for section, title in GROWING.items()
    ]
    panels.append((_bars, ratios, "whole run / bare SimPy skeleton, 64 nodes"))
    panels.append((_bars, spent, "one decision, 64 nodes, ms"))
    there = [panel for panel in panels if len(panel[1])]
    figure = Figure(figsize=(12, 7 if len(there) > 3 else 3.5), layout="constrained")
    places = figure.subplots(1 + (len(there) > 3), 3).flat
    for (show, rows, title), axes in zip(there, places, strict=False):
        show(axes, rows, title)
    for axes in places:
        axes.set_axis_off()
    return figure


def _growth(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    for case, group in rows.groupby("case"):
        axes.plot(group["x"], group["value"], marker="o", label=str(case))
    axes.set(xscale="log", xlabel=title, ylabel="CPU us per job")
    axes.set_ylim(0, 1.15 * rows["value"].max())
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)


def _bars(axes: Axes, rows: pd.DataFrame, title: str) -> None:
    """Draw a bar for each case; a range if there are its least and most."""
    cases = rows[~rows["case"].str.contains(", least|, most")]
    known = rows.set_index("case")["value"]
    ranges = [
        [abs(known.get(f"{case}, {end}", value) - value)
         for case, value in cases[["case", "value"]].to_numpy()]
        for end in ("least", "most")
    ]  # fmt: skip
    bars = axes.barh(cases["case"], cases["value"], color="#0072B2", xerr=ranges)
    axes.bar_label(bars, fmt="%.3g", padding=3)
    axes.set(xlabel=title, xscale="log")
    least, most = cases["value"].min(), cases["value"].max()
    axes.set_xlim(min(1.0, least / 2), most * 4)
    axes.invert_yaxis()
