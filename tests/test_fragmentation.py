"""F_n(M) by hand for each category, and against a naive oracle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.capacity import Capacity
from model.fragmentation import Fragmentation, fragment_of
from model.job import Job, Placement, Request
from model.node import Node
from model.target import Target, target_workload


def target(*kinds):
    """Return a workload of (weight, request) pairs."""
    return Target(
        tuple(kind for _, kind in kinds), tuple(weight for weight, _ in kinds)
    )


@pytest.mark.parametrize(
    ("kind", "free", "cpu", "lost"),
    [
        (Request(1, 1000), [1000, 400], 9, 400),  # Q3: satisfied, the 400 is too small
        (Request(1, 300), [1000, 400], 9, 0),  # Q3: both devices serve it
        (Request(2, 1000), [1000, 400], 9, 1400),  # Q2: GPUs lacking
        (Request(1, 300, 10), [1000, 400], 9, 1400),  # Q4: CPU lacking
        (Request(2, 1000, 10), [1000, 400], 9, 1400),  # Q1: both lacking
        (Request(1, 300, 0, 0, "V100"), [1000, 400], 9, 1400),  # NA: no access
        (Request(1, 300, 0, 0, "V100|T4"), [1000, 400], 9, 0),  # one of two types
        (Request(0, 0, 5), [1000, 400], 9, 1400),  # XL: satisfied, but needs no GPU
        (Request(0, 0, 10), [1000, 400], 9, 1400),  # XR: CPU-only, CPU lacking
        (Request(1, 300), [0, 0], 9, 0),  # nothing free, nothing lost
    ],
)
def test_each_category_by_hand(kind, free, cpu, lost):
    workload = target((1, kind))
    capacity = Capacity([Node("n", len(free), cpu, 0, "T4")], ("gpu", "cpu"))
    fragmentation = Fragmentation(capacity, workload)
    for gpu, milli in enumerate(free):
        if milli < 1000:
            capacity.shift(Request(1, 1000 - milli), Placement(0, (gpu,)), 1)

    assert fragmentation.total == lost
    assert fragment_of(free, workload, "T4", cpu) == lost


def test_what_a_closed_node_has_free_is_no_fragment():
    capacity = Capacity([Node("a", 1), Node("b", 1)])
    fragmentation = Fragmentation(capacity, target((1, Request(2, 1000))))
    assert fragmentation.total == 2000
    capacity.set_open(0, False)

    assert fragmentation.total == 1000


def test_mean_over_kinds_weighs_by_popularity():
    workload = target((3, Request(1, 1000)), (1, Request(1, 300)))

    assert fragment_of([1000, 400], workload) == 300  # 3/4 of the jobs lose the 400


def test_target_workload_covers_the_popular_kinds():
    jobs = [Job(f"a{i}", 0, 1, gpu_milli=500) for i in range(6)]
    jobs += [Job(f"b{i}", 0, 1) for i in range(3)]
    jobs += [Job("c", 0, 1, num_gpus=8)]

    assert target_workload(jobs, 0.9).weights == (6, 3)
    assert target_workload(jobs, 0.91).weights == (6, 3, 1)
    assert target_workload(jobs, 0.5).weights == (6,)


def test_target_workload_counts_workers_and_ignores_memory():
    jobs = [Job("a", 0, 1, memory_mib=5), Job("b", 0, 1, memory_mib=9, num_workers=4)]

    assert [*target_workload(jobs, 1.0).kinds()] == [(Request(1, 1000), 5)]


def test_ties_in_popularity_go_to_the_larger_request():
    jobs = [Job("a", 0, 1, cpu_milli=1), Job("b", 0, 1, cpu_milli=2)]

    assert target_workload(jobs, 0.5).requests == (Request(1, 1000, 2),)


def test_popularity_outside_0_to_1_is_refused():
    with pytest.raises(
        ValueError, match="popularity 1.5 must be above 0 and at most 1"
    ):
        target_workload([], 1.5)


def naive(free, request, gpu_type, cpu):
    """Return what one kind cannot use: the definition, table of fgd section 2."""
    total = sum(free)
    able = sum(milli >= request.gpu_milli for milli in free)
    if request.num_gpus == 0:
        return total
    if request.gpu_type and gpu_type not in request.gpu_type.split("|"):
        return total
    if able < request.num_gpus or cpu < request.cpu_milli:
        return total
    return sum(milli for milli in free if milli < request.gpu_milli)


kinds = st.one_of(
    st.builds(
        Request,
        st.just(1),
        st.integers(1, 1000),
        st.integers(0, 12),
        st.just(0),
        st.sampled_from(["", "A", "B", "A|B"]),
    ),
    st.builds(Request, st.integers(2, 4), st.just(1000), st.integers(0, 12)),
    st.builds(Request, st.just(0), st.just(0), st.integers(0, 12)),
)
moves = st.lists(
    st.tuples(
        st.integers(0, 2), st.integers(0, 3), st.integers(1, 1000), st.integers(0, 5)
    ),
    max_size=12,
)


@given(st.lists(st.tuples(st.integers(1, 9), kinds), min_size=1, max_size=6), moves)
def test_incremental_amounts_equal_the_naive_definition(workload, placed):
    nodes = [Node("a", 4, 10, 0, "A"), Node("b", 2, 6, 0, "B"), Node("c", 1, 3, 0, "")]
    capacity = Capacity(nodes, ("gpu", "cpu"))
    fragmentation = Fragmentation(capacity, target(*workload))
    for node, gpu, milli, cpu in placed:
        gpu %= nodes[node].num_gpus
        if capacity.free[node, gpu] >= milli and capacity.free_cpu[node] >= cpu:
            capacity.shift(Request(1, milli, cpu), Placement(node, (gpu,)), 1)

    for index, node in enumerate(nodes):
        free, cpu = capacity.rows[index], int(capacity.free_cpu[index])
        expected = sum(
            weight * naive(free, kind, node.gpu_type, cpu) for weight, kind in workload
        )
        assert fragmentation.amount[index] == expected
    assert fragmentation.total == sum(fragmentation.amount)
