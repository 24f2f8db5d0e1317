"""The contract of all schedulers, and what each of them is for."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import RESOURCES, job_lists, node_lists

from model.capacity import Capacity
from model.config import Settings
from model.errors import UserError
from model.fragmentation import Fragmentation, fragment_of
from model.held import HeldJobs
from model.job import Job, Placement, Request
from model.node import Node
from model.target import Target, target_workload
from processes.simulation import Simulation, simulate
from schedulers.base import World
from schedulers.queue import PendingQueue
from schedulers.registry import SCHEDULERS, scheduler_class

PLAIN_FGD = "plain FGD"
FORMS = {
    PLAIN_FGD: {"scheduler": "FGD", "fgd_score": "plain"},
    "elastic ElasticFlow": {"scheduler": "ElasticFlow", "ef_mode": "elastic"},
    "moving ElasticFlow": {"scheduler": "ElasticFlow", "ef_migration": True},
    "large-first R&P": {"scheduler": "R&P", "rp_queue": "large-first"},
    "splitting Hops": {"scheduler": "Hops", "hops_split": True},
}
NAMES = [*SCHEDULERS, *FORMS]
WORKLOAD = Target((Request(1, 1000), Request(1, 300), Request(4, 1000)), (5, 4, 1))


def make(name, nodes, resources=("gpu",), target=WORKLOAD, seed=0):
    capacity = Capacity(nodes, resources)
    fragmentation = Fragmentation(capacity, target)
    rng = np.random.default_rng(seed)
    asked = settings_of(name)
    known = scheduler_class(asked.scheduler, asked)
    return known(World(capacity, fragmentation, HeldJobs(), rng), asked)


def settings_of(name, **asked):
    return Settings(**FORMS.get(name, {"scheduler": name}), **asked)


def occupy(scheduler, used):
    """Take milli-GPU from devices: {(node, gpu): milli}."""
    for (node, gpu), milli in used.items():
        scheduler.capacity.shift(Request(1, milli), Placement(node, (gpu,)), 1)


def place(scheduler, **asks):
    return scheduler.place(Job("j", 0, 10, **asks), 0.0)


@pytest.mark.parametrize("name", NAMES)
class TestContract:
    def test_decides_nothing_for_an_empty_queue(self, name):
        assert make(name, [Node("n", 8)]).decide(PendingQueue(), 0.0) is None

    def test_waits_if_nothing_fits(self, name):
        scheduler = make(name, [Node("n", 1)])
        occupy(scheduler, {(0, 0): 600})

        assert place(scheduler, gpu_milli=500) is None
        assert place(scheduler, gpu_milli=400) == (Placement(0, (0,)),)

    def test_never_chooses_a_closed_node(self, name):
        scheduler = make(name, [Node("a", 8), Node("b", 8)])
        scheduler.capacity.set_open(0, False)

        assert place(scheduler, gpu_milli=500)[0].node == 1

    def test_places_gangs_larger_than_a_node(self, name):
        scheduler = make(name, [Node("a", 4), Node("b", 4), Node("c", 2)])
        gang = place(scheduler, num_gpus=2, num_workers=5)

        devices = [(node, gpu) for node, gpus in gang for gpu in gpus]
        assert len(set(devices)) == 10
        assert scheduler.capacity.free_total.sum() == 10_000  # only thought of it
        assert place(scheduler, num_gpus=2, num_workers=6) is None

    def test_gives_a_cpu_only_job_no_gpu(self, name):
        scheduler = make(name, [Node("n", 2, 4000, 0)], ("gpu", "cpu"))

        (worker,) = place(scheduler, num_gpus=0, gpu_milli=0, cpu_milli=4000)
        assert worker.gpus == ()

    def test_repeats_its_decisions(self, name):
        jobs = [Job(str(i), i, 30, gpu_milli=100 * (1 + i % 9)) for i in range(60)]
        runs = [simulate(settings_of(name), jobs, [Node("n", 2)]) for _ in "ab"]

        assert runs[0].records == runs[1].records

    def test_copes_with_one_device_and_with_small_and_unequal_nodes(self, name):
        jobs = [Job(f"{i}", i, 5, 1 + i % 4) for i in range(20)]
        jobs += [Job(f"share{i}", i, 5, gpu_milli=300) for i in range(20)]
        for nodes in ([1], [4, 4], [8, 2, 0, 5]):
            result = simulate(
                settings_of(name),
                jobs,
                [Node(f"n{n}", gpus) for n, gpus in enumerate(nodes)],
            )
            fits = [job for job in jobs if job.num_gpus <= max(nodes)]
            ended = [r.job for r in result.records if r.status == "finished"]
            assert sorted(ended, key=id) == sorted(fits, key=id)

    def test_a_decision_costs_the_same_late_as_early(self, name):
        """Function calls for each of 1,500 equal jobs on 2 nodes, by quarters."""
        jobs = [Job(f"{i}", 10.0 * i, 100 + i % 7, gpu_milli=700) for i in range(1500)]
        simulation = Simulation(settings_of(name), jobs, [Node("a", 8), Node("b", 8)])
        calls = {"n": 0}
        at = []
        decide = simulation.scheduler.decide

        def counted(pending, now):
            before = calls["n"]
            sys.setprofile(lambda *_: calls.update(n=calls["n"] + 1))
            try:
                return decide(pending, now)
            finally:
                sys.setprofile(None)
                at.append(calls["n"] - before)

        simulation.scheduler.decide = counted
        simulation.run()
        quarter = len(at) // 4
        assert sum(at[-quarter:]) <= 1.2 * sum(at[quarter : 2 * quarter]) + 1000

    @settings(max_examples=40)
    @given(jobs=job_lists(max_jobs=12), nodes=node_lists, data=st.data())
    def test_places_only_where_everything_fits(self, name, jobs, nodes, data):
        """A wrong placement would raise PlacementError when it is held."""
        resources = data.draw(st.sampled_from(["gpu", RESOURCES]))
        simulate(settings_of(name, resources=resources), jobs, nodes)


def test_first_fit_takes_the_lowest_node_and_its_tightest_device():
    scheduler = make("FirstFit", [Node("a", 2), Node("b", 2)])
    occupy(scheduler, {(0, 1): 500, (1, 0): 700})

    assert place(scheduler, gpu_milli=300) == (Placement(0, (1,)),)


def test_best_fit_takes_the_fullest_node_that_fits():
    """kueue #3756: with 4 and 2 GPUs free, a job of 2 belongs on the 2."""
    scheduler = make("BestFit", [Node("a", 4), Node("b", 2)])

    assert place(scheduler, num_gpus=2) == (Placement(1, (0, 1)),)


