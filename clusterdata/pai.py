"""The numbers of the PAI trace (Alibaba cluster-trace-gpu-v2020) that we draw from.

Calibrated to the trace's 82,184 GPU jobs: shares of a GPU and their sizes, durations
as a mixture of lognormals per size class, CPU by class, users, gangs, GPU types and
the daily course of arrivals. Cite Weng et al., "MLaaS in the Wild", NSDI 2022.
"""

from math import erf, exp, inf, log, sqrt
from typing import NamedTuple

INTERARRIVAL = 8.0  # s; the trace's own mean is 8.054
REFERENCE_GPUS = 512  # 64 nodes x 8; load 1.0 is 4,096 GPU-s per job at 8 s
DURATIONS = (4.0, 600_000.0)  # s, shortest and longest in the trace
NATIVE_SHARE = 0.5254  # of GPU jobs ask for less than a device

SHARES = {10: 0.003, 50: 0.022, 100: 0.152, 150: 0.008, 200: 0.013, 250: 0.480,
          500: 0.322}  # milli-GPU of those  # fmt: skip
EXCLUSIVE = {1000: 0.950, 2000: 0.0315, 3000: 0.006, 4000: 0.007, 5000: 0.0015,
             6000: 0.0005, 8000: 0.0035}  # milli-GPU of the others  # fmt: skip

# durations: four lognormals, common to all; (mu, sigma) of ln s
COMPONENTS = ((3.66, 0.435), (5.93, 1.08), (8.55, 0.655), (10.10, 0.84))


class SizeClass(NamedTuple):
    """What jobs of about one size have in common."""

    below: float  # milli-GPU; the class ends before this
    weights: tuple[float, float, float, float]  # of the duration components
    cpu_milli: dict[int, float]  # relative frequency


SMALL_CPU = {6000: 0.41, 16_000: 0.12, 500: 0.12}
CLASSES = (
    SizeClass(250, (0.16, 0.16, 0.615, 0.065), {6000: 0.56, 200: 0.29, 100: 0.04}),
    SizeClass(
        500,
        (0.05, 0.625, 0.225, 0.10),
        {6000: 0.89, 2000: 0.03, 1000: 0.03, 4000: 0.02},
    ),
    SizeClass(
        1000, (0.005, 0.697, 0.23, 0.068), {6000: 0.60, 10_000: 0.32, 4000: 0.04}
    ),
    SizeClass(
        2000,
        (0.27, 0.469, 0.165, 0.096),
        {6000: 0.77, 18_000: 0.10, 8000: 0.04, 500: 0.03, 16_000: 0.02},
    ),
    SizeClass(4000, (0.145, 0.325, 0.167, 0.363), SMALL_CPU),
    SizeClass(8000, (0.08, 0.19, 0.11, 0.62), SMALL_CPU),
    SizeClass(inf, (0.08, 0.19, 0.11, 0.62), {90_000: 1.0}),
)
MEMORY_PER_CORE = 29.3 * 1024 / 6  # MiB

NUM_USERS = 200
USER_SIGMA = 2.05  # of the lognormal of jobs per user

GANG_SHARE = 0.21  # of jobs have several workers
GANGS = {10: 0.20, 2: 0.11, 20: 0.09, 30: 0.06, 50: 0.06, 16: 0.05, 12: 0.05, 8: 0.05,
         3: 0.04, 5: 0.04, 26: 0.04, 25: 0.04}  # workers of those  # fmt: skip
GANG_REST = (2.47, 0.99)  # the other gangs: ln of the number of workers
GANG_MOST = 100

HOURS = (1.37, 1.04, 0.67, 0.77, 1.03, 0.84, 0.93, 1.01, 0.72, 0.93, 1.14, 1.43,
         1.03, 1.07, 0.90, 1.27, 1.25, 1.43, 1.16, 0.92, 0.91, 0.85, 0.64, 0.68,
         )  # arrivals in each hour of the day, relative to the mean  # fmt: skip
HOUR_CV = 0.31  # of a further Gamma factor for each hour, in bursty arrivals
SAME_TIME = 0.18  # of gaps are 0, in bursty arrivals


def size_class(milli: int) -> SizeClass:
    """Return the class of a job that asks for so many milli-GPU in all."""
    return next(known for known in CLASSES if milli < known.below)


def acceptance(known: SizeClass, low: float, high: float) -> float:
    """Return which share of a class's durations lies between *low* and *high* s."""
    return sum(
        weight * (_phi((log(high) - mu) / sigma) - _phi((log(low) - mu) / sigma))
        for weight, (mu, sigma) in zip(known.weights, COMPONENTS, strict=True)
    )


def mean_duration(known: SizeClass, low: float, high: float) -> float:
    """Return the mean of a class's durations between *low* and *high*, s."""
    area = 0.0
    for weight, (mu, sigma) in zip(known.weights, COMPONENTS, strict=True):
        upper = _phi((log(high) - mu) / sigma - sigma)
        lower = _phi((log(low) - mu) / sigma - sigma)
        area += weight * exp(mu + sigma**2 / 2) * (upper - lower)
    return area / acceptance(known, low, high)


def gang_sizes() -> dict[int, float]:
    """Return the probability of each number of workers of a gang, 2 to 100."""
    sizes = dict.fromkeys(range(2, GANG_MOST + 1), 0.0)
    rest = 1 - sum(GANGS.values())
    mu, sigma = GANG_REST
    for size in sizes:
        upper = 1.0 if size == GANG_MOST else _phi((log(size + 0.5) - mu) / sigma)
        lower = 0.0 if size == 2 else _phi((log(size - 0.5) - mu) / sigma)
        sizes[size] = rest * (upper - lower) + GANGS.get(size, 0.0)
    return sizes


def _phi(z: float) -> float:
    """Return the standard normal distribution function."""
    return 0.5 * (1 + erf(z / sqrt(2)))
