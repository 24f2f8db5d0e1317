"""DRR: what it sees, how it looks ahead; the compiled parts agree with SimPy."""

import numpy as np
import pytest
from worlds import HALF_OR_TWO, running_world

from clusterdata.generator import generate
from model.config import Settings
from model.fragmentation import fragment_of
from model.job import Job, Placement
from model.node import Node
from processes.simulation import Simulation, simulate
from schedulers.decision import Decision, PlannedMove
from schedulers.drr.observation import observe
from schedulers.drr.policy import fresh
from schedulers.drr.scheduler import DRR
from schedulers.drr.search import GROWTH
from schedulers.drr.view import View
from schedulers.queue import PendingQueue


def test_each_number_of_the_observation_is_what_it_says():
    made = running_world([2, 1], [(3600.0, 0, (1,), 250)])
    view, pending = View(made), PendingQueue()
    job = Job("a", 0, 1800, 1, 500)
    pending.add(job)
    pending.add(Job("b", 0, 60, 2))

    seen = observe(GROWTH, view, made.capacity, pending, job, 1800.0)

    # F falls where the fully free device is broken: beside the other share, 250 were
    # left, too few for anyone
    assert seen.gpus[0] == 0
    after, before = ([500, 750], [1000, 750])
    growth = fragment_of(after, HALF_OR_TWO) - fragment_of(before, HALF_OR_TWO)
    growth /= 8000  # GPUs / 8
    # free, until then, outlives, lands, growth, outlives the node, node outlives it
    node = [growth, 0, 0]
    assert seen.devices[0, 0].tolist() == pytest.approx([1, 0, 1, 0.5, *node])
    assert seen.devices[0, 1].tolist() == pytest.approx([0.75, 0.5, 0, 0, *node])
    assert seen.devices[1, 1].tolist() == [0] * 7  # node 1 has one device only
    half, waiting = 0.5, 2 / 102
    asked = (0.5 + 2) / 3
    free, idle = 2.75 / 3, 2 / 3
    expected = [0.5 / 8, 1, half, waiting, asked / (asked + 1), free, idle, 1, 1]
    assert seen.context.tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    "behind",
    [
        [Job("wide", 1, 50, 1, num_workers=5)],  # four GPUs are on open nodes
        [Job("cpu", 1, 50, 0, 0, num_workers=9)],
        [Job("gang", 1, 50, 2, num_workers=2)],
    ],
    ids=lambda jobs: jobs[0].job_id,
)
def test_gangs_behind_do_not_blind_the_look_ahead(behind):
    """The same story as below, with a node that is down and a gang behind the pair."""
    running = [(100.0, 0, (0,), 1000), (1000.0, 1, (0,), 1000)]
    made = running_world([2, 2, 2], running)
    made.capacity.set_open(2, False)
    settings = Settings(scheduler="DRR", teacher="BestFit", look_ahead=2)
    scheduler, pending = DRR(made, settings), PendingQueue()
    scheduler.parameters = fresh(np.random.default_rng(0))
    for job in (Job("small", 1, 500), Job("pair", 1, 50, 2), *behind):
        scheduler.arrived(job, 1.0)
        pending.add(job)

    assert scheduler.decide(pending, 1.0).placements == (Placement(1, (1,)),)
    assert scheduler.measures()["drr_corrected"] == 1


@pytest.mark.parametrize("gpus", [50, 53, 54, 64, 65])
def test_nodes_may_be_wide(gpus):
    """Bits of more than 53 devices do not fit into a float."""
    jobs = [Job("a", 0, 10, gpus), Job("b", 1, 10, 1), Job("c", 2, 10, gpus)]
    nodes = [Node("n", gpus), Node("m", gpus)]
    for name in ("TunedLinear", "DRR"):
        records = simulate(Settings(scheduler=name, learn=False), jobs, nodes).records
        assert [record.start_time for record in records] == [0, 1, 10]


@pytest.mark.parametrize(("look_ahead", "node"), [(2, 1), (0, 0)])
def test_the_look_ahead_keeps_the_node_that_the_next_job_needs(look_ahead, node):
    """Nodes of 2 GPUs; one job ends on node 0 at 100, one on node 1 at 1000. The head,
    500 s on one GPU, would delay the pair behind it from 100 to 501 on node 0; best fit
    does not care, and the lower node wins."""
    made = running_world([2, 2], [(100.0, 0, (0,), 1000), (1000.0, 1, (0,), 1000)])
    settings = Settings(scheduler="DRR", teacher="BestFit", look_ahead=look_ahead)
    scheduler, pending = DRR(made, settings), PendingQueue()
    scheduler.parameters = fresh(np.random.default_rng(0))  # best fit, no more
    for job in (Job("small", 1, 500), Job("pair", 1, 50, 2)):
        scheduler.arrived(job, 1.0)
        pending.add(job)

    assert scheduler.decide(pending, 1.0).placements == (Placement(node, (1,)),)


