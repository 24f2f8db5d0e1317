"""Hops: its queue, its program against a naive one, its layout, its rounds."""

from collections import Counter

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, milp

from model.config import Settings
from model.job import Job
from model.node import Node
from processes.simulation import Simulation, simulate
from schedulers.hops import latency_ratio, less_sensitive, service_window
from schedulers.hops_ilp import OPENING, Item, solve


def test_latency_ratio_by_hand():
    """Waited 30 s, expected to run 60 s."""
    assert latency_ratio(Job("j", 10, 60), 40.0) == 0.5


def test_the_service_window_asks_for_the_whole_cluster():
    """Of 4,000 milli: 3,000, then 500, then 1,000 pass it; the rest stays out."""
    jobs = [Job("a", 0, 1, num_gpus=3), Job("b", 0, 1, gpu_milli=500)]
    jobs += [Job("c", 0, 1), Job("d", 0, 1)]

    assert service_window(jobs, 4000) == jobs[:3]


def test_a_sensitive_window_pulls_in_insensitive_jobs_that_fit():
    """rho of the queue: 1.7, 1.7 | 1, 1, 1, 1.7, 1.7, mean 1.4. The window comes from
    1.7 over 4.4 / 3 down to 5.4 / 4 = 1.35. A job that asks too much is passed over."""

    def gpt(name):
        return Job(name, 0, 1, num_gpus=2, job_class="gpt2-b128")

    queue = [gpt("a"), gpt("b"), *[Job(n, 0, 1) for n in "cde"], gpt("f"), gpt("g")]
    assert less_sensitive(queue, queue[:2], 9000) == queue[:4]
    assert less_sensitive(queue, queue[:2], 900) == queue[:2]


def naive(items, rows):
    """Return the best value by one binary for each way to place each item."""
    cost, limits, entries = [], {}, []
    idle = [row.count(1000) for row in rows]

    def column(worth):
        cost.append(-worth)
        return len(cost) - 1

    def enter(row, col, value, limit):
        limits[row] = limit
        entries.append((row, col, value))

    devices = [
        (n, g, milli) for n, row in enumerate(rows) for g, milli in enumerate(row)
    ]
    for node, gpu, milli in devices:
        limits["device", node, gpu] = milli
        if milli == 1000:  # nothing on it until it is opened
            opened = column(-OPENING * min(1, *(i.weight for i in items), 1))
            enter(("node", node), opened, 1, idle[node])
            enter(("device", node, gpu), opened, -1000, 0)
    for index, item in enumerate(items):
        for node, gpu, milli in devices:
            if 0 < item.share <= milli:
                col = column(item.weight)
                enter(("item", index), col, 1, 1)
                limit = 0 if milli == 1000 else milli
                enter(("device", node, gpu), col, item.share, limit)
        for node in range(len(rows)):
            if item.size and idle[node] >= item.size:
                col = column(item.weight * (item.gain if item.splits else 1))
                enter(("item", index), col, 1, 1)
                enter(("node", node), col, item.size, idle[node])
        if item.splits:
            whole = column(item.weight)
            enter(("item", index), whole, 1, 1)
            enter(("split", index), whole, item.size, 0)
            for node in range(len(rows)):
                part = column(0)
                enter(("node", node), part, 1, idle[node])
                enter(("split", index), part, -1, 0)
    if not cost:
        return 0.0
    place = {row: at for at, row in enumerate(limits)}
    matrix = np.zeros((len(place), len(cost)))
    for row, col, value in entries:
        matrix[place[row], col] += value
    result = milp(
        np.array(cost),
        constraints=LinearConstraint(matrix, -np.inf, np.array([*limits.values()])),
        integrality=np.ones(len(cost)),
        bounds=Bounds(0, [np.inf if c == 0 else 1 for c in cost]),
        options={"mip_rel_gap": 1e-9},
    )
    assert result.status == 0
    return -result.fun


def instance(seed):
    rng = np.random.default_rng(seed)
    rows = [
        [int(rng.choice([0, 0, 300, 500, 1000, 1000])) for _ in range(4)]
        for _ in range(int(rng.integers(1, 4)))
    ]
    items = []
    for _ in range(int(rng.integers(1, 9))):
        weight = round(float(rng.uniform(0.05, 2)), 3)
        if rng.random() < 0.5:
            items.append(Item(weight, 0, int(rng.choice([100, 250, 300, 500]))))
        else:
            size = int(rng.choice([1, 2, 4]))
            splits = size > 1 and rng.random() < 0.4
            items.append(Item(weight, size, 0, 1, 1.1 + 0.2 * rng.integers(2), splits))
    return items, rows


