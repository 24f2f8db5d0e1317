"""The pooled bound: by hand, below every fifo schedule, tight on one device."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import RESOURCES, job_lists, node_lists

from analysis.bounds import gap_closed, pooled_delays, pooled_start_times
from model.config import Settings
from model.node import Node
from processes.simulation import simulate
from schedulers.registry import SCHEDULERS, scheduler_class


def test_pool_lends_what_no_device_could():
    """Three shares of 600 fit into 2 pooled GPUs; on devices only two do."""
    starts = pooled_start_times([0, 0, 0, 0], [9, 9, 9, 9], [[600]] * 4, [2000])

    assert starts.tolist() == [0, 0, 0, 9]


def test_a_blocked_head_holds_back_all_behind_it():
    starts = pooled_start_times([0, 1, 2], [10, 4, 1], [[1], [2], [1]], [2])

    assert starts.tolist() == [0, 10, 14]


def test_times_that_decrease_and_hopeless_jobs_are_refused():
    with pytest.raises(ValueError, match="must not decrease"):
        pooled_start_times([1, 0], [1, 1], [[1], [1]], [1])
    with pytest.raises(ValueError, match=r"job 1 asks for \[3\], the pool has \[2\]"):
        pooled_start_times([0, 0], [1, 1], [[1], [3]], [2])


def delays(result, nodes, resources):
    frame = result.jobs_frame()
    capacity = {"gpu_milli": 1000 * sum(node.num_gpus for node in nodes)}
    if "cpu" in resources:
        capacity["cpu_milli"] = sum(node.cpu_milli for node in nodes)
        capacity["memory_mib"] = sum(node.memory_mib for node in nodes)
    asked = frame[frame["status"] != "refused"]
    actual = asked["start_time"].to_numpy() - asked["submit_time"].to_numpy()
    return actual, pooled_delays(frame, capacity)


@settings(max_examples=300)
@given(
    job_lists(max_jobs=20),
    node_lists,
    st.sampled_from([name for name in SCHEDULERS if scheduler_class(name).in_order]),
    st.sampled_from(["gpu", RESOURCES]),
)
def test_no_fifo_schedule_starts_any_job_before_the_pool(jobs, nodes, name, resources):
    result = simulate(Settings(scheduler=name, resources=resources), jobs, nodes)
    actual, bound = delays(result, nodes, resources)

    assert (bound <= actual).all()


@given(job_lists(max_jobs=20, gangs=False, typed=False))
def test_the_bound_is_reached_on_one_node_with_one_gpu(jobs):
    nodes = [Node("n", 1)]
    result = simulate(Settings(scheduler="BestFit"), jobs, nodes)
    actual, bound = delays(result, nodes, "gpu")

    assert np.array_equal(actual, bound)


def test_gap_closed_is_0_at_fgd_and_1_at_the_bound():
    assert gap_closed(4200, 4200, 200) == 0
    assert gap_closed(200, 4200, 200) == 1
    assert gap_closed(6200, 4200, 200) == -0.5
    assert np.isnan(gap_closed(5, 5, 5))