def test_moves_are_welcome_if_the_queue_does_not_wait_longer():
    """The pair waits for node 0 until 100. If its job moves beside the other, the pair
    starts at once; if the other's job comes to node 0, it waits until 1040."""
    ends = [(100.0, 0, (0,), 1000), (1000.0, 1, (0,), 1000)]
    made = running_world([2, 2], ends)
    scheduler, pending = DRR(made, Settings(scheduler="DRR")), PendingQueue()
    pair = Job("pair", 1, 50, 2)
    scheduler.arrived(pair, 1.0)
    pending.add(pair)
    assert scheduler.decide(pending, 1.0) is None
    first, second = (made.held[name] for name in ("r0", "r1"))

    def move(held, node, gpu):
        return PlannedMove(
            held.job, held.placements, (Placement(node, (gpu,)),), "test"
        )

    assert scheduler.welcomes([move(first, 1, 1)], 1.0)
    assert not scheduler.welcomes([move(first, 1, 1), move(second, 0, 0)], 1.0)
    before = made.capacity.free.tolist()
    state, running = scheduler.view.moved(
        [move(first, 1, 1)], pair.request, 1.0, lambda job: 40.0
    )
    assert (state.free.tolist(), state.whole.tolist()) == (
        [[1000] * 2, [0] * 2],
        [2, 0],
    )
    assert running.ends.tolist() == [140.0, 1000.0]
    assert state.gpu_end[1].tolist() == [1000.0, 140.0]
    assert made.capacity.free.tolist() == before


def test_a_node_that_takes_no_jobs_changes_nothing_for_the_others():
    """Node 1 is full until 10 s; that it has no room now says nothing of then."""
    made = running_world([1, 2], [(10.0, 1, (0, 1), 1000)])
    scheduler, pending = DRR(made, Settings(scheduler="DRR")), PendingQueue()
    one, two = Job("one", 0, 5), Job("two", 0, 5, 2)
    for job in (one, two):
        scheduler.arrived(job, 1.0)
        pending.add(job)

    def closed():
        return scheduler.view.state(one.request).closed.tolist()

    assert closed() == [False, False]
    made.capacity.set_open(0, False)
    assert closed() == [True, False]


@pytest.mark.parametrize("asked", [{"num_workers": 3}, {"gpu_type": "A"}])
def test_what_the_look_ahead_does_not_know_is_left_to_the_policy(asked):
    nodes = [Node("a", 2, gpu_type="A"), Node("b", 2, gpu_type="A")]
    jobs = [Job(f"j{k}", 0.0, 10.0, **asked) for k in range(8)]
    result = simulate(Settings(scheduler="DRR", learn=False), jobs, nodes)

    assert result.measures["drr_decisions"] > 0
    assert result.measures["drr_looks"] == 0


def test_a_move_leaves_the_cpu_only_jobs_of_its_nodes_in_mind():
    made = running_world([2, 2], [(900.0, 0, (), 0), (100.0, 0, (0,), 1000)])
    view, held = View(made), made.held["r1"]
    moves = [PlannedMove(held.job, held.placements, (Placement(1, (0,)),), "test")]

    state, _ = view.moved(moves, held.job.request, 0.0, lambda job: 40.0)

    assert view.state(held.job.request).node_end.tolist() == [900.0, 0.0]
    assert state.node_end.tolist() == [900.0, 140.0]


@pytest.mark.parametrize("queue", ["easy", "backfill", "fifo"])
def test_the_learner_hears_of_nodes_that_were_taken(queue):
    settings = Settings(
        scheduler="DRR", queue=queue, num_node=6, num_jobs=800, look_ahead=0,
        interarrival_time=85.0, learn=False,
    )  # fmt: skip
    simulation = Simulation(settings, generate(settings), settings.uniform_cluster())
    told, decided = [], []
    simulation.scheduler.tell = told.append
    original = simulation.scheduler.decide

    def decide(pending, now):
        decision = original(pending, now)
        if isinstance(decision, Decision):
            decided.append((now, decision.placements[0].node))
        return decision

    simulation.scheduler.decide = decide
    simulation.run()
    nodes = [int(one.seen.nodes[one.action]) for one in told]
    taken = iter(node for _, node in decided)
    assert len(told) > 100
    assert all(node in taken for node in nodes)  # in this order, among those taken


def test_only_looks_that_were_run_to_the_end_are_told():
    settings = Settings(
        scheduler="DRR", num_node=8, num_jobs=600, interarrival_time=50.0,
        look_ahead=2, learn=False,
    )  # fmt: skip
    simulation = Simulation(settings, generate(settings), settings.uniform_cluster())
    told = []
    simulation.scheduler.tell = told.append
    result = simulation.run()

    known = sum(len(one.ways) > 0 for one in told)
    assert 0 < known <= result.measures["drr_looks"] // simulation.scheduler.exact_every
