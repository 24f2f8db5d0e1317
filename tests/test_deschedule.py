"""FGD's descheduling policies on worked examples."""

import pytest
import worlds
from worlds import moved

from model.job import Request
from model.node import Node
from model.target import Target
from schedulers.planners.fgd_deschedule import cos_sim, frag_multi_pod, frag_one_pod

FOUR_CORES = Request(1, 1000, 4_000)
SEVEN_CORES = Request(1, 1000, 7_000)
ONE_KIND = Target((FOUR_CORES,), (1,), 1)


def outlook(nodes, running, target=ONE_KIND, limit=9, **rules):
    return worlds.outlook(nodes, running, target, limit, ("gpu", "cpu"), **rules)


def in_order(moves):
    return list(moved(moves).items())


CPU_ONLY = {"num_gpus": 0, "gpu_milli": 0}


def test_cos_sim_moves_the_job_least_like_the_rest():
    """Node a has 1 of 10 cores and 1.6 of 2 GPUs left. Without the CPU-only job of 6
    cores it has (7000, 1600): cosine 7000 / 7181 = .975. Without the share of 3 cores
    and 400 milli it has (4000, 2000): cosine 12.8 / 13.53 = .946, the smaller."""
    running = [
        ("cpu", 1, (), {**CPU_ONLY, "cpu_milli": 6_000}),
        ("share", 1, (0,), {"gpu_milli": 400, "cpu_milli": 3_000}),
    ]
    nodes = [Node("b", 1, 10_000), Node("a", 2, 10_000)]

    assert in_order(cos_sim(outlook(nodes, running))) == [("share", 0)]


@pytest.mark.parametrize(
    ("cpu", "share"),
    [(7_000, 400), (9_500, 600)],
    ids=["three cores are left", "no device is more than half free"],
)
def test_cos_sim_leaves_nodes_that_cpu_does_not_strand(cpu, share):
    running = [("share", 1, (0,), {"gpu_milli": share, "cpu_milli": cpu})]

    assert cos_sim(outlook([Node("b", 1, 10_000), Node("a", 1, 10_000)], running)) == []


def test_frag_one_pod_frees_cpu_for_the_target_workload():
    """Node a: two free GPUs but 2 of 8 cores, and the target wants 4 with a GPU, so
    F = 2000. Without the CPU-only job of 6 cores F = 0: gain 2000."""
    running = [
        ("cpu", 1, (), {**CPU_ONLY, "cpu_milli": 6_000}),
        ("tiny", 1, (), {**CPU_ONLY, "cpu_milli": 0}),
    ]
    nodes = [Node("b", 0, 10_000), Node("a", 2, 8_000)]

    assert in_order(frag_one_pod(outlook(nodes, running))) == [("cpu", 0)]


def test_a_job_whose_leaving_only_adds_idle_gpu_stays():
    """Back come 300 milli, and the node still lacks CPU: F rises from 700 to 1000."""
    running = [("share", 1, (0,), {"gpu_milli": 300})]
    nodes = [Node("b", 1, 3_000), Node("a", 1, 3_000)]

    assert frag_one_pod(outlook(nodes, running)) == []


def test_frag_multi_pod_counts_what_the_first_victim_gave_back():
    """One GPU is free, with 2 of 8 cores. Half of the target wants 4 cores, half 7:
    F is 1000, without a 500, without a and b 0. The published code would compare b
    with a node that still has a (2 + 3 cores, F = 500), gain nothing and keep b."""
    target = Target((FOUR_CORES, SEVEN_CORES), (1, 1), 2)
    running = [
        (job_id, 1, (), {**CPU_ONLY, "cpu_milli": 3_000}) for job_id in ("a", "b")
    ]
    nodes = [Node("b", 0, 10_000), Node("a", 1, 8_000)]

    both = frag_multi_pod(outlook(nodes, running, target))
    assert in_order(both) == [("a", 0), ("b", 0)]
    assert in_order(frag_one_pod(outlook(nodes, running, target))) == [("a", 0)]
    assert in_order(frag_multi_pod(outlook(nodes, running, target, 1))) == [("a", 0)]


def test_a_victim_without_a_place_stays_and_others_still_move():
    """Two victims of 3 cores, and elsewhere 3 free cores: the second stays."""
    target = Target((FOUR_CORES, SEVEN_CORES), (1, 1), 2)
    running = [
        (job_id, 1, (), {**CPU_ONLY, "cpu_milli": 3_000}) for job_id in ("a", "b")
    ]
    scene = outlook([Node("b", 0, 3_000), Node("a", 1, 8_000)], running, target)
    before = scene.world.capacity.free_cpu.tolist()

    assert in_order(frag_multi_pod(scene)) == [("a", 0)]
    assert scene.world.capacity.free_cpu.tolist() == before


def test_jobs_that_may_not_move_are_no_victims():
    running = [("cpu", 1, (), {**CPU_ONLY, "cpu_milli": 6_000})]
    nodes = [Node("b", 0, 10_000), Node("a", 2, 8_000)]

    scene = outlook(nodes, running, movable=lambda held: held.job.job_id != "cpu")
    assert frag_one_pod(scene) == []
