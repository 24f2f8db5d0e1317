"""Draw when jobs arrive: evenly at random, with the day, or in bursts."""

import numpy as np
from numpy.typing import NDArray

from clusterdata import pai
from model.errors import UserError
from model.streams import stream

Floats = NDArray[np.float64]
HOUR = 3600.0  # s
MOST_HOURS = 10_000_000  # a thousand years


def draw_arrivals(num_jobs: int, mean: float, pattern: str, seed: int) -> Floats:
    """Return increasing submit times from 0 on, rounded to ms, (num_jobs,) s.

    Parameters
    ----------
    mean : s between arrivals, on average over the days.
    pattern : ``poisson``; ``diurnal``, which follows the trace's hours of the day; or
        ``bursty``, where hours also differ at random and several jobs come at once.

    Examples
    --------
    >>> draw_arrivals(4, 8.0, "poisson", seed=0).tolist()
    [0.0, 0.92, 10.344, 27.653]
    """
    rng = stream(seed, "arrivals")
    if pattern == "poisson":
        times = rng.exponential(mean, num_jobs).cumsum()
    else:
        times = _modulated(num_jobs, mean, pattern == "bursty", rng)
    rounded: Floats = np.round(times - times[:1], 3)
    return rounded


def _modulated(
    num_jobs: int, mean: float, bursty: bool, rng: np.random.Generator
) -> Floats:
    """Draw a Poisson process whose rate changes every hour.

    Unit-rate arrivals are stretched by the inverse of the integrated rate.
    """
    same = rng.random(num_jobs) < pai.SAME_TIME * bursty
    epochs = rng.exponential(1.0, num_jobs)
    epochs[same] = 0.0
    work = epochs.cumsum() / (1 - pai.SAME_TIME * bursty)  # expected arrivals so far
    hours = int(2 * num_jobs * mean / HOUR) + 48
    if hours > MOST_HOURS:
        raise UserError(f"{num_jobs} arrivals every {mean} s would take {hours} hours")
    rate = np.resize(np.array(pai.HOURS) / np.mean(pai.HOURS), hours)
    if bursty:
        shape = pai.HOUR_CV**-2
        rate = rate * rng.gamma(shape, 1 / shape, hours)
    area = np.concatenate([[0.0], rate.cumsum() * HOUR / mean])
    times: Floats = np.interp(work, area, np.arange(hours + 1) * HOUR)
    return times
