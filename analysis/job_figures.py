"""Figures of how jobs and users fared."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from analysis.bounds import gap_closed
from analysis.figures import BOUND, colour, measured_jobs
from analysis.metrics import bounded_slowdown
from analysis.run_folder import Run
from analysis.tables import REFERENCE, number

FEW = 10  # jobs, under which a user's mean says little


def draw_headline(axes: Axes, runs: Sequence[Run]) -> Axes:
    """Draw each scheduler's mean delay, the bound, and the gap closed."""
    means = [run.summary["mean_queueing_delay"] for run in runs]
    delays = [float("nan") if mean is None else mean for mean in means]
    names = [run.title for run in runs]
    bound = next(
        (b for run in runs if (b := run.summary["pooled_mean_queueing_delay"]) == b
         and b is not None), None)  # fmt: skip
    reference = dict(zip(names, delays, strict=True)).get(REFERENCE)
    places = np.arange(len(runs))
    axes.barh(places, delays, color=[colour(run) for run in runs])
    for place, delay in enumerate(delays):
        text = f"{number(delay)} s"
        if bound is not None and reference is not None:
            text += f", gap closed {gap_closed(delay, reference, bound):.3f}"
        at: Any = {"xytext": (4, 0), "textcoords": "offset points", "va": "center"}
        axes.annotate(text, (delay, place), **at)
    if bound is not None:
        line: Any = {"color": BOUND, "linestyle": "--"}
        axes.axvline(bound, **line, label=f"pooled bound, {number(bound)} s")
        axes.legend(loc="lower right")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.65 * max([delay for delay in delays if delay > 0] or [1.0]))
    axes.set(xlabel="mean queueing delay, s")
    axes.grid(visible=False)
    return axes


def draw_users(axes: Axes, runs: Sequence[Run]) -> Axes:
    """Draw the users' mean slowdowns, from the luckiest to the worst off."""
    for run in runs:
        jobs = measured_jobs(run)
        by_user = bounded_slowdown(jobs).groupby(jobs["user"].fillna("").astype(str))
        means = by_user.mean()[by_user.size() >= FEW].sort_values()
        if len(means) < 2:
            continue
        jain = run.summary.get("jain_index")
        note = f" (Jain {jain:.2f})" if jain is not None and jain == jain else ""
        axes.plot(
            np.linspace(0, 100, len(means)),
            means.to_numpy(),
            color=colour(run),
            label=run.title + note,
        )
    axes.set(
        xlabel=f"users with {FEW} jobs or more, from the best off (%)",
        ylabel="mean bounded slowdown",
        yscale="log",
    )
    return axes
