"""Jobs on one device slow each other down by the published fit."""

import pytest

from model.job import Job
from processes.interference import shared_speed


@pytest.mark.parametrize(
    ("own", "others", "speed"),
    [(0.5, 0.5, 0.92), (0.9, 0.1, 0.984), (0.2, 0.2, 1.0), (1.0, 0.0, 1.0)],
)
def test_speed_by_hand(own, others, speed):
    assert shared_speed(own, others) == pytest.approx(speed)


def test_a_neighbour_slows_a_job_only_while_it_is_there(run):
    """a runs 10 s alone, then at 0.92 beside b (100 s of work at 0.92 = 108.7 s)."""
    jobs = [Job("a", 0, 300, gpu_milli=500), Job("b", 10, 100, gpu_milli=500)]
    done = run(jobs, (1,), interference=True)

    together = 100 / 0.92
    assert done["b"].end_time == pytest.approx(10 + together)
    assert done["a"].end_time == pytest.approx(10 + together + 300 - 10 - 100)


def test_jobs_on_other_devices_do_not_disturb(run):
    jobs = [Job("a", 0, 300, gpu_milli=500), Job("b", 0, 100, gpu_milli=600)]
    done = run(jobs, (2,), interference=True)

    assert (done["a"].end_time, done["b"].end_time) == (300, 100)


def test_off_by_default(run):
    jobs = [Job("a", 0, 300, gpu_milli=500), Job("b", 0, 100, gpu_milli=500)]

    assert run(jobs, (1,))["a"].end_time == 300


def test_a_neighbour_that_leaves_at_once_slows_nobody(run):
    jobs = [Job("a", 0, 1000, gpu_milli=500), Job("b", 10, 0, gpu_milli=500)]
    done = run(jobs, (1,), interference=True)

    assert (done["b"].end_time, done["a"].end_time) == (10, 1000)
