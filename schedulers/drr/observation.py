"""What DRR's network sees: N x 8 x 7 numbers about devices, and a context.

The observation, of length init_dim = 56 N, has for each device of each node, for the
job at hand; devices that a node lacks are all 0:

    0  free share of the device, 0 to 1
    1  until the last job on it should end, s / (s + 1800), 0 to 1
    2  by how much the job would outlive that, in its own durations, 0 to 1
    3  share that the job would take there, by the scorer's rule, 0 to 1
    4  growth of expected fragmentation of the node, GPUs / 8, about -1 to 1
    5  by how much the job would outlive the node's last job, own durations, 0 to 1
    6  by how much the node's last job would outlive it, s / (s + 1800), 0 to 1

Numbers 3 to 6 are 0 on nodes without room. The context is about the job and the queue:

    0  what a worker of the job asks for, GPUs / 8
    1  1 if it asks for a share of a device
    2  its duration, s / (s + 1800)
    3  jobs that wait, n / (n + 100)
    4  what they ask for / all GPUs, x / (x + 1)
    5  share of the cluster that is free
    6  share of its devices that are fully free
    7  1 if a job of 2 or more GPUs is among the 50 first in line, behind the head
    8  how near it is, 1 / (1 + jobs before it), 0 if there is none
"""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.capacity import Capacity, Ints
from model.job import WHOLE_GPU, Job
from schedulers.drr.compiled import compiled, inlined
from schedulers.drr.kernel import (
    BIG,
    HALF,
    devices_score,
    node_score,
    share_score,
)
from schedulers.drr.line import estimate
from schedulers.drr.state import Floats, State, Tables
from schedulers.drr.view import View
from schedulers.queue import PendingQueue

SEVEN, CONTEXT = 7, 9  # numbers seen of a device, and of all the rest
SEEN = 50  # jobs of the line that the context looks at
MOST = 256  # nodes that the network looks at


class Observation(NamedTuple):
    """What is seen before one decision.

    Attributes
    ----------
    devices : (seen, gpus, 7) float32.
    context : (9,) float32.
    scores : (seen,) float64, the teacher's; `BIG` where the job has no room.
    gpus : (seen,) the device of each node that a share would get.
    nodes : (seen,) indices; all nodes, of a large cluster the best `MOST` by score.
    """

    devices: NDArray[np.float32]
    context: NDArray[np.float32]
    scores: Floats
    gpus: Ints
    nodes: Ints


class Asked(NamedTuple):
    """What one worker asks for: devices, milli-GPU on each, s."""

    num_gpus: int
    milli: int
    duration: float


def observe(
    weights: Floats,
    view: View,
    capacity: Capacity,
    pending: PendingQueue,
    job: Job,
    now: float,
) -> Observation:
    """Return what there is to see before a worker of the job is placed."""
    state, request = view.state(job.request), job.request
    asked = Asked(request.num_gpus, request.gpu_milli, estimate(job))
    number, width = capacity.free.shape
    scores, gpus = np.empty(number), np.zeros(number, np.int64)
    score_all(weights, state, view.tables, asked, now, scores, gpus)
    nodes = np.arange(number)
    if number > MOST:
        nodes = np.sort(scores.argpartition(MOST)[:MOST])
    devices = np.zeros((len(nodes), width, SEVEN), np.float32)
    look(state, view.tables, asked, now, nodes, scores, gpus, devices)
    around = context(capacity, pending, job)
    return Observation(devices, around, scores[nodes], gpus[nodes], nodes)


