"""Queue disciplines, by hand and without SimPy, and EASY's promise as a property."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import RESOURCES, job_lists, node_lists

from model.capacity import Capacity
from model.config import Settings
from model.held import Held, HeldJobs
from model.job import Job, Placement
from model.node import Node
from processes.simulation import Simulation
from schedulers.disciplines import backfill, head_blocks
from schedulers.easy import Easy
from schedulers.queue import PendingQueue, by_estimate, by_submission


def queue_of(*jobs, order=by_submission):
    queue = PendingQueue(order)
    for job in jobs:
        queue.add(job)
    return queue


def places(*job_ids):
    """Return a `place` under which only these jobs fit."""
    return lambda job, now: (Placement(0, (0,)),) if job.job_id in job_ids else None


OLD, NEW = Job("old", 0, 50, 2), Job("new", 1, 5)


def test_fifo_head_blocks_everyone():
    assert head_blocks(queue_of(OLD, NEW), places("new"), 2) is None
    assert head_blocks(queue_of(OLD, NEW), places("old", "new"), 2).job is OLD


def test_backfill_starts_the_first_that_fits():
    assert backfill(queue_of(OLD, NEW), places("new"), 2).job is NEW
    assert backfill(queue_of(OLD, NEW), places("old", "new"), 2).job is OLD
    assert backfill(queue_of(OLD, NEW), places(), 2) is None


def test_sjf_orders_by_estimate_then_submission():
    liar = Job("liar", 0, 1, estimated_duration=99.0)
    queue = queue_of(OLD, liar, NEW, Job("twin", 0.5, 5), order=by_estimate)

    assert [job.job_id for job in queue] == ["twin", "new", "old", "liar"]


def test_a_job_that_comes_back_takes_its_old_place_among_equals():
    queue, second = queue_of(Job("a", 0, 1)), Job("b", 0, 1)
    arrival = queue.add(second)
    queue.add(Job("c", 0, 1))
    queue.remove(second)
    queue.add(second, arrival)

    assert [job.job_id for job in queue] == ["a", "b", "c"]


def test_the_index_by_kind_follows_the_queue():
    queue = queue_of(OLD, NEW)
    assert queue.kinds() == [(OLD.request, 1), (NEW.request, 1)]
    third = Job("third", 2, 9)
    queue.add(third)
    queue.remove(OLD)

    assert queue.kinds() == [(NEW.request, 1)]
    assert [job for _, _, job in queue.of_kind((NEW.request, 1))] == [NEW, third]
    assert queue.milli == 2000


@pytest.fixture
def two_gpus():
    """One node of two GPUs; a job on GPU 0 is expected to end at 10."""
    capacity, held = Capacity([Node("n", 2)]), HeldJobs()
    job, placement = Job("running", 0, 10), Placement(0, (0,))
    capacity.shift(job.request, placement, 1)
    held.add(Held(job, (placement,), 10.0))
    return Easy(capacity, held)


@pytest.mark.parametrize(
    ("backfilled", "starts"),
    [
        (Job("ends in time", 1, 9), True),  # 1 + 9 = 10
        (Job("ends too late", 1, 9.5), False),  # would delay the head to 10.5
        (Job("too late, small", 1, 50, gpu_milli=100), False),
        (Job("believed short", 1, 50, estimated_duration=3.0), True),
    ],
)
def test_easy_overtakes_only_what_cannot_delay_the_head(two_gpus, backfilled, starts):
    head = Job("head", 0, 5, num_gpus=2)

    def place(job, now):
        fits = job is not head and two_gpus._capacity.open[0]
        return (Placement(0, (1,)),) if fits else None

    choice = two_gpus(queue_of(head, backfilled), place, 1.0)

    assert (choice is not None) == starts


def test_easy_leaves_what_the_head_does_not_need(two_gpus):
    """The head will take GPU 0 at 10; GPU 1 stays free, however long the job is."""
    head, long = Job("head", 0, 5), Job("long", 1, 500, gpu_milli=900)

    def place(job, now):
        fits = job is long and two_gpus._capacity.open[0]
        return (Placement(0, (1,)),) if fits else None

    two_gpus._capacity.shift(Job("x", 0, 1, gpu_milli=1).request, Placement(0, (1,)), 1)

    assert two_gpus(queue_of(head, long), place, 1.0).job is long


def test_easy_looks_elsewhere_if_the_best_place_is_reserved():
    """The head will take both GPUs of node 0; node 1 has too few for it."""
    capacity, held = Capacity([Node("a", 2), Node("b", 1)]), HeldJobs()
    job, placement = Job("running", 0, 10), Placement(0, (0,))
    capacity.shift(job.request, placement, 1)
    held.add(Held(job, (placement,), 10.0))
    head, long = Job("head", 0, 5, num_gpus=2), Job("long", 1, 500)

    def place(asked, now):
        if asked is head:
            return None
        return (Placement(0, (1,)) if capacity.open[0] else Placement(1, (0,)),)

    decision = Easy(capacity, held)(queue_of(head, long), place, 1.0)

    assert decision[:2] == (long, (Placement(1, (0,)),))
    assert capacity.open.all()  # closed for the question only


def test_reservation_of_a_gang_waits_for_its_last_worker(two_gpus):
    gang = Job("gang", 0, 5, num_workers=2)

    assert two_gpus.reserve(gang, 1.0).time == 10.0
    assert two_gpus.reserve(replace(gang, num_workers=3), 1.0).time == math.inf


@settings(max_examples=300)
@given(
    job_lists(max_jobs=20),
    node_lists,
    st.sampled_from(["BestFit", "FGD", "RandomFit"]),
    st.sampled_from(["gpu", RESOURCES]),
)
def test_easy_never_delays_the_heads_reservation(jobs, nodes, name, resources):
    jobs = [replace(job, estimated_duration=None) for job in jobs]  # exact estimates
    promised = {}
    asked = Settings(scheduler=name, queue="easy", resources=resources)
    simulation = Simulation(asked, jobs, nodes)
    easy = simulation.dispatcher.scheduler._choose
    reserve = easy.reserve

    def record(head, now):
        reservation = reserve(head, now)
        promised.setdefault(head.job_id, []).append(reservation.time)
        return reservation

    easy.reserve = record
    result = simulation.run()

    for entry in result.records:
        times = promised.get(entry.job.job_id, [])
        assert all(entry.start_time <= time < math.inf for time in times)
        assert times == sorted(times, reverse=True)  # promises only get better


@given(job_lists(max_jobs=20, typed=False), node_lists)
def test_easy_leaves_no_job_behind_however_wrong_the_estimates(jobs, nodes):
    result = Simulation(Settings(scheduler="BestFit", queue="easy"), jobs, nodes).run()

    assert {record.status for record in result.records} <= {"finished", "refused"}
