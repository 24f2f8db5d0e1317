"""From settings to jobs: which trace, how much of it, when the jobs come."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

import numpy as np

from clusterdata.arrivals import draw_arrivals
from clusterdata.clusters import read_nodes
from clusterdata.generator import MIXES, generate
from clusterdata.node_events import read_node_events
from clusterdata.registry import Trace, read_trace
from clusterdata.table import Table
from model.classes import JOB_CLASSES
from model.config import Settings, flag
from model.errors import TraceError, UserError, suggestion
from model.job import WHOLE_GPU, Job
from model.node import Node, NodeChange
from model.streams import stream


class Workload(NamedTuple):
    """A trace on a cluster, ready to be simulated.

    Attributes
    ----------
    jobs : in the order of submission.
    nodes : the cluster.
    changes : when nodes join, drain, leave and return.
    checksum : SHA-256 of the trace file, or of the generated jobs.
    notes : what the user should know about the trace, one line each.
    """

    jobs: list[Job]
    nodes: tuple[Node, ...]
    changes: list[NodeChange]
    checksum: str
    notes: list[str]


def load_workload(settings: Settings) -> Workload:
    """Return the trace and the cluster that *settings* name.

    Raises
    ------
    UserError
        If a file cannot be read, or the settings contradict it.
    """
    nodes = load_nodes(settings)
    settings.check_cluster(nodes)
    notes: list[str] = []
    if settings.trace in MIXES:
        jobs = generate(settings)
        checksum = hashlib.sha256(repr(jobs).encode()).hexdigest()
    else:
        path = _trace_path(settings.trace)
        trace = read_trace(path, settings.trace_format)
        checksum = checksum_of(path)
        notes += trace.report.lines()
        jobs = _without_types(adapt(trace, settings, notes), nodes, notes)
        notes += _idle_settings(settings)
    jobs = completed(jobs, settings)
    return Workload(jobs, nodes, load_changes(settings, nodes), checksum, notes)


def load_nodes(settings: Settings) -> tuple[Node, ...]:
    """Return the nodes of the node list, or those that the settings describe."""
    if settings.node_list:
        return read_nodes(Path(settings.node_list))
    return settings.uniform_cluster()


def load_changes(settings: Settings, nodes: Sequence[Node]) -> list[NodeChange]:
    """Return when nodes join, drain, leave, fail and return, as a file has it."""
    if not settings.node_events:
        return []
    return read_node_events(Table(settings.node_events), nodes)


def _trace_path(name: str) -> Path:
    path = Path(name)
    if not path.exists() and not re.search(r"[/\\.]", name):
        near = suggestion(name, MIXES)
        raise UserError(f"--trace {name}: no such file or mix{near}")
    return path


def checksum_of(path: Path) -> str:
    """Return the SHA-256 of a file, or of all files of a folder in their order."""
    digest = hashlib.sha256()
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    for each in filter(Path.is_file, files):
        with each.open("rb") as file:
            while part := file.read(2**20):
                digest.update(part)
    return digest.hexdigest()


def _without_types(
    jobs: list[Job], nodes: Sequence[Node], notes: list[str]
) -> list[Job]:
    """Drop demands for types of GPU on a cluster whose nodes have no types."""
    demanding = sum(bool(job.gpu_type) for job in jobs)
    if not demanding or any(node.gpu_type for node in nodes):
        return jobs
    notes.append(
        f"the nodes have no types of GPU (--node-list gives them some): the demands "
        f"of {demanding:,} jobs for one are ignored"
    )
    return [replace(job, gpu_type="") for job in jobs]


def adapt(trace: Trace, settings: Settings, notes: list[str]) -> list[Job]:
    """Sort by time, keep the first `num_jobs`, redraw arrivals if asked."""
    jobs = trace.jobs
    if not jobs:
        raise TraceError(f"{settings.trace}: no job is left: {'; '.join(notes)}")
    if not (trace.report.timed or settings.interarrival_time):
        raise TraceError(
            f"{settings.trace}: says nothing about when jobs were submitted; say "
            f"--interarrival-time SECONDS, and arrivals are drawn"
        )
    times = [job.submit_time for job in jobs]
    if times != sorted(times):
        notes.append(
            f"{settings.trace}: submit times are out of order; jobs are sorted"
        )
        jobs = sorted(jobs, key=lambda job: job.submit_time)
    if settings.num_jobs > len(jobs):
        raise TraceError(
            f"--num-jobs {settings.num_jobs}: {settings.trace} has {len(jobs)} jobs"
        )
    jobs = jobs[: settings.num_jobs or len(jobs)]
    if not settings.interarrival_time:
        return jobs
    arrivals = draw_arrivals(
        len(jobs), settings.interarrival_time, settings.arrivals, settings.seed
    )
    return [
        replace(job, submit_time=time)
        for job, time in zip(jobs, arrivals.tolist(), strict=True)
    ]


def _idle_settings(settings: Settings) -> list[str]:
    """Return a note for each changed setting that shapes generated jobs only."""
    names = ["duration_range", "target_load", "share_by", "gangs", "gpu_types"]
    if not settings.interarrival_time:
        names.append("arrivals")
    return [
        f"{flag(name)} has no effect on a trace file"
        for name in names
        if getattr(settings, name) != getattr(Settings(), name)
    ]


def completed(jobs: Sequence[Job], settings: Settings) -> list[Job]:
    """Return the jobs with what a trace need not say: class, deadline, estimate."""
    seed, slack, sigma = settings.seed, settings.slack_factors, settings.duration_error
    classes, missing = classes_of(jobs, seed), repeat(None)
    deadlines = deadlines_of(jobs, slack, seed) if slack else missing
    estimates = estimates_of(jobs, sigma, seed) if sigma else missing
    return [
        replace(
            job,
            job_class=name,
            deadline=job.deadline if due is None else due,
            estimated_duration=job.estimated_duration if seen is None else seen,
        )
        for job, name, due, seen in zip(jobs, classes, deadlines, estimates)  # noqa: B905
    ]


def estimates_of(jobs: Sequence[Job], sigma: float, seed: int) -> list[float]:
    """Return estimates that err by a lognormal factor of median 1, s."""
    factors = np.exp(sigma * stream(seed, "estimates").standard_normal(len(jobs)))
    return [
        job.duration * factor
        for job, factor in zip(jobs, factors.tolist(), strict=True)
    ]


def deadlines_of(jobs: Sequence[Job], slack: Sequence[float], seed: int) -> list[float]:
    """Return each job's deadline, drawn if it has none: submission + duration x slack.

    The factors are equally likely, as in the trace generator of ElasticFlow, which has
    them from Gavel (1.2, 2, 10).
    """
    drawn = stream(seed, "deadlines").choice(slack, len(jobs)).tolist()
    return [
        job.submit_time + factor * job.duration
        if job.deadline is None
        else job.deadline
        for job, factor in zip(jobs, drawn, strict=True)
    ]


def classes_of(jobs: Sequence[Job], seed: int) -> list[str]:
    """Return each job's class, drawn if it has none: any of `model.classes` alike."""
    names = [*JOB_CLASSES]
    drawn = stream(seed, "classes").integers(len(names), size=len(jobs)).tolist()
    return [
        job.job_class or names[place] for job, place in zip(jobs, drawn, strict=True)
    ]


def offered_load(jobs: Sequence[Job], num_gpus: int) -> float:
    """Return rho: GPU-seconds that arrive per second / GPUs; nan for under two jobs.

    The mean gap between arrivals is taken from the first and the last submit time.
    """
    span = jobs[-1].submit_time - jobs[0].submit_time if jobs else 0.0
    if span <= 0 or not num_gpus:
        return float("nan")
    work = sum(job.total_milli * job.duration for job in jobs) / WHOLE_GPU
    return work / len(jobs) * (len(jobs) - 1) / span / num_gpus
