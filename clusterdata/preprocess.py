"""From a raw PAI trace to the four that are simulated: filtered, sampled, and shared.

The published artifact kept its raw files in clusterdata/cluster-trace-gpu-v2020. What
is there is read, whichever of the publisher's forms it has (a trace.txt as well, if it
is a trace); if there is nothing, the generator stands in (`clusterdata.generator`).
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from clusterdata.formats.pai_tables import TASKS, find_table
from clusterdata.generator import HERE, MIXES, NUM_JOBS, generate
from clusterdata.registry import read_trace
from model.config import Settings
from model.errors import TraceError, UserError
from model.job import Job
from model.streams import stream

RAW = HERE / "cluster-trace-gpu-v2020"
KNOWN = ("pai_job_no_estimate_100K.csv", "pai_job_duration_estimate_100K.csv")
TEXT = "trace.txt"
FILTERED = 10_000  # jobs of the filtered trace, if it is generated


def find_raw(folder: Path = RAW) -> Path | None:
    """Return the raw trace in a folder: the simulator's CSV, tables, or a trace.txt."""
    for name in KNOWN:
        for path in (folder / name, folder / f"{name}.gz"):
            if path.is_file():
                return path
    tasks = find_table(folder, TASKS)
    text = folder / TEXT
    return tasks or (text if text.is_file() else None)


def read_raw(path: Path, trace_format: str = "auto") -> tuple[list[Job], list[str]]:
    """Return the jobs of a raw trace in the order of submission, and notes on it.

    Raises
    ------
    UserError
        If it cannot be read.
    """
    trace = read_trace(path, trace_format)
    jobs = sorted(trace.jobs, key=lambda job: job.submit_time)
    return jobs, trace.report.lines()


def preprocess(
    raw: Sequence[Job], settings: Settings, num_jobs: int = NUM_JOBS
) -> dict[str, list[Job]]:
    """Return the four traces, by the names of their files without ``_traces.csv``.

    filtered : the jobs on GPUs within `duration_bounds`.
    sampled : `num_jobs` of them at random, in their order.
    share_0.2, share_0.6 : the same, with that share of jobs below one GPU.

    Raises
    ------
    UserError
        If no job passes, or all or none of them share a GPU.
    """
    low, high = settings.duration_bounds
    filtered = [job for job in raw if job.num_gpus > 0 and low <= job.duration <= high]
    if not filtered:
        raise UserError(f"no job on a GPU lasts {low:g} to {high:g} s")
    rng = stream(settings.seed, "mix")
    everyone = np.arange(len(filtered))
    made = {
        "filtered": filtered,
        "sampled": _renamed(filtered, _draw(everyone, num_jobs, rng)),
    }
    sharing = np.array([job.request.is_share for job in filtered])
    for name, share in MIXES.items():
        if share is None:
            continue
        if sharing.all() or not sharing.any():
            raise UserError(f"{name}: no job to mix in, all or none share a GPU")
        number = round(share * num_jobs)
        shares = _draw(everyone[sharing], number, rng)
        others = _draw(everyone[~sharing], num_jobs - number, rng)
        made[name] = _renamed(filtered, np.sort(np.concatenate([shares, others])))
    return made


def _draw(
    among: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    number: int,
    rng: np.random.Generator,
) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    """Draw so many, sorted; each once, unless there are too few."""
    return np.sort(rng.choice(among, number, replace=number > len(among)))


def _renamed(
    jobs: Sequence[Job], places: "np.ndarray[tuple[int], np.dtype[np.int64]]"
) -> list[Job]:
    """Return the jobs at these places; one that is there twice gets another id."""
    seen: dict[int, int] = {}
    made = []
    for place in places.tolist():
        again = seen.get(place, 0)
        seen[place] = again + 1
        job = jobs[place]
        made.append(replace(job, job_id=f"{job.job_id}-{again}") if again else job)
    first = made[0].submit_time
    return [replace(job, submit_time=job.submit_time - first) for job in made]


def generated(settings: Settings) -> dict[str, list[Job]]:
    """Return the four traces as the generator draws them, scaled to their load."""
    plain = replace(settings, target_load="off", num_jobs=FILTERED)
    made = {"filtered": generate(plain), "sampled": generate(settings)}
    for name, share in MIXES.items():
        if share is not None:
            made[name] = generate(replace(settings, trace=name))
    return made


def four_traces(
    settings: Settings, raw: Path | None, trace_format: str = "auto"
) -> tuple[dict[str, list[Job]], list[str]]:
    """Return the four traces from a raw file, or generated; and what to know of it.

    Raises
    ------
    UserError
        If the raw file cannot be read.
    """
    if raw is None:
        return generated(settings), ["no raw PAI trace: the generator stands in"]
    try:
        jobs, notes = read_raw(raw, trace_format)
    except TraceError as error:
        if raw.name != TEXT:
            raise
        return generated(settings), [f"{error}: the generator stands in"]
    return preprocess(jobs, settings), notes
