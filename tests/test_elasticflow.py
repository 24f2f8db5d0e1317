"""ElasticFlow, rigid: promises, what keeps them, and where jobs go."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from model.capacity import Capacity
from model.config import Settings
from model.fragmentation import Fragmentation
from model.held import HeldJobs
from model.job import Job, Placement, Request
from model.node import Node
from model.target import Target
from processes.simulation import Simulation, simulate
from schedulers.base import World
from schedulers.elasticflow import ElasticFlow
from schedulers.profile import Profile


def make(nodes):
    capacity = Capacity(nodes)
    fragmentation = Fragmentation(capacity, Target((Request(1, 1000),), (1,)))
    world = World(capacity, fragmentation, HeldJobs(), np.random.default_rng(0))
    return ElasticFlow(world)


def run(jobs, gpus=1, **asked):
    result = simulate(
        Settings(scheduler="ElasticFlow", **asked), jobs, [Node("n", gpus)]
    )
    return {record.job.job_id: record for record in result.records}, result.measures


def test_earliest_deadline_first_and_late_ones_wait_as_best_effort():
    """One GPU until 10. `a` is due at 40, `b` at 25, both of 10 s: b runs 10-20, a
    20-30. `c`, 10 s due at 29, would push a to 30-40: still in time, so b, c, a.
    `d`, 10 s due at 35, would push a beyond 40: best effort, last."""
    jobs = [
        Job("now", 0, 10, deadline=10),
        Job("a", 1, 10, deadline=40),
        Job("b", 2, 10, deadline=25),
        Job("c", 3, 10, deadline=30),
        Job("d", 4, 10, deadline=35),
    ]
    records, measures = run(jobs)

    starts = {name: record.start_time for name, record in records.items()}
    assert starts == {"now": 0, "b": 10, "c": 20, "a": 30, "d": 40}
    assert measures["admitted_ratio"] == 0.8
    assert measures["admitted_late"] == 0


def test_best_effort_fills_gaps_that_leave_reservations_intact():
    """Two GPUs, one busy until 10. `two` needs both: reserved 10-20. A job of 10 s
    without deadline fits before it, one of 11 s would not; it waits, and nobody of
    best effort overtakes it."""
    jobs = [
        Job("now", 0, 10, deadline=10),
        Job("two", 0, 10, num_gpus=2, deadline=20),
        Job("fits", 0, 10),
        Job("long", 0, 11),
        Job("behind", 0, 1),
    ]
    starts = {name: record.start_time for name, record in run(jobs, 2)[0].items()}

    assert starts == {"now": 0, "fits": 0, "two": 10, "long": 20, "behind": 20}


def test_an_early_end_is_used_at_once():
    """The first job is expected to take 50 s, takes 10: the next starts at 10."""
    jobs = [
        Job("now", 0, 10, deadline=90, estimated_duration=50),
        Job("next", 0, 10, deadline=90),
    ]
    assert run(jobs)[0]["next"].start_time == 10


def test_a_job_that_outlives_its_estimate_delays_but_loses_nobody():
    jobs = [
        Job("now", 0, 50, deadline=90, estimated_duration=10),
        Job("next", 1, 10, deadline=25),
    ]
    records, measures = run(jobs)

    assert records["next"].start_time == 50
    assert measures["admitted_late"] == 1


one_gpu_jobs = st.lists(
    st.tuples(
        st.integers(0, 40),
        st.integers(1, 20),
        st.sampled_from([1.0, 1.2, 2.0, 3.0, 10.0]),
    ),
    max_size=30,
)


@settings(max_examples=200)
@given(drawn=one_gpu_jobs, gpus=st.integers(1, 4))
def test_admitted_jobs_are_guaranteed_where_nothing_fragments(drawn, gpus):
    """Jobs of one whole GPU, exact durations: any free device will do."""
    jobs = [
        Job(f"{i}", float(at), float(seconds), deadline=at + slack * seconds)
        for i, (at, seconds, slack) in enumerate(drawn)
    ]
    sim = Simulation(
        Settings(scheduler="ElasticFlow"), jobs, [Node(f"n{i}", 1) for i in range(gpus)]
    )
    promised = set()
    admit = sim.scheduler._admit

    def noted(job, deadline, now):
        accepted = admit(job, deadline, now)
        if accepted:
            promised.add(job.job_id)
        return accepted

    sim.scheduler._admit = noted
    records = sim.run().records

    assert sim.scheduler.measures()["admitted_late"] == 0
    assert len(records) == len(jobs)
    for record in records:
        if record.job.job_id in promised:
            assert record.end_time <= record.job.deadline


steps = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 9), st.integers(1, 4)), max_size=12
)


@given(taken=steps, demand=st.integers(1, 8), seconds=st.integers(1, 9))
def test_profile_equals_a_table_of_seconds(taken, demand, seconds):
    profile, table = Profile(0.0, 8), np.full(100, 8)
    for start, length, amount in taken:
        if profile.holds(amount, start, start + length):
            assert (table[start : start + length] >= amount).all()
            profile.reserve(start, start + length, amount)
            table[start : start + length] -= amount
    fits = [
        second
        for second in range(80)
        if (table[second : second + seconds] >= demand).all()
    ]
    assert profile.earliest(demand, seconds, 0.0) == fits[0]
    assert [profile.at(second) for second in range(40)] == table[:40].tolist()
    assert all(
        a != b for a, b in zip(profile.free, profile.free[1:], strict=False)
    )  # no false steps


@pytest.mark.parametrize(
    ("used", "asks", "node"),
    [
        ({0: 2, 1: 5}, {"num_gpus": 1}, 1),  # 6 and 3 idle: blocks of 2 and 1
        ({0: 2, 1: 4}, {"num_gpus": 3}, 1),  # 6 and 4 idle: rounded up to 4
        ({0: 2, 1: 5}, {"num_gpus": 4}, 0),  # no block of 4, but 6 devices
        ({0: 4, 1: 4}, {"num_gpus": 2}, 0),
    ],
)
def test_buddy_takes_the_smallest_block(used, asks, node):
    scheduler = make([Node("a", 8), Node("b", 8)])
    for place, gpus in used.items():
        for gpu in range(gpus):
            scheduler.capacity.shift(Request(1, 1000), Placement(place, (gpu,)), 1)

    assert scheduler.place(Job("j", 0, 1, **asks), 0.0)[0].node == node


def test_buddy_puts_a_share_into_the_least_rest_that_holds_it():
    scheduler = make([Node("a", 2), Node("b", 2)])
    scheduler.capacity.shift(Request(1, 300), Placement(0, (0,)), 1)
    scheduler.capacity.shift(Request(1, 600), Placement(1, (1,)), 1)

    assert scheduler.place(Job("j", 0, 1, gpu_milli=400), 0.0) == ((1, (1,)),)
    assert scheduler.place(Job("j", 0, 1, gpu_milli=500), 0.0) == ((0, (0,)),)
