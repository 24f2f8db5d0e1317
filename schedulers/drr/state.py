"""What is free and until when the rest is held, as the compiled functions take it."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.capacity import Bools, Ints
from model.job import WHOLE_GPU
from schedulers.drr.compiled import compiled

Floats = NDArray[np.float64]
MANY = 2**31  # workers that ask for no device fit anywhere


class State(NamedTuple):
    """What is free and until when the rest is held, by node and device.

    Attributes
    ----------
    free : (nodes, gpus) int64 milli-GPU.
    whole, total : (nodes,) int64; fully free devices, and free milli-GPU.
    gpu_end, node_end : (nodes, gpus) and (nodes,) float64, s; when the last job there
        should end; past if there is none.
    closed : (nodes,) bool; nodes that take no job.
    num_gpus, profile : (nodes,) int64; devices, and row of the tables.
    """

    free: Ints
    whole: Ints
    total: Ints
    gpu_end: Floats
    node_end: Floats
    closed: Bools
    num_gpus: Ints
    profile: Ints


class Tables(NamedTuple):
    """Expected fragmentation of a node, as `model.fragmentation` has it, in GPUs.

    `partly` is (profiles, 1001) by free milli-GPU, `wholly` (profiles, gpus + 1).
    """

    partly: Floats
    wholly: Floats


@compiled
def take(state: State, node: int, gpu: int, num_gpus: int, milli: int) -> int:
    """Take a share of one device, or fully free ones; return them as bits."""
    taken = 0
    if 0 < milli < WHOLE_GPU:
        if state.free[node, gpu] == WHOLE_GPU:
            state.whole[node] -= 1
        state.free[node, gpu] -= milli
        taken = 1 << gpu
    else:
        state.whole[node] -= num_gpus
        left = num_gpus
        for device in range(state.free.shape[1]):
            if left and state.free[node, device] == WHOLE_GPU:
                state.free[node, device] = 0
                taken |= 1 << device
                left -= 1
    state.total[node] -= num_gpus * milli
    return taken


@compiled
def hold(state: State, node: int, taken: int, end: float) -> None:
    """Note until when the devices that were taken are held."""
    state.node_end[node] = max(state.node_end[node], end)
    for device in range(state.free.shape[1]):
        if taken >> device & 1:
            state.gpu_end[node, device] = max(state.gpu_end[node, device], end)


@compiled
def slots(state: State, num_gpus: int, milli: int) -> int:
    """Return how many workers of a kind there is room for."""
    found = 0
    for node in range(len(state.whole)):
        if state.closed[node]:
            continue
        if num_gpus == 0:
            found += MANY
        elif milli == WHOLE_GPU:
            found += state.whole[node] // num_gpus
        else:
            for device in range(state.free.shape[1]):
                found += state.free[node, device] // milli
    return found


@compiled
def give_back(state: State, node: int, taken: int, milli: int) -> None:
    """Give devices back when a job ends at its expected end.

    The ends need no change: either someone ends later, or all there have ended.
    """
    for device in range(state.free.shape[1]):
        if taken >> device & 1:
            state.free[node, device] += milli
            state.total[node] += milli
            if state.free[node, device] == WHOLE_GPU:
                state.whole[node] += 1


@compiled
def overwrite(there: State, state: State) -> None:
    """Make all that changes there equal to a state's, node by node."""
    for node in range(len(state.whole)):
        there.whole[node] = state.whole[node]
        there.total[node] = state.total[node]
        there.node_end[node] = state.node_end[node]
        for gpu in range(state.free.shape[1]):
            there.free[node, gpu] = state.free[node, gpu]
            there.gpu_end[node, gpu] = state.gpu_end[node, gpu]


def copied(state: State) -> State:
    """Return a copy of all that changes."""
    return State(
        state.free.copy(),
        state.whole.copy(),
        state.total.copy(),
        state.gpu_end.copy(),
        state.node_end.copy(),
        state.closed,
        state.num_gpus,
        state.profile,
    )
