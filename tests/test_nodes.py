"""Nodes join, drain, leave and return while jobs come and go."""

import pytest

from model.job import Job
from model.node import NodeChange


def test_a_drained_node_lets_its_job_end_but_takes_no_other(run):
    jobs = [Job("a", 0, 10), Job("b", 5, 5)]
    changes = [NodeChange(2, 0, "drain"), NodeChange(30, 0, "return")]
    done = run(jobs, (1,), changes=changes)

    assert done["a"].end_time == 10
    assert done["b"].start_time == 30


def test_a_node_that_joins_later_is_not_there_before(run):
    done = run([Job("a", 0, 5)], (1,), changes=[NodeChange(8, 0, "join")])

    assert done["a"].start_time == 8


def test_a_job_on_a_leaving_node_keeps_its_work_and_pays_for_the_restart(run):
    """4 s done, 6 s left, 3 s to restart: it ends at 4 + 3 + 6 on the other node."""
    changes = [NodeChange(4, 0, "leave")]
    done = run([Job("a", 0, 10)], (1, 1), changes=changes, migration_cost="3")

    assert done["a"].end_time == 13
    assert (done["a"].placements[0].node, done["a"].moves) == (1, 1)
    assert (done["a"].start_time, done["a"].pending_seconds) == (0, 0)


def test_an_evicted_job_goes_before_younger_ones(run):
    jobs = [Job("old", 0, 10), Job("stays", 0, 20), Job("young", 1, 5)]
    changes = [NodeChange(4, 0, "leave")]
    done = run(jobs, (1, 1), changes=changes, migration_cost="0")

    assert done["old"].end_time == 26  # waits from 4 for node 1, free at 20
    assert done["old"].pending_seconds == 16
    assert done["young"].start_time == 26


def test_a_gang_is_evicted_whole(run):
    gang = Job("g", 0, 10, num_workers=2)
    changes = [NodeChange(4, 0, "leave"), NodeChange(9, 0, "return")]
    done = run([gang], (1, 1), changes=changes, migration_cost="2")

    assert done["g"].end_time == 9 + 2 + 6
    assert done["g"].moves == 1


def test_work_that_completes_in_the_instant_a_node_leaves_is_done(run):
    done = run([Job("a", 0, 10)], (1, 1), changes=[NodeChange(10, 0, "leave")])

    assert (done["a"].end_time, done["a"].moves) == (10, 0)


def test_jobs_that_no_node_is_left_for_end_the_run_and_are_named(run):
    changes = [NodeChange(4, 0, "leave")]
    done = run([Job("a", 0, 10), Job("b", 6, 1)], (1,), changes=changes)

    assert {record.status for record in done.values()} == {"unfinished"}
    assert done["b"].reason == "no node left that could host it"


def test_a_head_that_can_never_start_does_not_drag_others_down(run):
    """fifo: `big` needs a node that has left for good; those behind it still run."""
    jobs = [Job("big", 2, 5, num_gpus=2), *[Job(f"s{i}", 2, 5) for i in range(3)]]
    done = run(jobs, (2, 1), changes=[NodeChange(1, 0, "leave")])

    assert done["big"].status == "unfinished"
    assert [done[f"s{i}"].start_time for i in range(3)] == [2, 7, 12]


def test_what_closed_nodes_have_free_is_no_capacity(simulation):
    changes = [NodeChange(2, 0, "drain"), NodeChange(6, 0, "return")]
    jobs = [Job("a", 0, 4, gpu_milli=400), Job("b", 9, 1)]
    samples = simulation(jobs, (1, 1), changes=changes).run().samples.set_index("time")

    assert samples.loc[0, "capacity"] == 2000
    assert samples.loc[2, "capacity"] == 1400  # node 1, and what the job still holds
    assert samples.loc[4, "capacity"] == 1000
    assert samples.loc[6, "capacity"] == 2000


def test_evictions_are_listed_as_moves(simulation):
    changes = [NodeChange(4, 0, "leave")]
    jobs = [Job("a", 0, 10, num_gpus=2)]
    moves = simulation(jobs, (2, 2), changes=changes).run().moves_frame()

    assert moves.iloc[0].tolist() == [4, "a", "0:0+1", "", "node 0 left", 40.0]


@pytest.mark.parametrize(("num_gpus", "cost"), [(8, 40.0), (9, 60.0)])
def test_large_jobs_pay_more_for_a_move(simulation, num_gpus, cost):
    changes = [NodeChange(1, 0, "leave"), NodeChange(2, 0, "return")]
    sim = simulation([Job("a", 0, 10, num_gpus)], (9,), changes=changes)

    assert sim.run().moves[0].cost == cost
