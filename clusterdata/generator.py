"""Draw a trace like PAI's: native mix, or with another share of shared GPUs.

``run.py trace preprocess`` writes the four CSV files beside this one with it.

Durations outside the wanted range are left out, as if filtered from the trace, which
shifts the mix towards the jobs that pass. The rest is scaled so that the expected
GPU-seconds of a job make the wanted load on 512 GPUs at 8 s between arrivals.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clusterdata import pai
from clusterdata.arrivals import draw_arrivals
from model.config import GPU_TYPES, Settings
from model.errors import UserError
from model.job import WHOLE_GPU, Job
from model.streams import stream

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MIXES = {"native": None, "share_0.2": 0.2, "share_0.6": 0.6}
NUM_JOBS = 20_000
LEAST_MEMORY = 1024  # MiB
LEAST_PASSING = 1e-3  # share of jobs within the range of durations
HERE = Path(__file__).parent


class Mix:
    """How often each size of job occurs once durations are filtered.

    Attributes
    ----------
    milli : (sizes,) int64, milli-GPU of a job, all its devices together.
    probability : (sizes,) float, of each; sums to 1.
    seconds : (sizes,) float, mean duration of each, s.
    """

    def __init__(self, settings: Settings) -> None:
        low, high = settings.duration_bounds
        share = _filtered(pai.SHARES, low, high)
        exclusive = _filtered(pai.EXCLUSIVE, low, high)
        if min(sum(share.values()), sum(exclusive.values())) < LEAST_PASSING:
            raise UserError(
                f"--duration-range {settings.duration_range}: fewer than one job in "
                f"{1 / LEAST_PASSING:.0f} lasts that long"
            )
        wanted = MIXES[settings.trace]
        if wanted is None:
            passed = pai.NATIVE_SHARE * sum(share.values())
            other = (1 - pai.NATIVE_SHARE) * sum(exclusive.values())
            wanted = passed / (passed + other)
        elif settings.share_by == "volume":
            part = (1 - wanted) * _mean(share)
            wanted = wanted * _mean(exclusive) / (wanted * _mean(exclusive) + part)
        self.milli: Ints = np.array([*share, *exclusive])
        self.probability: Floats = np.concatenate(
            [
                wanted * _normal(np.array([*share.values()])),
                (1 - wanted) * _normal(np.array([*exclusive.values()])),
            ]
        )
        self.seconds: Floats = np.array(
            [
                pai.mean_duration(pai.size_class(milli), low, high)
                for milli in self.milli
            ]
        )

    def gpu_seconds(self) -> float:
        """Return the expected GPU-seconds of one worker of a job."""
        return float(self.probability @ (self.milli / WHOLE_GPU * self.seconds))


def _filtered(sizes: dict[int, float], low: float, high: float) -> dict[int, float]:
    """Return how many of each size pass the filter, out of one job."""
    passed = {}
    for milli, frequency in sizes.items():
        known = pai.size_class(milli)
        passes = pai.acceptance(known, low, high)
        passed[milli] = frequency * passes / pai.acceptance(known, *pai.DURATIONS)
    return passed


def _mean(sizes: dict[int, float]) -> float:
    return float(np.average([*sizes], weights=[*sizes.values()]))


def _normal(weights: Floats) -> Floats:
    normal: Floats = weights / weights.sum()
    return normal


def generate(settings: Settings) -> list[Job]:
    """Return a trace drawn as *settings* say, in order of submission.

    Raises
    ------
    UserError
        If `settings.trace` names no mix.
    """
    if settings.trace not in MIXES:
        raise UserError(f"no mix {settings.trace!r}; there are {', '.join(MIXES)}")
    num_jobs = settings.num_jobs or NUM_JOBS
    mix, rng = Mix(settings), stream(settings.seed, "mix")
    milli = mix.milli[rng.choice(len(mix.milli), num_jobs, p=mix.probability)]
    cpu = _draw_cpu(milli, rng)
    memory = np.maximum(LEAST_MEMORY, np.round(cpu / 1000 * pai.MEMORY_PER_CORE))
    arrivals = draw_arrivals(
        num_jobs,
        settings.interarrival_time or pai.INTERARRIVAL,
        settings.arrivals,
        settings.seed,
    )
    columns = (
        [f"job-{number:06d}" for number in range(num_jobs)],
        arrivals.tolist(),
        np.round(_scale(settings, mix) * _draw_durations(milli, settings)).tolist(),
        np.maximum(1, milli // WHOLE_GPU).tolist(),
        np.minimum(WHOLE_GPU, milli).tolist(),
        cpu.tolist(),
        memory.astype(int).tolist(),
        _draw_types(settings, num_jobs, rng),
        _draw_workers(settings, num_jobs).tolist(),
        _draw_users(num_jobs, settings.seed),
    )
    return [Job(*values) for values in zip(*columns, strict=True)]


def _scale(settings: Settings, mix: Mix) -> float:
    """Return the factor on durations that makes the expected load the wanted one."""
    if settings.load_factor is None:
        return 1.0
    wanted = settings.load_factor * pai.INTERARRIVAL * pai.REFERENCE_GPUS
    return wanted / (mix.gpu_seconds() * _mean_workers(settings))


def _draw_durations(milli: Ints, settings: Settings) -> Floats:
    """Draw each job's duration from its class, again until within the range, s."""
    rng, (low, high) = stream(settings.seed, "durations"), settings.duration_bounds
    weights = np.array([pai.size_class(int(size)).weights for size in milli])
    edges = weights.cumsum(axis=1)  # (jobs, components)
    components = np.array(pai.COMPONENTS)
    durations = np.zeros(len(milli))
    missing = np.arange(len(milli))
    while len(missing):
        uniform = rng.random(len(missing)) * edges[missing, -1]
        component = (uniform[:, None] >= edges[missing]).sum(axis=1)
        mu, sigma = components[component].T
        drawn = np.exp(mu + sigma * rng.standard_normal(len(missing)))
        durations[missing] = drawn
        missing = missing[(drawn < low) | (drawn > high)]
    return durations


