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
from schedulers.drr.heap import pop, push
from schedulers.drr.kernel import BIG, Choice, choice, rank
from schedulers.drr.state import (
    Floats,
    State,
    Tables,
    copied,
    give_back,
    hold,
    overwrite,
    slots,
    take,
)


class Running(NamedTuple):
    """The running jobs, first to end first; (jobs,) each: s, node, devices, milli."""

    ends: Floats
    nodes: Ints
    taken: Ints
    milli: Ints


class Line(NamedTuple):
    """Jobs in the order in which they start; (jobs,) each.

    s, s, then devices and milli-GPU of each worker, and workers.
    """

    submit: Floats
    estimate: Floats
    num_gpus: Ints
    milli: Ints
    workers: Ints


class Scratch(NamedTuple):
    """Room for one replay: its state, the jobs started, and where each went.

    Attributes
    ----------
    ends, started : (jobs,) a heap of those that run, first to end first.
    starts, begins : (jobs,) of each job of the line: s, and its first worker's place in
    nodes, taken : (workers of all jobs,) node, and devices as bits.
    """

    state: State
    ends: Floats
    started: Ints
    starts: Floats
    begins: Ints
    nodes: Ints
    taken: Ints
    one: Choice


def scratch(state: State, line: Line) -> Scratch:
    """Return room for replays of a line from such a state."""
    ends, starts = np.empty((2, len(line.submit)))
    started, begins = np.empty((2, len(line.submit)), np.int64)
    begins[:] = line.workers.cumsum() - line.workers
    nodes, taken = np.empty((2, int(line.workers.sum())), np.int64)
    return Scratch(
        copied(state), ends, started, starts, begins, nodes, taken, choice(1)
    )


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
    overwrite(room.state, state)
    ends, started = room.ends, room.started
    jobs, among = len(line.submit), (0, len(state.whole))
    job, size, ended, here, time, waits = 0, 0, 0, waiting, now, 0.0
    while True:
        while job < here:
            given = first if job == 0 else (-1, 0)
            if not _place(weights, tables, line, job, time, given, among, room):
                break
            among = (0, len(state.whole))
            push(ends, started, size, time + line.estimate[job], job)
            size += 1
            room.starts[job] = time
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
        ended, among = _end(room.state, running, ended, time, among)
        while size and ends[0] <= time:
            among = _leave(line, started[0], among, room)
            size = pop(ends, started, size)
        while here < jobs and line.submit[here] <= time:
            here += 1


@compiled
def _place(
    weights: Floats,
    tables: Tables,
    line: Line,
    job: int,
    time: float,
    first: tuple[int, int],
    among: tuple[int, int],
    room: Scratch,
) -> bool:
    """Start all workers of a job, or none, each seeing what those before it took.

    As in the simulation, they do not see until when; a gang asks all nodes.
    """
    state, one, duration = room.state, room.one, line.estimate[job]
    milli, num_gpus, workers = line.milli[job], line.num_gpus[job], line.workers[job]
    begin = room.begins[job]
    if workers > 1:
        among = (0, len(state.whole))
        if slots(state, num_gpus, milli) < workers:
            return False
    for place in range(begin, begin + workers):
        if place == begin and first[0] >= 0:
            one.nodes[0], one.gpus[0] = first
        elif not rank(
            weights, state, tables, num_gpus, milli, duration, time, among, one
        ):
            return False
        room.nodes[place] = one.nodes[0]
        room.taken[place] = take(state, one.nodes[0], one.gpus[0], num_gpus, milli)
    for place in range(begin, begin + workers):
        hold(state, room.nodes[place], room.taken[place], time + duration)
    return True


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
def _leave(
    line: Line, job: int, among: tuple[int, int], room: Scratch
) -> tuple[int, int]:
    """Let a job of the line end; return among which nodes there is room that is new."""
    begin = room.begins[job]
    for place in range(begin, begin + line.workers[job]):
        node = room.nodes[place]
        give_back(room.state, node, room.taken[place], line.milli[job])
        among = (min(among[0], node), max(among[1], node + 1))
    return among


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
