"""Jobs that fill a cluster beyond its size and never leave, as in FGD's experiments.

The trace in random order, then clones of jobs drawn from it with replacement, until
the GPUs asked for reach a multiple of the cluster's; a trace that asks for more loses
jobs drawn at random. Weng et al., USENIX ATC 2023, section 6, and the published
artifact (simulator.go), whose own order comes from Go's random generator.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from model.job import Job
from model.node import Node


def inflation_jobs(
    jobs: Sequence[Job], gpu_milli: int, rng: np.random.Generator, ratio: float = 1.3
) -> list[Job]:
    """Return the jobs in the order in which they are to be placed.

    Parameters
    ----------
    jobs : the trace, whose order does not matter.
    gpu_milli : of the whole cluster.
    rng : for the order, then for what is added or taken away.
    ratio : GPUs asked for / GPUs of the cluster to stop at, never above.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> [job.job_id for job in inflation_jobs([Job("a", 0, 1)], 3000, rng, 1)]
    ['a', 'a-tuned-0', 'a-tuned-1']
    """
    by_name = sorted(jobs, key=lambda job: job.job_id)
    shuffled = [by_name[place] for place in rng.permutation(len(by_name))]
    most = ratio * gpu_milli
    total = sum(job.total_milli for job in jobs)
    if total <= most:
        return shuffled + _clones(by_name, most - total, rng)
    while total > most:
        total -= shuffled.pop(int(rng.integers(len(shuffled)))).total_milli
    return shuffled


def _clones(jobs: Sequence[Job], room: float, rng: np.random.Generator) -> list[Job]:
    """Return clones of drawn jobs until the first whose GPU would not fit *room*.

    As published, a job of several GPUs is tested with one of them but counts whole.
    """
    clones: list[Job] = []
    while any(job.num_gpus for job in jobs):
        job = jobs[int(rng.integers(len(jobs)))]
        if job.gpu_milli > room:
            break
        room -= job.total_milli
        clones.append(replace(job, job_id=f"{job.job_id}-tuned-{len(clones)}"))
    return clones


def shuffled_nodes(nodes: Sequence[Node], rng: np.random.Generator) -> tuple[Node, ...]:
    """Return the nodes in random order; ties between nodes go to the first."""
    return tuple(nodes[place] for place in rng.permutation(len(nodes)))