@compiled
def score_all(
    weights: Floats,
    state: State,
    tables: Tables,
    asked: Asked,
    now: float,
    scores: Floats,
    gpus: Ints,
) -> None:
    """Fill in the score of each node, and the device that a share would get there.

    As `rank` scores them; one function for both makes every replay five times slower.
    """
    free, whole, total, gpu_end, node_end, closed, size, profile = state
    partly, wholly = tables
    num_gpus, milli, duration = asked
    for node in range(len(scores)):
        row, idle = profile[node], whole[node]
        score, gpus[node] = BIG, 0
        if closed[node] or total[node] < num_gpus * milli:
            pass
        elif 0 < milli < WHOLE_GPU:
            score, gpus[node] = share_score(
                weights, free, gpu_end, partly, wholly, node, row, idle, milli,
                duration, now,
            )  # fmt: skip
        elif idle >= num_gpus:
            score = devices_score(
                weights, wholly, row, idle, size[node], num_gpus, duration
            )
        if score < BIG:
            score += node_score(
                weights, node_end[node], total[node], idle, size[node], duration, now
            )
        scores[node] = score


@compiled
def look(
    state: State,
    tables: Tables,
    asked: Asked,
    now: float,
    nodes: Ints,
    scores: Floats,
    gpus: Ints,
    devices: NDArray[np.float32],
) -> None:
    """Fill in the devices of these nodes, (seen, gpus, 7); scores are of all nodes."""
    free, whole, _, gpu_end, node_end, _, size, profile = state
    num_gpus, milli, duration = asked
    for place, node in enumerate(nodes):
        fits, left, growth = scores[node] < BIG, num_gpus, 0.0
        later = now + duration - max(node_end[node], now)
        if fits:
            growth = grown(
                free, tables.partly, tables.wholly, node, profile[node], whole[node],
                gpus[node], num_gpus, milli,
            )  # fmt: skip
        for gpu in range(size[node]):
            seen, until = devices[place, gpu], max(gpu_end[node, gpu], now)
            seen[0] = free[node, gpu] / WHOLE_GPU
            seen[1] = (until - now) / (until - now + HALF)
            seen[2] = max(0.0, now + duration - until) / duration
            if not fits:
                continue
            if 0 < milli < WHOLE_GPU:
                seen[3] = milli / WHOLE_GPU * (gpu == gpus[node])
            elif left and free[node, gpu] == WHOLE_GPU:
                seen[3] = 1.0
                left -= 1
            seen[4] = growth / 8
            seen[5] = max(0.0, later) / duration
            seen[6] = max(0.0, -later) / (max(0.0, -later) + HALF)


@inlined
def grown(
    free: Ints,
    partly: Floats,
    wholly: Floats,
    node: int,
    profile: int,
    whole: int,
    gpu: int,
    num_gpus: int,
    milli: int,
) -> float:
    """Return by how much expected fragmentation grows on the node, GPUs."""
    before = free[node, gpu]
    growth: float = -wholly[profile, whole]
    if not 0 < milli < WHOLE_GPU:
        growth += wholly[profile, whole - num_gpus]
    elif before < WHOLE_GPU:
        growth = partly[profile, before - milli] - partly[profile, before]
    else:
        growth += wholly[profile, whole - 1] + partly[profile, before - milli]
    return growth


def context(capacity: Capacity, pending: PendingQueue, job: Job) -> NDArray[np.float32]:
    """Return what there is to know of the job and the queue, (9,)."""
    total = max(1, WHOLE_GPU * int(capacity.num_gpus.sum()))
    asked, waiting = pending.milli / total, len(pending)
    duration = estimate(job)
    ahead = _before_large(pending)
    return np.array(
        [
            job.num_gpus * job.gpu_milli / WHOLE_GPU / 8,
            job.request.is_share,
            duration / (duration + HALF),
            waiting / (waiting + 100),
            asked / (asked + 1),
            capacity.free_open / total,
            1 - capacity.busy_gpus * WHOLE_GPU / total,
            ahead is not None,
            0.0 if ahead is None else 1 / (1 + ahead),
        ],
        np.float32,
    )


def _before_large(pending: Iterable[Job]) -> int | None:
    """Return how many jobs stand before the first of 2 GPUs or more behind the head."""
    for place, job in enumerate(islice(pending, 1, SEEN)):
        if job.num_gpus > 1:
            return place
    return None
