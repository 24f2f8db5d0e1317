"""Heat map of a cluster: how much of each GPU is held, before and after a plan."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from analysis.figures import STYLE

TITLES = ("before the plan", "after the plan")
SQUARE = 0.24  # inches of one GPU


def draw_heat_maps(
    states: Sequence[NDArray[np.float64]], names: Sequence[str]
) -> Figure:
    """Draw the cluster before and after, one column a node, one row a GPU.

    Parameters
    ----------
    states : two arrays (nodes, gpus) of the share of each GPU that is held, 0 to 1;
        nan where a node has fewer.
    names : of the nodes.
    """
    nodes, gpus = states[0].shape
    width = max(6.0, min(16.0, 1.6 + SQUARE * nodes))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(width, 1.6 + 2 * SQUARE * gpus), layout="constrained")
        panels = figure.subplots(2, 1, sharex=True)
        for axes, state, title in zip(panels, states, TITLES, strict=True):
            image = draw_heat_map(axes, state, title)
        shown = range(0, nodes, max(1, nodes // 16))
        panels[1].set_xticks([*shown], [names[node] for node in shown], rotation=90)
        figure.colorbar(image.images[-1], ax=panels, label="share of the GPU held")
    return figure


def draw_heat_map(axes: Axes, state: NDArray[np.float64], title: str) -> Axes:
    """Draw one state; idle nodes, which a whole-node job could have, are framed."""
    colours = mpl.colormaps["cividis_r"].with_extremes(bad="#ffffff")
    axes.imshow(state.T, aspect="auto", cmap=colours, vmin=0, vmax=1)
    has_gpus = ~np.isnan(state).all(axis=1)
    idle = np.flatnonzero(has_gpus & (np.nansum(state, axis=1) == 0))
    for node in idle.tolist():
        axes.axvspan(node - 0.5, node + 0.5, fill=False, edgecolor="#D55E00", lw=2)
    axes.set_title(f"{title}: {len(idle)} idle nodes")
    axes.set(ylabel="GPU", yticks=range(state.shape[1]))
    axes.grid(visible=False)
    return axes
