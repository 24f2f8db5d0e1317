"""A job's life: what it asks, when it starts, what interrupts it."""

import pytest

from model.errors import UserError
from model.job import Job
from processes.progress import Evicted, Migrated, Paced, Progress


def test_job_runs_for_its_duration_once_it_has_a_gpu(run):
    done = run([Job("a", 3, 10)], gpus_per_node=(1,))

    assert (done["a"].start_time, done["a"].end_time) == (3, 13)
    assert done["a"].placements == ((0, (0,)),)


def test_gang_of_devices_starts_whole_or_not_at_all(run):
    done = run([Job("solo", 0, 10), Job("two", 0, 5, num_gpus=2)], gpus_per_node=(2,))

    assert done["two"].start_time == 10  # one free GPU is no use to it


def test_shares_run_side_by_side_until_the_device_is_full(run):
    thirds = [Job(f"s{i}", 0, 10, gpu_milli=300) for i in range(4)]
    done = run(thirds, gpus_per_node=(1,))

    assert [done[f"s{i}"].start_time for i in range(4)] == [0, 0, 0, 10]


def test_two_shares_of_0_6_never_run_on_one_device_nor_across_two(run):
    """A share is all on one device, though two half-free ones would add up."""
    done = run([Job(i, 0, 10, gpu_milli=600) for i in "abc"], gpus_per_node=(2,))

    assert [done[i].start_time for i in "abc"] == [0, 0, 10]


def test_workers_of_a_gang_start_together_on_different_nodes(run):
    jobs = [Job("first", 0, 7), Job("gang", 1, 5, num_gpus=2, num_workers=2)]
    done = run(jobs, gpus_per_node=(2, 2))

    assert done["gang"].start_time == 7  # until then only one worker would fit
    assert [node for node, _ in done["gang"].placements] == [0, 1]


def test_zero_duration_job_starts_and_ends_at_once_and_frees_its_gpu(run):
    done = run([Job("z", 2, 0), Job("a", 2, 5)], gpus_per_node=(1,))

    assert done["z"].start_time == done["z"].end_time == 2
    assert done["a"].start_time == 2


def test_cpu_only_job_touches_no_gpu(run):
    done = run(
        [Job("gpu", 0, 10), Job("cpu", 0, 10, num_gpus=0, gpu_milli=0)],
        gpus_per_node=(1,),
    )

    assert done["cpu"].start_time == 0
    assert done["cpu"].placements == ((0, ()),)


def test_completion_comes_before_an_arrival_of_the_same_instant(run):
    done = run([Job("a", 0, 10), Job("b", 10, 1)], gpus_per_node=(1,))

    assert done["b"].start_time == 10


def test_arrival_is_never_seen_before_it_was_submitted(run):
    """0.3 + (1.1 - 0.3) < 1.1: relative timeouts would start it too early."""
    done = run([Job("a", 0.3, 5), Job("b", 1.1, 5)], gpus_per_node=(2,))

    assert done["b"].start_time == 1.1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"duration": -1}, "duration -1 must be finite and at least 0"),
        ({"duration": float("nan")}, "duration nan must be finite"),
        ({"submit_time": float("inf")}, "submit_time inf must be finite"),
        ({"submit_time": -1}, "submit_time -1 must be finite and at least 0"),
        ({"gpu_milli": 1500}, "gpu_milli 1500 must be at most 1000"),
        ({"num_gpus": 2, "gpu_milli": 500}, "gpu_milli 500 must be 1000 with several"),
        ({"num_gpus": 0}, "gpu_milli 1000 and num_gpus must both be 0 or neither"),
        ({"num_gpus": -1}, "num_gpus -1 must be at least 0"),
        ({"num_workers": 0}, "num_workers 0 must be at least 1"),
        ({"estimated_duration": -2}, "estimated_duration -2 must be finite"),
    ],
)
def test_a_job_that_makes_no_sense_says_what_is_wrong(values, message):
    with pytest.raises(ValueError, match="job x: ") as error:
        Job(**{"job_id": "x", "submit_time": 0, "duration": 1, **values})

    assert message in str(error.value)


def test_progress_conserves_work_through_any_disturbance():
    progress = Progress(Job("a", 0, 100), process=None)
    progress.advance(30)  # 70 left
    progress.disturb(Migrated(cost=40))
    assert progress.left == 110
    progress.advance(50)  # the pause, then 10 s of work
    assert progress.left == 60
    progress.disturb(Paced(speed=0.5))
    assert progress.left == 120
    progress.advance(20)  # 10 s of work
    progress.disturb(Evicted(cost=7, saved_every=15))  # 50 s done, 45 of them saved
    assert (progress.work, progress.pause, progress.moves) == (55, 7, 2)
    assert progress.lost_seconds == 5


def test_two_pauses_add_up():
    progress = Progress(Job("a", 0, 100), process=None)
    progress.disturb(Migrated(cost=40))
    progress.disturb(Migrated(cost=40))

    assert progress.left == 180


def test_all_disturbances_of_one_instant_arrive(simulation):
    """A change of pace is still on its way when the eviction is sent."""
    sim = simulation([Job("a", 0, 10)], (1,))

    def disturb():
        yield sim.env.timeout(4)
        sim.dispatcher.disturb("a", Paced(0.5))
        sim.dispatcher.disturb("a", Evicted(3))
        sim.dispatcher.disturb("a", Paced(0.25))  # too late: it is being evicted

    sim.env.process(disturb())
    (record,) = sim.run().records

    assert record.end_time == 4 + 3 + 6 / 0.5
    assert record.moves == 1


def test_eviction_never_loses_more_work_than_was_done():
    progress = Progress(Job("a", 0, 100), process=None)
    progress.advance(3)
    progress.disturb(Evicted(cost=0, saved_every=0))

    assert (progress.work, progress.lost_seconds) == (100, 3)
    progress.advance(3)
    progress.disturb(Evicted(cost=0))
    assert progress.work == 97


def test_two_jobs_of_one_id_are_refused_in_python_too(simulation):
    with pytest.raises(UserError, match="job id a appears twice"):
        simulation([Job("a", 0, 1), Job("a", 5, 1)], (1,))
