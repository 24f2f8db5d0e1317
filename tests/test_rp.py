"""R&P: golden packing scores, the reserve, and the order of its plans."""

from dataclasses import replace
from itertools import count

import numpy as np
import pytest

from model.capacity import Capacity
from model.config import Settings
from model.fragmentation import Fragmentation
from model.held import HeldJobs
from model.job import Job, Placement, Request
from model.node import Node
from model.target import Target
from schedulers.base import World
from schedulers.queue import PendingQueue
from schedulers.registry import scheduler_class


def make(nodes, name="R&P", **asked):
    capacity = Capacity(nodes)
    fragmentation = Fragmentation(capacity, Target((Request(1, 1000),), (1,)))
    world = World(capacity, fragmentation, HeldJobs(), np.random.default_rng(0))
    return scheduler_class(name)(world, Settings(**asked))


def occupy(scheduler, used):
    for (node, gpu), milli in used.items():
        scheduler.capacity.shift(Request(1, milli), Placement(node, (gpu,)), 1)


NUMBERS = count()


def queue_of(scheduler, *jobs):
    pending = PendingQueue()
    for job in jobs:
        pending.add(job)
        unique = replace(job, job_id=f"{job.job_id} {next(NUMBERS)}")
        scheduler.arrived(unique, 0.0)
    return pending


@pytest.mark.parametrize(
    ("gpus", "used", "asks", "score"),
    [
        (4, {(0, 0): 800, (0, 3): 500}, {"num_gpus": 2}, 48),
        (4, {}, {"num_gpus": 1}, 29),
        (8, {}, {"num_gpus": 1}, 25),
        (4, {(0, 0): 800, (0, 3): 500}, {"gpu_milli": 200}, 98),
        (4, {(0, 0): 250, (0, 3): 500}, {"gpu_milli": 500}, 95),
    ],
)
def test_golden_packing_scores(gpus, used, asks, score):
    """Free [200, 1000, 1000, 500]: two whole GPUs are 50 - 2; a share of 200 lands on
    the 200 that are left, 20 %: 100 - 20 // 10."""
    scheduler = make([Node("n", gpus)], "GpuPacking")
    occupy(scheduler, used)
    request = Job("j", 0, 1, **asks).request

    assert scheduler.published(request, np.array([0])).tolist() == [score]


LARGE = Job("large", 0, 100, num_gpus=8)
SMALL = Job("small", 0, 100)


def test_the_reserve_is_the_load_share_of_large_jobs():
    """One large job of 800 GPU-s among four: 800 / 1,000 of five nodes are four; that
    is all but one. With ten more small ones it is 800 / 2,000 of five: two."""
    scheduler = make([Node(f"n{i}", 8) for i in range(5)])
    queue_of(scheduler, LARGE, *[SMALL] * 2)
    assert scheduler.reserve_size() == 4
    queue_of(scheduler, *[SMALL] * 10)
    assert scheduler.reserve_size() == 2


def test_only_nodes_for_large_jobs_are_reserved_and_an_eviction_counts_once():
    """Node c has no GPU and d has four: two can be reserved, one stays unreserved."""
    nodes = [Node("a", 8), Node("b", 8), Node("c", 0), Node("d", 4)]
    scheduler = make(nodes)
    for _ in range(3):
        scheduler.arrived(LARGE, 0.0)
    scheduler.arrived(SMALL, 0.0)
    assert scheduler.reserve_size() == 1
    scheduler.decide(queue_of(scheduler, SMALL), 0.0)
    assert scheduler.place(SMALL, 0.0)[0].node == 3
    assert not scheduler.is_large(Job("share", 0, 1, gpu_milli=200))


def test_small_jobs_leave_the_reserve_alone_and_large_ones_use_it_first():
    scheduler = make([Node(name, 8) for name in "abc"])
    pending = queue_of(scheduler, SMALL, LARGE, *[SMALL] * 14)  # a third is large
    occupy(scheduler, {(2, 0): 1})  # the highest node is not idle: b is reserved
    scheduler.decide(pending, 0.0)

    assert scheduler.place(LARGE, 0.0)[0].node == 1
    assert scheduler.place(SMALL, 0.0)[0] == (2, (1,))  # an idle device, used node
    occupy(scheduler, {(2, gpu): 999 for gpu in range(1, 8)} | {(2, 0): 998})
    assert scheduler.place(SMALL, 0.0)[0].node == 0  # an idle node
    occupy(scheduler, {(0, gpu): 1000 for gpu in range(8)})
    assert scheduler.place(SMALL, 0.0)[0].node == 1  # the reserve after all
    occupy(scheduler, {(1, 0): 700})
    assert scheduler.place(Job("s", 0, 9, gpu_milli=300), 0.0)[0] == (1, (0,))


def test_large_first_keeps_intact_reserved_nodes_while_a_large_job_waits():
    """Two nodes: a is full but for one device, b is reserved and idle. A gang of two
    large workers waits; the small job behind it goes to a, the next one waits."""
    nodes = [Node("a", 8), Node("b", 8)]
    scheduler = make(nodes, rp_queue="large-first")
    gang = Job("gang", 0, 100, num_gpus=8, num_workers=2)
    pending = queue_of(scheduler, gang, SMALL, Job("next", 0, 1))
    occupy(scheduler, {(0, gpu): 1000 for gpu in range(7)})
    decision = scheduler.decide(pending, 0.0)

    assert decision.job is SMALL
    assert decision.placements[0] == (0, (7,))
    occupy(scheduler, {(0, 7): 1000})
    pending.remove(SMALL)
    assert scheduler.decide(pending, 0.0) is None
    strict = make(nodes)
    assert strict.decide(queue_of(strict, Job("next", 0, 1), gang), 0.0) is not None


def test_without_the_reserve_it_is_gpu_packing_but_for_ties():
    scheduler = make([Node(name, 8) for name in "abc"], rp_reserve=False)
    scheduler.decide(queue_of(scheduler, LARGE), 0.0)

    assert scheduler.place(SMALL, 0.0)[0].node == 0
