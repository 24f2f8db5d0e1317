"""Figure of the frontier: how much of the gap is closed, by how many moves it takes."""

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.comparison import CELL, interval, title, with_gaps
from analysis.figures import BOUND, STYLE

MARKS = "os^Dv<>pP*XdhH8"
# Okabe and Ito's colours; variants of one scheduler must differ here
PALETTE = (
    "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000",
)  # fmt: skip


def draw_frontier(rows: pd.DataFrame) -> Figure:
    """Draw one panel for each cell: mean over seeds, bars are 95 % intervals.

    Parameters
    ----------
    rows : one per run, as comparison.csv has them.
    """
    groups = with_gaps(rows).groupby(CELL, sort=False)
    cells = [(tuple(cell), part) for cell, part in groups]
    width = min(3, len(cells))
    height = -(-len(cells) // width)
    with mpl.rc_context(STYLE):
        size = (5.2 * width, 1.2 + 3.4 * height)
        figure = Figure(figsize=size, layout="constrained")
        for place, (cell, part) in enumerate(cells, start=1):
            axes = figure.add_subplot(height, width, place)
            draw_cell(axes, part)
            trace, nodes, gap = cell
            axes.set_title(title(trace, nodes, gap, part["seed"].nunique()))
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=width)
    return figure


def draw_cell(axes: Axes, part: pd.DataFrame) -> Axes:
    """Draw each scheduler's gap closed against its moves per job."""
    schedulers = part.groupby("scheduler", sort=False)
    styles = zip(MARKS * 9, PALETTE * 9, schedulers, strict=False)
    for mark, colour, (name, runs) in styles:
        gap, half = interval(runs["gap_closed"])
        moves, _ = interval(runs["moves_per_job"])
        axes.errorbar(
            moves,
            gap,
            yerr=half if half == half else None,
            fmt=mark,
            color=colour,
            label=str(name),
            capsize=2,
            markersize=6,
        )
    axes.axhline(1, color=BOUND, linestyle="--", linewidth=1)
    axes.margins(x=0.08)
    axes.set(xlabel="moves per job", ylabel="gap closed", ylim=(-0.1, 1.05))
    return axes