def test_best_fit_breaks_ties_by_free_cpu():
    nodes = [Node("a", 2, 9000, 0), Node("b", 2, 5000, 0)]
    scheduler = make("BestFit", nodes, ("gpu", "cpu"))

    assert place(scheduler, cpu_milli=1000)[0].node == 1


def test_worst_fit_spreads_over_nodes_and_devices():
    scheduler = make("WorstFit", [Node("a", 2), Node("b", 2)])
    occupy(scheduler, {(0, 0): 100, (1, 0): 200})

    assert place(scheduler, gpu_milli=300) == (Placement(0, (1,)),)


def test_random_fit_uses_every_node_and_device_that_fits_and_no_other():
    scheduler = make("RandomFit", [Node(name, 2) for name in "abc"])
    occupy(scheduler, {(1, 0): 900, (1, 1): 900, (2, 0): 900})
    seen = {place(scheduler, gpu_milli=200)[0] for _ in range(200)}

    assert seen == {(0, (0,)), (0, (1,)), (2, (1,))}


def test_fgd_fills_the_hole_that_serves_nobody_else():
    """A 600 device serves the 300 kind only; taking 600 from a whole one would cost
    the whole-GPU kind more."""
    scheduler = make(PLAIN_FGD, [Node("a", 2), Node("b", 2)])
    occupy(scheduler, {(1, 1): 400})

    assert place(scheduler, gpu_milli=600) == (Placement(1, (1,)),)


def naive_fgd(capacity, target, request):
    """Return the best (growth, node, gpus) by trying everything, straight from F."""
    best = None
    for node in range(len(capacity.nodes)):
        row, cpu = list(capacity.rows[node]), int(capacity.free_cpu[node])
        gpu_type = capacity.nodes[node].gpu_type
        if cpu < request.cpu_milli:
            continue
        if request.gpu_type and gpu_type not in request.gpu_type.split("|"):
            continue
        able = [gpu for gpu, milli in enumerate(row) if milli >= request.gpu_milli > 0]
        tries = [(gpu,) for gpu in able]
        if request.gpu_milli in (0, 1000):
            tries = [tuple(able[: request.num_gpus])]
        for gpus in tries:
            if len(gpus) < request.num_gpus:
                continue
            after = [
                milli - request.gpu_milli * (gpu in gpus)
                for gpu, milli in enumerate(row)
            ]
            growth = fragment_of(
                after, target, gpu_type, cpu - request.cpu_milli
            ) - fragment_of(row, target, gpu_type, cpu)
            growth = round(growth * sum(target.weights))
            if best is None or growth < best[0]:
                best = (growth, node, gpus)
    return best


@settings(max_examples=150)
@given(jobs=job_lists(max_jobs=25, gangs=False))
def test_fgd_places_as_the_naive_search_does(jobs):
    nodes = [Node("a", 3, 14, 99, "A"), Node("b", 4, 9, 99, "B"), Node("c", 2, 30, 99)]
    target = target_workload([*jobs, Job("one", 0, 1)], 0.9)
    scheduler = make(PLAIN_FGD, nodes, ("gpu", "cpu"), target)
    for job in jobs:
        placements = scheduler.place(job, 0.0)
        best = naive_fgd(scheduler.capacity, target, job.request)
        if best is None:
            assert placements is None
            continue
        assert placements == (best[1:],)
        scheduler.capacity.shift(job.request, placements[0], 1)


def test_names_are_forgiving_and_unknown_ones_get_a_suggestion():
    assert scheduler_class("BEST-fit").name == scheduler_class("best_fit").name
    with pytest.raises(UserError, match=r'did you mean "FGD"\?\); there are FGD, Best'):
        scheduler_class("FGDD")
    with pytest.raises(UserError, match="no scheduler 'quux'; there are FGD"):
        scheduler_class("quux")
