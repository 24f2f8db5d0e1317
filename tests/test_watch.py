"""What `--check` finds, and what it tells of the node concerned."""

import pytest

from model.job import Job
from processes.invariants import InvariantError, check_moment
from processes.watch import Watch


def test_watching_costs_little_and_sees_what_the_full_check_sees(simulation):
    """A device that is changed behind everyone's back is found at the next event."""
    jobs = [Job(f"{i}", 3.0 * i, 40 + i % 9, 1 + i % 2) for i in range(60)]
    sim = simulation(jobs, (4, 4))
    watch = Watch(sim.cluster, sim.env)
    events = {"n": 0}

    def check(event):
        events["n"] += 1
        if events["n"] == 200:
            sim.cluster.gpus[1][2]._level = 7  # as a bug would
            sim.cluster.capacity._changed(1)
            with pytest.raises(InvariantError):
                check_moment(sim.cluster)
        watch(event)

    with pytest.raises(InvariantError, match=r"GPU 2 of node 1: container [^!]* came"):
        sim.run(check=check)


def test_the_history_of_a_node_names_who_came_and_who_left(simulation):
    """b waits for a; when the device is found wrong at the end, both are told of."""
    made = simulation([Job("a", 0, 10), Job("b", 2, 5), Job("c", 20, 1)], (1,))
    watch = Watch(made.cluster, made.env)

    def check(event):
        if made.env.now == 20:
            made.cluster.gpus[0][0]._level = 7
            made.cluster.capacity._changed(0)
        watch(event)

    with pytest.raises(InvariantError) as error:
        made.run(check=check)
    assert str(error.value).split("\n")[1:] == [
        "before, on this node:",
        "0 s: a came",
        "10.0 s: a left",
        "10.0 s: b came",
        "15.0 s: b left",
    ]
