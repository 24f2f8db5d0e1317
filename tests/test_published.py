"""The published policies place every pod where the recorded runs did."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import SHARED

from clusterdata.openb import read_openb_nodes
from clusterdata.table import Table
from clusterdata.workload import read_trace
from model.capacity import Capacity
from model.fragmentation import Fragmentation
from model.held import HeldJobs
from model.job import Job, Placement, Request
from model.node import Node
from model.target import Target, target_workload
from schedulers.base import World
from schedulers.inflation import inflate
from schedulers.registry import scheduler_class

RECORDED = SHARED / "fgd"


def replay(openb, name, seed):
    """Fill the openb cluster in the recorded order; return events as recorded."""
    pods = {job.job_id: job for job in read_trace(openb / "openb_pod_list_default.csv")}
    nodes = read_openb_nodes(Table(openb / "openb_node_list_gpu_node.csv"))
    folder = RECORDED / "order" / "default" / str(seed)
    rank = pd.read_csv(folder / "nodes.csv").set_index("node")["rank"]
    nodes = sorted(nodes, key=lambda node: rank[node.name])  # ties go to the lowest
    order = pd.read_csv(folder / "pods.csv")["pod"]
    jobs = [replace(pods[pod.split("-tuned-")[0]], job_id=pod) for pod in order]
    capacity = Capacity(nodes, ("gpu", "cpu", "memory"))
    fragmentation = Fragmentation(capacity, target_workload(pods.values(), 0.95))
    rng = np.random.default_rng(0)
    world = World(capacity, fragmentation, HeldJobs(), rng)
    scheduler = scheduler_class(name, "exact")(world)
    events = []
    for placements in inflate(scheduler, jobs):
        node, gpus = placements[0] if placements else (None, ())
        events.append(
            (
                "" if node is None else nodes[node].name,
                "-".join(map(str, gpus)),
                capacity.allocated,
                fragmentation.total / fragmentation.weight,
            )
        )
    return pd.DataFrame(events, columns=["node", "gpu_index", "used", "frag"])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "policy", "seed", "differing"),
    [
        ("BestFitExact", "BestFit", 42, 0),
        ("GpuPacking", "GpuPacking", 42, 0),
        ("GpuClustering", "GpuClustering", 42, 0),
        ("DotProd", "DotProd", 42, 0),
        ("FGD", "FGD", 42, 0),
        ("FGD", "FGD", 44, 0),
        # three CPU-only pods, on which F depends in its last bit only
        ("FGD", "FGD", 43, 3),
    ],
)
def test_events_equal_the_recorded_ones(openb, name, policy, seed, differing):
    recorded = pd.read_csv(
        RECORDED / "events" / f"default_{policy}_{seed}.csv",
        dtype={"gpu_index": str},
        keep_default_na=False,
    )
    events = replay(openb, name, seed)

    assert len(events) == len(recorded)
    other = (events["node"] != recorded["node"]) | (
        events["gpu_index"] != recorded["gpu_index"]
    )
    assert other.sum() == differing
    assert (events["used"] == recorded["used_gpu_milli"]).all()
    assert (events["frag"] - recorded["frag_milli"]).abs().max() < 0.005 + 1e-9


WORKLOAD = Target((Request(1, 1000), Request(1, 300)), (1, 1), 2)


def scores(name, nodes, asks, used=(), held=(), resources=("gpu",)):
    """Return the published score of each node for one request."""
    capacity = Capacity(nodes, resources)
    world = World(
        capacity,
        Fragmentation(capacity, WORKLOAD),
        HeldJobs(),
        np.random.default_rng(0),
    )
    scheduler = scheduler_class(name, "exact")(world)
    for node, gpu, milli in used:
        capacity.shift(Request(1, milli), Placement(node, (gpu,)), 1)
    for _ in inflate(scheduler, held):
        pass
    request = Job("j", 0, 1, **asks).request
    return (-scheduler.score(request, np.arange(len(nodes)))).tolist()


@pytest.mark.parametrize(("num_gpus", "score"), [(8, 25), (4, 29), (2, 31), (1, 32)])
def test_packing_score_of_an_idle_node(num_gpus, score):
    assert scores("GpuPacking", [Node("n", num_gpus)], {"gpu_milli": 500}) == [score]


def test_packing_prefers_used_devices_to_idle_ones_to_idle_nodes():
    """A device with 600 left: 100 - floor(60 / 10); an idle one beside it: 50 - 1."""
    nodes = [Node(name, 2) for name in "abc"]
    used = [(0, 0, 400), (1, 0, 900)]

    assert scores("GpuPacking", nodes, {"gpu_milli": 500}, used) == [94, 49, 31]
    assert scores("GpuPacking", nodes, {"num_gpus": 1}, used) == [49, 49, 31]


def test_dot_product_by_hand():
    """Free 64 cores, 8 GPUs; asked 32 cores, 1: 100 (1 - (.5 x .25 + .125) / 2)."""
    nodes = [Node("n", 8, 64_000, 0)]
    asks = {"cpu_milli": 32_000}

    assert scores("DotProd", nodes, asks, resources=("gpu", "cpu")) == [87]


def test_best_fit_by_hand():
    """Left are 32 of 128 cores and 7 of 8 GPUs: 100 (1 - .125 - .4375)."""
    nodes = [Node("n", 8, 64_000, 0)]
    asks = {"cpu_milli": 32_000}

    assert scores("BestFitExact", nodes, asks, resources=("gpu", "cpu")) == [43]


def test_clustering_keeps_sizes_together():
    """8,000 - 7,500 free is 25 x 500 / 8000 = 1 point; whole GPUs are another size."""
    nodes = [Node("a", 8), Node("b", 8)]
    held = [Job("s", 0, 1, gpu_milli=500)]

    assert scores("GpuClustering", nodes, {"gpu_milli": 200}, held=held) == [76, 25]
    assert scores("GpuClustering", nodes, {"num_gpus": 1}, held=held) == [1, 25]


def test_exact_fgd_score_by_hand():
    """Taking 300 of an idle device costs the whole-GPU kind 700, at half the weight:
    int(100 / (1 + exp(0.35))) = 41. Taking all of it leaves nothing to lose: 50."""
    assert scores("FGD", [Node("n", 1)], {"gpu_milli": 300}) == [41]
    assert scores("FGD", [Node("n", 1)], {"num_gpus": 1}) == [50]


def test_inflation_keeps_what_fits_and_does_not_retry():
    capacity = Capacity([Node("n", 1)])
    world = World(
        capacity,
        Fragmentation(capacity, WORKLOAD),
        HeldJobs(),
        np.random.default_rng(0),
    )
    jobs = [Job(name, 0, 1, gpu_milli=milli) for name, milli in
            (("a", 700), ("b", 400), ("c", 300))]  # fmt: skip
    placed = list(inflate(scheduler_class("BestFit")(world), jobs))

    assert [place is not None for place in placed] == [True, False, True]
    assert capacity.allocated == 1000
