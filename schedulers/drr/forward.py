"""The queue as it would go on from here, by the linear scorer: strict fifo, compiled.

Running jobs end when they should, waiting jobs start one after the other as soon as
the head has a node, later ones arrive. Nothing is moved. That is the whole simulation
in some hundred lines, a thousand times as fast; a test holds it against the SimPy one.
It serves to look ahead over the jobs that wait now, and to tune the scorer's weights.
"""

from typing import NamedTuple

import numpy as np

from model.capacity import Ints
from schedulers.drr.compiled import compiled
from schedulers.drr.kernel import BIG, Choice, choice, rank
from schedulers.drr.state import (
    Floats,
    State,
    Tables,
    copied,
    give_back,
    overwrite,
    take,
)


class Running(NamedTuple):
    """The running jobs, first to end first; (jobs,) each: s, node, devices, milli."""

    ends: Floats
    nodes: Ints
    taken: Ints
    milli: Ints


class Line(NamedTuple):
    """Jobs in the order in which they start; (jobs,) each: s, s, devices, milli."""

    submit: Floats
    estimate: Floats
    num_gpus: Ints
    milli: Ints


class Scratch(NamedTuple):
    """Room for one replay: its state, the jobs started, and where each went.

    Attributes
    ----------
    ends, started : (jobs,) a heap of those that run, first to end first.
    nodes, taken, starts : (jobs,) of each job of the line: node, devices as bits, s.
    """

    state: State
    ends: Floats
    started: Ints
    nodes: Ints
    taken: Ints
    starts: Floats
    one: Choice


def scratch(state: State, jobs: int) -> Scratch:
    """Return room for replays of so many jobs from such a state."""
    started, nodes, taken = np.empty((3, jobs), np.int64)
    ends, starts = np.empty((2, jobs))
    return Scratch(copied(state), ends, started, nodes, taken, starts, choice(1))


@compiled
def forward(
    weights: Floats,
    state: State,
    tables: Tables,
    running: Running,
    line: Line,
    waiting: int,
    now: float,
    first: tuple[int, int],
    behind: float,
    limit: float,
    room: Scratch,
) -> float:
    """Start all jobs of a line; return how long they wait together from *now* on, s.

    Parameters
    ----------
    waiting : how many of the line wait already; the others come at their `submit`.
    first : node and device of the first job, started now; (-1, 0) lets the scorer say.
    behind : jobs behind the line; each waits at least until its last one starts.
    limit : s; stop as soon as the sum must exceed this, and return something above.
    room : is overwritten; its `starts` get the start times.
    """
    changing, ends, started, nodes, taken, starts, one = room
    overwrite(changing, state)
    jobs, among = len(line.submit), (0, len(state.whole))
    job, size, ended, here, time, waits = 0, 0, 0, waiting, now, 0.0
    while True:
        while job < here:
            milli, num_gpus = line.milli[job], line.num_gpus[job]
            duration = line.estimate[job]
            if job == 0 and first[0] >= 0:
                one.nodes[0], one.gpus[0] = first
            elif not rank(
                weights, changing, tables, num_gpus, milli, duration, time, among, one
            ):
                break
            among = (0, len(state.whole))
            nodes[job], end = one.nodes[0], time + duration
            taken[job] = take(changing, nodes[job], one.gpus[0], num_gpus, milli, end)
            _push(ends, started, size, end, job)
            size += 1
            starts[job] = time
            waits += time - max(now, line.submit[job])
            job += 1
        still = (time - now) * (here - job + behind)
        if job == jobs or waits + still > limit:
            return waits + still
        before = running.ends[ended] if ended < len(running.ends) else BIG
        time = min(before, ends[0] if size else BIG)
        if here < jobs:
            time = min(time, line.submit[here])
        if time == BIG:  # the next job can never start
            return BIG
        among = (len(state.whole), 0) if job < here else (0, len(state.whole))
        ended, among = _end(changing, running, ended, time, among)
        while size and ends[0] <= time:
            last = started[0]
            size = _pop(ends, started, size)
            give_back(changing, nodes[last], taken[last], line.milli[last])
            among = (min(among[0], nodes[last]), max(among[1], nodes[last] + 1))
        while here < jobs and line.submit[here] <= time:
            here += 1


@compiled
def _end(
    state: State, running: Running, ended: int, time: float, among: tuple[int, int]
) -> tuple[int, tuple[int, int]]:
    """Let running jobs end that do by now.

    Returns
    -------
    How many have ended in all, and among which nodes there is room that is new.
    """
    while ended < len(running.ends) and running.ends[ended] <= time:
        node, milli = running.nodes[ended], running.milli[ended]
        give_back(state, node, running.taken[ended], milli)
        among = (min(among[0], node), max(among[1], node + 1))
        ended += 1
    return ended, among


@compiled
def look_ahead(
    weights: Floats,
    state: State,
    tables: Tables,
    running: Running,
    line: Line,
    now: float,
    behind: float,
    ways: Choice,
    margin: float,
    exact: bool,
    waits: Floats,
    room: Scratch,
) -> int:
    """Return which way to place the line's first job makes the line wait least.

    Parameters
    ----------
    ways : nodes and devices, and as scores what speaks against each, in seconds of
        waiting; ties go to the first.
    margin : factor by which each way must be better than the first.
    exact : run all to the end; else those that are worse stop early, as inf.
    waits : (ways,) s, gets what each leads to.
    room : is overwritten.
    """
    best, limit = 0, BIG
    for way in range(len(waits)):
        first = (ways.nodes[way], ways.gpus[way])
        handicap = margin if way else 1.0
        enough = BIG if exact else limit / handicap - ways.scores[way]
        waits[way] = forward(
            weights,
            state,
            tables,
            running,
            line,
            len(line.submit),
            now,
            first,
            behind,
            enough,
            room,
        )
        price = (waits[way] + ways.scores[way]) * handicap
        if price < limit - 1e-6:
            best, limit = way, price
        elif not exact:
            waits[way] = np.inf
    return best


@compiled
def _push(keys: Floats, values: Ints, size: int, key: float, value: int) -> None:
    place = size
    while place > 0:
        parent = (place - 1) >> 1
        if keys[parent] <= key:
            break
        keys[place], values[place] = keys[parent], values[parent]
        place = parent
    keys[place], values[place] = key, value


@compiled
def _pop(keys: Floats, values: Ints, size: int) -> int:
    """Take the least out of the heap; return its new size."""
    size -= 1
    key, value, place = keys[size], values[size], 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and keys[child + 1] < keys[child]:
            child += 1
        if keys[child] >= key:
            break
        keys[place], values[place] = keys[child], values[child]
        place = child
    keys[place], values[place] = key, value
    return size
