"""The order in which the moves of a plan fit, one step after the other."""

from hypothesis import given, settings
from hypothesis import strategies as st

from model.capacity import Capacity
from model.job import Job, Placement, Request
from model.node import Node
from schedulers.decision import PlannedMove
from schedulers.planners.staging import staged


def move(name, source, destination, gpus=1):
    job = Job(name, 0, 9, num_gpus=gpus)
    return PlannedMove(job, (source,), (destination,), "")


def test_chains_are_ordered_and_swaps_share_a_step():
    """c goes 2 -> 3, then b 1 -> 2, then a 0 -> 1; x and y trade places."""
    capacity = Capacity([Node(f"n{i}", 1) for i in range(6)])
    moves = [move(name, Placement(n, (0,)), Placement(n + 1, (0,)))
             for n, name in enumerate("abc")]  # fmt: skip
    moves += [move("x", Placement(4, (0,)), Placement(5, (0,)))]
    moves += [move("y", Placement(5, (0,)), Placement(4, (0,)))]
    for planned in moves:
        capacity.shift(planned.job.request, planned.source[0], 1)
    stages = staged(capacity, moves)

    assert [[m.job.job_id for m in stage] for stage in stages] == [
        ["c"], ["b"], ["a"], ["x", "y"],
    ]  # fmt: skip
    assert capacity.free_total.tolist() == [0, 0, 0, 1000, 0, 0]


@settings(max_examples=200)
@given(before=st.permutations(range(8)), after=st.permutations(range(8)))
def test_every_step_of_any_rearrangement_fits(before, after):
    """Six jobs on eight devices of two nodes, to six others."""
    capacity = Capacity([Node("a", 4), Node("b", 4)])

    def place(device):
        return Placement(device // 4, (device % 4,))

    moves = [
        move(f"{i}", place(before[i]), place(after[i]))
        for i in range(6)
        if before[i] != after[i]
    ]
    for i in range(6):
        capacity.shift(Request(1, 1000), place(before[i]), 1)
    stages = staged(capacity, moves)

    for stage in stages:
        for planned in stage:
            capacity.shift(planned.job.request, planned.source[0], -1)
        for planned in stage:
            capacity.shift(planned.job.request, planned.destination[0], 1)
            assert min(map(min, capacity.rows)) >= 0
    assert sum(map(len, stages)) == len(moves)
    taken = {(n, g) for n in (0, 1) for g in range(4) if capacity.rows[n][g] == 0}
    assert taken == {(d // 4, d % 4) for d in after[:6]}


def test_jobs_that_cpu_keeps_apart_trade_places_in_one_step():
    capacity = Capacity([Node("a", 2, 10, 0), Node("b", 2, 10, 0)], ("gpu", "cpu"))
    moves = []
    for name, source, destination in (("x", 0, 1), ("y", 1, 0)):
        job = Job(name, 0, 9, cpu_milli=10)
        capacity.shift(job.request, Placement(source, (0,)), 1)
        places = (Placement(source, (0,)),), (Placement(destination, (1,)),)
        moves.append(PlannedMove(job, *places, ""))

    assert [len(stage) for stage in staged(capacity, moves)] == [2]
