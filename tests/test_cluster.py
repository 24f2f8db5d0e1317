"""The ledger: containers and arrays in step, all holds whole or not at all."""

import numpy as np
import pytest
from simpy import Environment

from model.cluster import Cluster
from model.errors import PlacementError
from model.hopeless import why_never
from model.job import Job, Placement
from model.node import Node
from processes.invariants import InvariantError, check_moment


@pytest.fixture
def cluster():
    nodes = [Node("a", 2, 4000, 100, "T4"), Node("b", 1, 8000, 200, "V100")]
    return Cluster(Environment(), nodes, ("gpu", "cpu", "memory"))


def share(job_id, milli, **asks):
    return Job(job_id, 0, 1, gpu_milli=milli, **asks)


def test_hold_takes_each_resource_and_gives_it_back(cluster):
    job = share("j", 300, cpu_milli=1500, memory_mib=60)
    with cluster.hold(job, (Placement(0, (1,)),)):
        assert cluster.gpus[0][1].level == 700
        assert (cluster.cpu[0].level, cluster.memory[0].level) == (2500, 40)
        assert cluster.capacity.free.tolist() == [[1000, 700], [1000, 0]]
        assert "j" in cluster.held
        check_moment(cluster)

    assert cluster.gpus[0][1].level == 1000
    assert "j" not in cluster.held
    check_moment(cluster)


def test_hold_gives_back_however_the_block_ends(cluster):
    with (
        pytest.raises(RuntimeError, match="boom"),
        cluster.hold(share("j", 300), (Placement(0, (0,)),)),
    ):
        raise RuntimeError("boom")

    check_moment(cluster)
    assert cluster.gpus[0][0].level == 1000


@pytest.mark.parametrize(
    ("job", "placements", "message"),
    [
        (share("j", 800), (Placement(0, (0,)),), r"1 x 800 .* GPUs \[0\] .* \[700\]"),
        (Job("j", 0, 1, 2), (Placement(0, (1, 1)),), "2 x 1000"),
        (Job("j", 0, 1, 2), (Placement(0, (1,)),), "2 x 1000"),
        (share("j", 10, cpu_milli=5000), (Placement(0, (0,)),), "its CPU 4000"),
        (share("j", 10, memory_mib=101), (Placement(0, (0,)),), "its memory 100"),
        (share("j", 10, gpu_type="A|V100"), (Placement(0, (0,)),), "its type is T4"),
        (share("j", 10, num_workers=2), (Placement(0, (0,)),), "2 workers, but 1"),
    ],
)
def test_a_placement_that_does_not_fit_takes_nothing(cluster, job, placements, message):
    with cluster.hold(share("other", 300), (Placement(0, (0,)),)):
        before = cluster.capacity.free.copy()
        with (
            pytest.raises(PlacementError, match=message),
            cluster.hold(job, placements),
        ):
            pass

        assert (cluster.capacity.free == before).all()
        check_moment(cluster)


def test_a_gang_whose_last_worker_does_not_fit_takes_nothing(cluster):
    gang = Job("g", 0, 1, num_gpus=1, num_workers=2)
    with cluster.hold(share("other", 1), (Placement(1, (0,)),)):
        placements = (Placement(0, (0,)), Placement(1, (0,)))
        with pytest.raises(PlacementError), cluster.hold(gang, placements):
            pass

        assert cluster.gpus[0][0].level == 1000
        check_moment(cluster)


def test_migration_gives_source_and_takes_destination_in_one_instant(cluster):
    job = share("j", 600)
    with cluster.hold(job, (Placement(0, (0,)),)) as hold:
        cluster.migrate("j", (Placement(1, (0,)),), expected_end=9.0)

        assert cluster.gpus[0][0].level == 1000
        assert cluster.gpus[1][0].level == 400
        assert cluster.held["j"].expected_end == 9.0
        check_moment(cluster)

    assert hold.placements == (Placement(1, (0,)),)  # gave back where it had come to
    check_moment(cluster)


def test_migration_within_a_device_that_is_full_is_possible(cluster):
    """The source is free again before the destination is taken."""
    with cluster.hold(Job("j", 0, 1, 2), (Placement(0, (0, 1)),)):
        cluster.migrate("j", (Placement(0, (1, 0)),), expected_end=1.0)
        check_moment(cluster)


def test_migration_that_does_not_fit_leaves_the_job_where_it_was(cluster):
    with (
        cluster.hold(share("big", 900), (Placement(1, (0,)),)),
        cluster.hold(share("j", 600), (Placement(0, (0,)),)),
    ):
        with pytest.raises(PlacementError):
            cluster.migrate("j", (Placement(1, (0,)),), expected_end=1.0)

        assert cluster.held["j"].placements == (Placement(0, (0,)),)
        check_moment(cluster)


