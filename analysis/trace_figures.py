"""A picture of a trace: what jobs ask for, how long they run, when they come."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import STYLE
from analysis.trace_summary import (
    DAY,
    HOUR,
    SIZES,
    distances,
    gaps_of,
    gpu_seconds,
    hours_of_day,
    sizes_of,
)

SERIES = ("#CC79A7", "#56B4E9", "#0072B2", "#009E73", "#E69F00", "#D55E00", "#7F3C8D",
          "#444444")  # one for each size, safe for colour-blind readers  # fmt: skip


def draw_trace(
    jobs: pd.DataFrame, title: str, timed: bool, other: pd.DataFrame | None = None
) -> Figure:
    """Draw a trace; beside it, dashed, another one that it is held against."""
    timed = timed and bool(gaps_of(jobs).any())
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(11, 7.5 if timed else 4), layout="constrained")
        axes = figure.subplots(2 if timed else 1, 2, squeeze=False)
        apart = {} if other is None else distances(jobs, other)
        draw_mix(axes[0, 0], jobs, other, apart.get("request mix"))
        draw_durations(axes[0, 1], jobs, other, apart)
        if timed:
            draw_arrivals(axes[1, 0], jobs)
            draw_hours(axes[1, 1], jobs)
        note = "" if timed else ", which does not say when jobs came"
        figure.suptitle(title + note, fontsize=12, parse_math=False)
    return figure


def draw_mix(
    axes: Axes,
    jobs: pd.DataFrame,
    other: pd.DataFrame | None = None,
    apart: float | None = None,
) -> Axes:
    """Draw which share of jobs, and of GPU-seconds, each size has."""
    shares = [("jobs", _shares(jobs), {"color": "#0072B2"})]
    work = gpu_seconds(jobs)
    shares.append(("GPU-seconds", _shares(jobs, work), {"color": "#E69F00"}))
    if other is not None:
        style: Any = {"color": "none", "edgecolor": "#222222", "linestyle": "--"}
        with_gpu = float((jobs["num_gpus"] > 0).mean())
        shares.append(("jobs, generator", with_gpu * _shares(other), style))
    used = np.flatnonzero(np.sum([share for _, share, _ in shares], axis=0))
    width = 0.8 / len(shares)
    for place, (name, share, style) in enumerate(shares):
        at = np.arange(len(used)) + (place - (len(shares) - 1) / 2) * width
        axes.bar(at, 100 * share[used], width, label=name, **style)
    names = [SIZES[place].name for place in used]
    axes.set_xticks(np.arange(len(used)), names, rotation=35, ha="right")
    head = "what a worker asks for"
    axes.set(ylabel="share, %", title=head + (f" (D = {apart:.3f})" if apart else ""))
    axes.legend()
    return axes


def _shares(jobs: pd.DataFrame, weights: Any = None) -> Any:
    counts = np.bincount(sizes_of(jobs), weights, minlength=len(SIZES))
    return counts / max(1e-12, counts.sum())


def draw_durations(
    axes: Axes, jobs: pd.DataFrame, other: pd.DataFrame | None, apart: dict[str, float]
) -> Axes:
    """Draw the distribution of durations, for each size with at least ten jobs."""
    mine = sizes_of(jobs)
    for place, size in enumerate(SIZES):
        seconds = jobs["duration"][mine == place].to_numpy(float)
        if len(seconds) < 10:
            continue
        distance = f", D = {apart[size.name]:.2f}" if size.name in apart else ""
        label = f"{size.name} ({len(seconds):,}{distance})"
        axes.ecdf(seconds, color=SERIES[place], label=label)
        if other is not None and size.name in apart:
            theirs = other["duration"][sizes_of(other) == place].to_numpy(float)
            axes.ecdf(theirs, color=SERIES[place], linestyle="--", linewidth=1)
    axes.set(
        xlabel="duration, s",
        ylabel="share of jobs that are no longer",
        xscale="log",
        title="durations by size" + (" (dashed: generator)" if apart else ""),
    )
    if axes.lines:
        axes.legend(fontsize="small")
    return axes


def draw_arrivals(axes: Axes, jobs: pd.DataFrame) -> Axes:
    """Draw how many jobs came in each hour, or each day if there are many."""
    times = jobs["submit_time"].to_numpy(float)
    unit, name = (DAY, "day") if times.max() > 60 * DAY else (HOUR, "hour")
    counts = np.bincount((times // unit).astype(int))
    at = np.arange(len(counts)) * unit / DAY
    axes.step(at, counts, where="post", color="#0072B2", linewidth=1)
    axes.set(
        xlabel="days since the trace began",
        ylabel=f"jobs per {name}",
        title="arrivals",
        ylim=(0, None),
    )
    return axes


def draw_hours(axes: Axes, jobs: pd.DataFrame) -> Axes:
    """Draw the course of the day: arrivals by hour, relative to the mean."""
    hours = hours_of_day(jobs)
    if np.isfinite(hours).all():
        axes.bar(np.arange(24) + 0.5, hours, 0.9, color="#56B4E9")
        axes.axhline(1, color="#222222", linewidth=1)
    else:
        axes.text(0.5, 0.5, "less than a day", ha="center", transform=axes.transAxes)
    axes.set(
        xlabel="hour of the day, 0 = when the trace began",
        ylabel="arrivals / mean",
        title="course of the day",
        xlim=(0, 24),
    )
    return axes
