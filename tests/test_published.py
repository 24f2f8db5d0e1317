"""The published policies place every pod where the recorded runs did."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import SHARED

from analysis.inflation import arrived_series, published_means
from clusterdata.formats.openb import read_openb_nodes, read_openb_requests
from clusterdata.table import Table
from model.capacity import Capacity
from model.fragmentation import Fragmentation
from model.held import HeldJobs
from model.job import Job, Placement, Request
from model.node import Node
from model.target import Target, target_workload
from schedulers.base import World
from schedulers.inflation import empty_world, inflate, inflation_events
from schedulers.published import PUBLISHED
from schedulers.registry import scheduler_class

RECORDED = SHARED / "fgd"


class Recorded:
    """A trace in an order that was recorded from the published simulator."""

    def __init__(self, openb, trace, seed):
        pods = read_openb_requests(Table(openb / f"openb_pod_list_{trace}.csv"))
        by_name = {job.job_id: job for job in pods}
        folder = RECORDED / "order" / trace / str(seed)
        rank = pd.read_csv(folder / "nodes.csv").set_index("node")["rank"]
        nodes = read_openb_nodes(Table(openb / "openb_node_list_gpu_node.csv"))
        self.nodes = sorted(nodes, key=lambda node: rank[node.name])
        self.target = target_workload(pods, 0.95)
        order = pd.read_csv(folder / "pods.csv")["pod"]
        self.jobs = [
            replace(by_name[pod.split("-tuned-")[0]], job_id=pod) for pod in order
        ]

    def scheduler(self, policy):
        world = empty_world(self.nodes, self.target, np.random.default_rng(0))
        return PUBLISHED[policy](world)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("policy", "seed"),
    [
        ("BestFit", 42),
        ("GpuPacking", 42),
        ("GpuClustering", 42),
        ("DotProd", 42),
        ("FGD", 42),
        ("FGD", 43),
        ("FGD", 44),
    ],
)
def test_events_equal_the_recorded_ones(openb, policy, seed):
    """Node, device, used and fragment of each of some 10,800 events."""
    recorded = pd.read_csv(
        RECORDED / "events" / f"default_{policy}_{seed}.csv",
        dtype={"gpu_index": str},
        keep_default_na=False,
    )
    run = Recorded(openb, "default", seed)
    scheduler = run.scheduler(policy)
    world, events = scheduler.world, []
    for placements in inflate(scheduler, run.jobs):
        node, gpus = placements[0] if placements else (None, ())
        name = "" if node is None else run.nodes[node].name
        fragment = world.fragmentation.total / world.fragmentation.weight
        gpu_index = "-".join(map(str, gpus))
        events.append((name, gpu_index, world.capacity.allocated, fragment))
    names = ["node", "gpu_index", "used_gpu_milli", "frag_milli"]
    events = pd.DataFrame(events, columns=names)

    pd.testing.assert_frame_equal(events[names[:3]], recorded[names[:3]])
    assert (events["frag_milli"] - recorded["frag_milli"]).abs().max() < 0.005 + 1e-9


def recorded_orders():
    folders = sorted((RECORDED / "order").glob("*/*"))
    return [(folder.parent.name, int(folder.name)) for folder in folders] or [("", 0)]


METRICS = {
    "alloc_pct": "alloc_pct",
    "frag_amount_pct_of_total": "frag_total_pct",
    "frag_ratio_pct_of_idle": "frag_idle_pct",
}


@pytest.mark.slow
@pytest.mark.parametrize(("trace", "seed"), recorded_orders())
def test_every_published_point_is_met(openb, trace, seed):
    """Five policies, three measures, fourteen loads; nothing differs at two decimals.

    Ten default seeds, and two of each of the other sixteen traces.
    """
    published = pd.read_csv(RECORDED / "published_openb.csv")
    published = published[published["trace"] == f"openb_pod_list_{trace}"]
    run = Recorded(openb, trace, seed)
    differing = []
    for policy in ("DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD"):
        events = inflation_events(run.scheduler(policy), run.jobs)
        series = arrived_series(events, 6_212_000).set_index("arrived_pct")
        points = published[published["policy"] == policy]
        points = points[points["metric"].isin(METRICS)]
        assert len(points) == 42
        for point in points.itertuples():
            ours = series.loc[point.arrived_pct, METRICS[point.metric]]
            theirs = getattr(point, f"seed{seed}")
            if abs(ours - theirs) > 0.001:
                differing.append(
                    (policy, point.metric, point.arrived_pct, ours, theirs)
                )
    assert differing == []


def test_the_means_in_the_product_are_the_published_ones(openb):
    published = pd.read_csv(RECORDED / "published_openb.csv")
    published = published[published["metric"].isin(METRICS)]
    wide = published.assign(
        trace=published["trace"].str.removeprefix("openb_pod_list_"),
        metric=published["metric"].map(METRICS),
    ).pivot(index=["trace", "policy", "arrived_pct"], columns="metric", values="mean")
    ours = published_means().set_index(["trace", "policy", "arrived_pct"])

    assert len(ours) == 17 * 6 * 14
    pd.testing.assert_frame_equal(
        ours, wide[ours.columns].loc[ours.index], check_names=False
    )


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
    scheduler = scheduler_class(name)(world)
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
