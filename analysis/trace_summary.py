"""What a trace asks for: jobs, sizes, durations, arrivals, and the load they make."""

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import ks_2samp

from analysis.tables import align, number

Floats = NDArray[np.float64]
HOUR, DAY = 3600.0, 86_400.0  # s
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
WHOLE_GPU = 1000  # milli-GPU


class Size(NamedTuple):
    """Jobs whose workers ask for about as much."""

    name: str
    low: int  # milli-GPU of a worker, least
    high: int  # below this


SIZES = (
    Size("no GPU", 0, 1),
    Size("< 0.25 GPU", 1, 250),
    Size("0.25-0.49", 250, 500),
    Size("0.5-0.99", 500, 1000),
    Size("1 GPU", 1000, 1001),
    Size("2-3 GPUs", 1001, 4000),
    Size("4-7 GPUs", 4000, 8000),
    Size("8 GPUs or more", 8000, 2**62),
)


def sizes_of(jobs: pd.DataFrame) -> NDArray[np.int64]:
    """Return the place in `SIZES` of each job's workers, (jobs,)."""
    milli = (jobs["num_gpus"] * jobs["gpu_milli"]).to_numpy(float)
    lows = np.array([size.low for size in SIZES])
    return np.searchsorted(lows, milli, side="right") - 1


def gpu_seconds(jobs: pd.DataFrame) -> Floats:
    """Return what each job asks for in all, GPU-seconds, (jobs,)."""
    each = jobs["num_gpus"].astype(float) * jobs["gpu_milli"] / WHOLE_GPU
    gpus = jobs["num_workers"] * each
    return np.asarray(gpus * jobs["duration"], np.float64)


def gaps_of(jobs: pd.DataFrame) -> Floats:
    """Return the times between arrivals, (jobs - 1,) s."""
    return np.diff(np.sort(jobs["submit_time"].to_numpy(float)))


def hours_of_day(jobs: pd.DataFrame) -> Floats:
    """Return arrivals by hour of the day, relative to the mean, (24,).

    Hour 0 begins with the trace. Only whole days count; without one, all is nan.
    """
    times = jobs["submit_time"].to_numpy(float)
    days = int((times.max() + 1e-9) // DAY) if len(times) else 0
    if days == 0:
        return np.full(24, np.nan)
    within = times[times < days * DAY]
    counts = np.bincount((within % DAY // HOUR).astype(int), minlength=24)
    return np.asarray(counts / counts.mean(), np.float64)


def distances(jobs: pd.DataFrame, others: pd.DataFrame) -> dict[str, float]:
    """Return how far two traces are apart: Kolmogorov and Smirnov's D, 0 to 1.

    Of the durations, for each size that at least ten jobs of both have, and as
    "request mix" of the GPUs that a worker asks for, if it asks for some.
    """
    mine, theirs = sizes_of(jobs), sizes_of(others)
    asks, others_ask = (
        (frame["num_gpus"] * frame["gpu_milli"])[frame["num_gpus"] > 0]
        for frame in (jobs, others)
    )
    apart = {}
    if len(asks) and len(others_ask):
        apart["request mix"] = _distance(asks, others_ask)
    for place, size in enumerate(SIZES):
        ours = jobs["duration"][mine == place]
        other = others["duration"][theirs == place]
        if min(len(ours), len(other)) >= 10:
            apart[size.name] = _distance(ours, other)
    return apart


def _distance(ours: "pd.Series[float]", others: "pd.Series[float]") -> float:
    return float(ks_2samp(ours.to_numpy(float), others.to_numpy(float)).statistic)


def describe(jobs: pd.DataFrame, load: float, num_gpus: int, timed: bool) -> str:
    """Return a text about a trace.

    Parameters
    ----------
    jobs : a canonical table, at least one row.
    load, num_gpus : what the jobs offer to a cluster of so many GPUs, 1 = all of it.
    timed : whether the submit times mean something.
    """
    work = gpu_seconds(jobs)
    users = jobs["user"].replace("", np.nan).nunique()
    several = jobs["num_workers"] > 1
    lines = [
        ("jobs", f"{len(jobs):,}"),
        ("users", f"{users:,}" if users else "not given"),
        ("GPU-seconds", f"{work.sum():,.0f} (mean {number(float(work.mean()))} a job)"),
        ("gangs", f"{several.mean():.1%} of jobs, up to {jobs['num_workers'].max()} "
         f"workers"),
    ]  # fmt: skip
    lines += _arrivals(jobs, load, num_gpus) if timed else [
        ("arrivals", "no submit times: replay needs --interarrival-time")
    ]  # fmt: skip
    width = max(len(name) for name, _ in lines)
    about = "\n".join(f"{name:{width}}  {text}" for name, text in lines)
    return f"{about}\n\n{_by_size(jobs, work)}\n"


def _arrivals(jobs: pd.DataFrame, load: float, num_gpus: int) -> list[tuple[str, str]]:
    gaps, span = gaps_of(jobs), float(np.ptp(jobs["submit_time"]))
    if span <= 0:
        return [("arrivals", "all at once")]
    hours = hours_of_day(jobs)
    lines = [
        ("span", f"{span / DAY:.2f} days, {number(span / max(1, len(gaps)))} s between "
         f"arrivals, {(gaps == 0).mean():.1%} of gaps are 0"),
        ("gaps", f"coefficient of variation {gaps.std() / gaps.mean():.2f} "
         f"(Poisson: 1)"),
        ("offered load", f"{load:.3f} of {num_gpus:,} GPUs"),
    ]  # fmt: skip
    if np.isfinite(hours).all():
        lines.append(
            (
                "hours of day",
                f"least {hours.min():.2f} at {hours.argmin()} h, most "
                f"{hours.max():.2f} at {hours.argmax()} h of the mean",
            )
        )
    return lines


def _by_size(jobs: pd.DataFrame, work: Floats) -> str:
    """Return a table of sizes: shares and quantiles of the duration."""
    places = sizes_of(jobs)
    heads = ("a worker asks", "jobs", "share", "GPU-s", "mean s")
    rows = [(*heads, *(f"p{100 * q:.0f}" for q in QUANTILES[:-1]), "max")]
    groups = [(size.name, places == place) for place, size in enumerate(SIZES)]
    for name, mine in [*groups, ("all", np.ones(len(jobs), bool))]:
        if not mine.any():
            continue
        seconds = jobs["duration"][mine].to_numpy(float)
        part = work[mine].sum() / work.sum() if work.sum() else 0.0
        rows.append(
            (
                name,
                f"{mine.sum():,}",
                f"{mine.mean():.1%}",
                f"{part:.1%}",
                number(float(seconds.mean())),
                *(number(float(q)) for q in np.quantile(seconds, QUANTILES)),
            )
        )
    return align(rows)
