"""How things are measured: in pairs, in calls, and in a process of their own.

CPU seconds of a shared machine wander by half; a ratio of two runs of one minute
wanders less, and the number of calls that Python makes not at all. So ratios are what
is quoted, and calls are what a regression is told by.
"""

import cProfile
import gc
import pstats
import subprocess
import sys
from collections.abc import Callable, Sequence
from statistics import median
from time import process_time
from typing import NamedTuple

import numpy as np

from model.job import Job


class Paired(NamedTuple):
    """CPU seconds of two things that were run in turn, medians, and their ratio.

    *ratio* is the median of the paired ratios, *least* and *most* their range.
    """

    reference: float
    seconds: float
    ratio: float
    least: float
    most: float


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the CPU seconds of one call."""
    gc.collect()
    began = process_time()
    work()
    return process_time() - began


def paired(
    reference: Callable[[], object], work: Callable[[], object], rounds: int
) -> Paired:
    """Run both in turn, so that a machine whose speed drifts slows both."""
    pairs = [(cpu_seconds(reference), cpu_seconds(work)) for _ in range(rounds)]
    ratios = sorted(seconds / before for before, seconds in pairs)
    before, seconds = (median(times) for times in zip(*pairs, strict=True))
    return Paired(before, seconds, median(ratios), ratios[0], ratios[-1])


def calls(work: Callable[[], object]) -> int:
    """Return how many functions, Python's and built-in ones, are called."""
    profile = cProfile.Profile()
    profile.runcall(work)
    return int(pstats.Stats(profile).total_calls)  # type: ignore[attr-defined]


def peak_memory(arguments: Sequence[str]) -> float:
    """Return the peak resident memory of a Python program, MiB.

    Parameters
    ----------
    arguments : as ``["run.py", "--scheduler", "FGD"]``.
    """
    code = (
        "import resource, subprocess, sys;"
        "subprocess.run([sys.executable, *sys.argv[1:]], check=True,"
        " capture_output=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    command = [sys.executable, "-c", code, *arguments]  # children of its own
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    return int(found.stdout) / 1024


def w64(jobs: int, load: float, seed: int = 0) -> list[Job]:
    """Return workload W64, on which peers were measured: 64 nodes x 8 GPUs.

    Poisson arrivals, 1, 2, 4 or 8 GPUs by 0.60, 0.15, 0.15, 0.10, durations lognormal
    with median 3,000 s and sigma 1.
    """
    rng = np.random.default_rng(seed)
    sizes, shares = np.array([1, 2, 4, 8]), [0.60, 0.15, 0.15, 0.10]
    gpus = rng.choice(sizes, jobs, p=shares)
    seconds = rng.lognormal(np.log(3000), 1, jobs)
    work = float(sizes @ shares) * 3000 * np.exp(0.5)  # GPU-seconds of a job
    times = rng.exponential(work / (load * 512), jobs).cumsum()
    rows = zip(times.tolist(), seconds.tolist(), gpus.tolist(), strict=True)
    return [Job(f"j{i}", time, s, size) for i, (time, s, size) in enumerate(rows)]