def test_a_closed_node_takes_no_job_but_keeps_its_own(cluster):
    with cluster.hold(share("j", 600), (Placement(0, (0,)),)):
        cluster.capacity.set_open(0, False)
        with (
            pytest.raises(PlacementError, match="takes no jobs"),
            cluster.hold(share("k", 100), (Placement(0, (1,)),)),
        ):
            pass
        with (
            cluster.hold(share("big", 900), (Placement(1, (0,)),)),
            pytest.raises(PlacementError),
        ):
            cluster.migrate("j", (Placement(1, (0,)),), expected_end=1.0)

        assert cluster.held["j"].placements == (Placement(0, (0,)),)
        check_moment(cluster)


def test_workers_counts_what_each_open_node_has_room_for(cluster):
    def workers(**asks):
        return cluster.capacity.workers(Job("j", 0, 1, **asks).request).tolist()

    assert workers(gpu_milli=400) == [4, 2]
    assert workers(num_gpus=2) == [1, 0]
    assert workers(gpu_milli=400, cpu_milli=1500) == [2, 2]
    assert workers(gpu_milli=400, memory_mib=60) == [1, 2]
    assert workers(gpu_milli=400, gpu_type="V100") == [0, 2]
    cluster.capacity.set_open(1, False)
    assert workers(num_gpus=0, gpu_milli=0, cpu_milli=1000) == [4, 0]


def test_the_pool_holds_what_the_sum_of_all_resources_holds(cluster):
    def holds(**asks):
        return cluster.capacity.pool_holds(Job("j", 0, 1, **asks))

    assert holds(num_gpus=3)  # though no node has three
    assert not holds(num_gpus=4)
    assert not holds(cpu_milli=12_001)
    assert holds(cpu_milli=12_000)  # though no node has so many
    assert not holds(memory_mib=301)
    assert not holds(num_gpus=2, gpu_type="V100")


def test_a_job_cannot_hold_twice(cluster):
    job = share("j", 100)
    with (
        cluster.hold(job, (Placement(0, (0,)),)),
        pytest.raises(PlacementError, match="already holds"),
        cluster.hold(job, (Placement(0, (1,)),)),
    ):
        pass


def test_trial_undoes_itself_even_if_it_fails(cluster):
    capacity, job = cluster.capacity, Job("j", 0, 1, 2, cpu_milli=500)
    with pytest.raises(RuntimeError), capacity.trial() as shift:
        shift(job.request, Placement(0, (0, 1)), 1)
        assert capacity.whole.tolist() == [0, 1]
        raise RuntimeError

    check_moment(cluster)
    assert capacity.whole.tolist() == [2, 1]


def test_fits_filters_by_every_resource(cluster):
    def fits(**asks):
        return cluster.capacity.fits(Job("j", 0, 1, **asks).request).tolist()

    assert fits(num_gpus=2) == [True, False]
    assert fits(cpu_milli=5000) == [False, True]
    assert fits(memory_mib=150) == [False, True]
    assert fits(gpu_type="T4|P100") == [True, False]
    assert fits(num_gpus=0, gpu_milli=0, cpu_milli=4000) == [True, True]
    cluster.capacity.set_open(0, False)
    assert fits() == [False, True]


@pytest.mark.parametrize(
    ("asks", "reason"),
    [
        ({"num_gpus": 3}, "no empty node can host 3 x 1000 milli-GPU"),
        ({"cpu_milli": 9000}, "no empty node can host"),
        ({"gpu_type": "H100"}, "no node has GPU type H100"),
        ({"num_workers": 4}, "the empty cluster holds 3 of 4 workers"),
        ({"gpu_milli": 400, "num_workers": 7}, "holds 6 of 7 workers"),
        ({"gpu_milli": 400, "num_workers": 6}, ""),
        ({"num_gpus": 0, "gpu_milli": 0, "cpu_milli": 4000, "num_workers": 3}, ""),
        (
            {"num_gpus": 0, "gpu_milli": 0, "cpu_milli": 4000, "num_workers": 4},
            "3 of 4",
        ),
    ],
)
def test_hopeless_jobs_are_told_from_patient_ones(cluster, asks, reason):
    found = why_never(cluster.capacity, Job("j", 0, 1, **asks))

    assert reason in found
    assert bool(found) == bool(reason)


def test_invariants_notice_a_tampered_array_and_container(cluster):
    cluster.capacity.free[0, 0] -= 1
    with pytest.raises(InvariantError, match="its array"):
        check_moment(cluster)

    cluster.capacity.free[0, 0] += 1
    cluster.gpus[1][0].get(5)
    with pytest.raises(InvariantError, match="GPU 0 of node 1 is 995"):
        check_moment(cluster)


def test_nodes_with_fewer_gpus_are_padded_with_zeros(cluster):
    assert cluster.capacity.exists.tolist() == [[True, True], [True, False]]
    assert np.array_equal(cluster.capacity.free, [[1000, 1000], [1000, 0]])
