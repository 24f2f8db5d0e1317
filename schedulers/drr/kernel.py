"""Where one worker could go and how good that is: a linear scorer, compiled by Numba.

Every node that has room gets a score, the least is best: weights x features, on the
device of the node that is best by them. The features are those of the public
prototype: what the placement does to expected fragmentation, by how much the job
outlives the others on the node and on the device, or they the job, and what is left.
The same function decides in the simulation and in every look ahead, so that the two
agree to the last bit.

Growth is that of the GPUs alone: where CPU or memory is counted, the node is rated as
if the job took none of them.
"""

from typing import Any, NamedTuple

import numpy as np

from model.capacity import Ints
from model.job import WHOLE_GPU
from schedulers.drr.compiled import compiled, inlined
from schedulers.drr.state import Floats, State, Tables

FEATURES = (
    "growth",  # of F for all kinds of job, GPUs
    "node_outlives",  # by how much the job outlives the node's others, own durations
    "node_later",  # the same in s, saturating
    "node_earlier",  # by how much the others outlive the job, s, saturating
    "node_free",  # share of the node that is free
    "node_idle",  # 1 if nothing runs there
    "gpu_outlives",  # as above, on the device
    "gpu_earlier",
    "gpu_left",  # share of the device that stays free
    "gpu_idle",  # 1 if a share breaks a fully free device
    "gpu_later",
    "whole_left",  # share of the node's devices that stay fully free
    "node_slack",  # node_earlier in own durations, saturating
    "gpu_slack",
)
HALF = 1800.0  # s at which a saturating time counts one half
BIG = 1e300


class Choice(NamedTuple):
    """Room for the best ways to place one worker, best first.

    All are (most,): the nodes, the device of each for a share, and the scores.
    """

    nodes: Ints
    gpus: Ints
    scores: Floats


def choice(most: int) -> Choice:
    """Return room for so many ways."""
    return Choice(
        np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most, np.float64)
    )


@compiled
def rank(
    weights: Floats,
    state: State,
    tables: Tables,
    num_gpus: int,
    milli: int,
    duration: float,
    now: float,
    among: tuple[int, int],
    best: Choice,
) -> int:
    """Find the best nodes for one worker; return how many were found.

    Ties go to the lowest node, then to the lowest device.

    Parameters
    ----------
    num_gpus, milli, duration : what the worker asks for, milli-GPU per device and s.
    among : only these nodes are asked, from the first until before the second.
    best : gets as many ways as it has room for.
    """
    free, whole, total, gpu_end, node_end, closed, size, profile = state
    partly, wholly = tables
    nodes, gpus, scores = best
    found = 0
    for node in range(max(0, among[0]), among[1]):
        if closed[node] or total[node] < num_gpus * milli:
            continue
        row, idle = profile[node], whole[node]
        if 0 < milli < WHOLE_GPU:
            score, gpu = share_score(
                weights, free, gpu_end, partly, wholly, node, row, idle, milli,
                duration, now,
            )  # fmt: skip
            if score == BIG:
                continue
        elif idle < num_gpus:
            continue
        else:
            gpu = 0
            score = devices_score(
                weights, wholly, row, idle, size[node], num_gpus, duration
            )
        score += node_score(
            weights, node_end[node], total[node], idle, size[node], duration, now
        )
        found = _enter(nodes, gpus, scores, found, node, gpu, score)
    return found


@inlined
def _enter(
    nodes: Ints, gpus: Ints, scores: Floats, found: int, node: int, gpu: int, score: Any
) -> int:
    """Enter a place among the best, if it is one; return how many there are now."""
    place = found
    if found == len(nodes):
        place -= 1
        if score >= scores[place]:
            return found
    number = place + 1
    while place > 0 and scores[place - 1] > score:
        scores[place] = scores[place - 1]
        nodes[place], gpus[place] = nodes[place - 1], gpus[place - 1]
        place -= 1
    scores[place], nodes[place], gpus[place] = score, node, gpu
    return number


@inlined
def _span_score(
    later: float,
    duration: float,
    outlives: float,
    longer: float,
    slack: float,
    earlier: float,
) -> float:
    """Return the score of ending so much later than the others, s; or earlier, if < 0.

    Two weights count for each case, in own durations and in s. Written without a
    branch, which processors would guess wrong half of the time.
    """
    after, apart = later >= 0.0, abs(later)
    relative = outlives if after else slack
    absolute = longer if after else earlier
    whole = duration if after else apart + duration
    return relative * apart / whole + absolute * apart / (apart + HALF)


@inlined
def node_score(
    w: Floats,
    node_end: float,
    total: int,
    whole: int,
    size: int,
    duration: float,
    now: float,
) -> float:
    """Return what the node adds to the score, whichever device is used."""
    later = now + duration - max(node_end, now)
    score: float = _span_score(later, duration, w[1], w[2], w[12], w[3])
    score += w[4] * total / (WHOLE_GPU * max(1, size))
    if whole == size:
        score += w[5]
    return score


@inlined
def share_score(
    w: Floats,
    free: Ints,
    gpu_end: Floats,
    partly: Floats,
    wholly: Floats,
    node: int,
    profile: int,
    whole: int,
    milli: int,
    duration: float,
    now: float,
) -> tuple[float, int]:
    """Return the score of the best device for a share, and the device."""
    best, chosen, end, idle = BIG, 0, now + duration, 0
    for gpu in range(free.shape[1]):
        left = free[node, gpu] - milli
        if left < 0:
            continue
        if left + milli == WHOLE_GPU:  # idle devices of a node are alike
            idle += 1
            if idle > 1:
                continue
        later = end - max(gpu_end[node, gpu], now)
        score: float = _span_score(later, duration, w[6], w[10], w[13], w[7])
        score += w[8] * left / WHOLE_GPU
        growth = partly[profile, left]
        if left + milli == WHOLE_GPU:
            growth += wholly[profile, whole - 1] - wholly[profile, whole]
            score += w[9]
        else:
            growth -= partly[profile, left + milli]
        score += w[0] * growth
        if score < best:
            best, chosen = score, gpu
    return best, chosen


@inlined
def devices_score(
    w: Floats,
    wholly: Floats,
    profile: int,
    whole: int,
    size: int,
    num_gpus: int,
    duration: float,
) -> float:
    """Return the score of taking fully free devices, or none at all."""
    growth = wholly[profile, whole - num_gpus] - wholly[profile, whole]
    score: float = w[0] * growth + w[11] * (whole - num_gpus) / max(1, size)
    score += w[6] + w[10] * duration / (duration + HALF)
    return score


def weights_of(named: dict[str, Any]) -> Floats:
    """Return the weights in the order of `FEATURES`; those not named are 0."""
    return np.array([float(named.get(name, 0.0)) for name in FEATURES])