@pytest.mark.parametrize("seed", range(80))
def test_the_gathered_program_equals_the_naive_one(seed):
    items, rows = instance(seed)
    idle = [sum(milli == 1000 for milli in row) for row in rows]
    partly = Counter(milli for row in rows for milli in row if 0 < milli < 1000)

    plan = solve(items, idle, partly, gap=1e-9)
    assert plan.value == pytest.approx(naive(items, rows), abs=1e-6)


def starts(jobs, nodes, **asked):
    result = simulate(Settings(scheduler="Hops", **asked), jobs, nodes)
    return {record.job.job_id: record.start_time for record in result.records}, result


def test_the_job_that_waited_longest_for_its_length_goes_first():
    """One GPU until 100: `short` has waited 50 of its 10 s, `long` 99 of its 1000."""
    jobs = [Job("now", 0, 100), Job("long", 1, 1000), Job("short", 50, 10)]

    assert starts(jobs, [Node("n", 1)])[0] == {"now": 0, "short": 100, "long": 110}


def test_plans_are_five_seconds_apart_and_rounds_sixty():
    """Two GPUs. At 0 both start. `a` ends at 12; `b` came at 1, planned in vain at 5.
    `c` comes at 13, 1 s after the plan at 12: its turn is at 17."""
    jobs = [Job("a", 0, 12), Job("x", 0, 300), Job("b", 1, 5), Job("c", 14, 9)]
    found, result = starts(jobs, [Node("n", 2)])

    assert found == {"a": 0, "x": 0, "b": 12, "c": 17}
    assert result.measures["hops_fallbacks"] == 0


@pytest.mark.parametrize(
    ("job_class", "splits", "start", "seconds", "nodes"),
    [
        ("resnet50-b128", True, 10, 110, {0, 1}),  # rho 1.1
        ("gpt2-b128", True, 500, 100, {0}),  # rho 1.7: rather waits
        ("resnet50-b128", False, 500, 100, {0}),
    ],
)
def test_only_insensitive_jobs_are_split_and_then_run_slower(
    job_class, splits, start, seconds, nodes
):
    """Two nodes, each with one of two GPUs free until 500."""
    cluster = [Node("a", 2, 1, 0), Node("b", 2, 1, 0)]
    jobs = [Job("x", 0, 500, cpu_milli=1), Job("y", 0, 500, cpu_milli=1)]
    jobs.append(Job("j", 10, 100, num_gpus=2, job_class=job_class))
    asked = Settings(scheduler="Hops", hops_split=splits, resources="gpu,cpu")
    records = {r.job.job_id: r for r in Simulation(asked, jobs, cluster).run().records}

    job = records["j"]
    assert job.start_time == start
    assert job.end_time - job.start_time == pytest.approx(seconds)
    assert {placement.node for placement in job.placements} == nodes


def test_a_program_that_takes_too_long_gives_way_to_the_greedy_plan(monkeypatch):
    import schedulers.hops as module

    monkeypatch.setattr(module, "solve", lambda *args, **options: None)
    jobs = [Job("now", 0, 100), Job("long", 1, 1000), Job("short", 50, 10)]
    found, result = starts(jobs, [Node("n", 1)])

    assert found == {"now": 0, "short": 100, "long": 110}
    assert result.measures["hops_fallbacks"] > 0


def test_nodes_and_jobs_of_odd_sizes_are_used():
    """Three nodes of 6: a single GPU is taken for long, two jobs of 6 start at once."""
    jobs = [Job("one", 0, 5000), *[Job(f"six{i}", 0, 10, num_gpus=6) for i in "ab"]]
    jobs.append(Job("six", 0, 10, num_gpus=6))
    found, _ = starts(jobs, [Node(n, 6) for n in "abc"])

    assert sorted(found.values())[:3] == [0, 0, 0]
    assert max(found.values()) <= 60


def test_a_job_that_nothing_hosts_takes_no_room_from_others():
    """8 x T4 are asked for while one T4 is taken; jobs for the V100 node start."""
    nodes = [Node("t", 8, gpu_type="T4"), Node("v", 8, gpu_type="V100")]
    jobs = [Job("long", 0, 5000, gpu_type="T4")]
    jobs.append(Job("t4", 1, 10, num_gpus=8, gpu_type="T4"))
    jobs += [Job(f"v{i}", 2, 10, num_gpus=8, gpu_type="V100") for i in range(3)]
    found, _ = starts(jobs, nodes)

    assert max(found[f"v{i}"] for i in range(3)) <= 60


def test_light_jobs_are_worth_opening_a_device():
    plan = solve([Item(5e-5, 0, 500)], [4], Counter())

    assert plan.together == [0]