def _draw_cpu(milli: Ints, rng: np.random.Generator) -> Ints:
    """Draw the milli-cores of each job from its class."""
    cpu = np.zeros(len(milli), dtype=np.int64)
    for size in np.unique(milli):
        table = pai.size_class(int(size)).cpu_milli
        of_size = milli == size
        chances = _normal(np.array([*table.values()]))
        cpu[of_size] = rng.choice([*table], int(of_size.sum()), p=chances)
    return cpu


def _draw_users(num_jobs: int, seed: int) -> list[str]:
    rng = stream(seed, "users")
    weights = np.exp(pai.USER_SIGMA * rng.standard_normal(pai.NUM_USERS))
    users = rng.choice(pai.NUM_USERS, num_jobs, p=_normal(weights))
    return [f"user-{user:03d}" for user in users]


def _draw_workers(settings: Settings, num_jobs: int) -> Ints:
    if not settings.gangs:
        return np.ones(num_jobs, dtype=np.int64)
    rng, sizes = stream(settings.seed, "gangs"), pai.gang_sizes()
    several = rng.random(num_jobs) < pai.GANG_SHARE
    drawn = rng.choice([*sizes], num_jobs, p=_normal(np.array([*sizes.values()])))
    return np.where(several, drawn, 1)


def _mean_workers(settings: Settings) -> float:
    if not settings.gangs:
        return 1.0
    mean = sum(size * chance for size, chance in pai.gang_sizes().items())
    return 1 + pai.GANG_SHARE * (mean - 1)


def _draw_types(
    settings: Settings, num_jobs: int, rng: np.random.Generator
) -> list[str]:
    if not settings.gpu_types:
        return [""] * num_jobs
    chances = _normal(np.array([*GPU_TYPES.values()]))
    types: list[str] = rng.choice([*GPU_TYPES], num_jobs, p=chances).tolist()
    return types
