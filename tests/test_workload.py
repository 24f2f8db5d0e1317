"""From settings to jobs: order, arrivals, estimates, deadlines, classes, load."""

import numpy as np
import pytest

from clusterdata.workload import (
    classes_of,
    deadlines_of,
    estimates_of,
    load_workload,
    offered_load,
)
from model.classes import JOB_CLASSES
from model.config import Settings
from model.errors import UserError
from model.job import Job

HEADER = "job_id,submit_time,duration,num_gpus,gpu_milli"


def test_the_checksum_is_that_of_the_file(tmp_path):
    import hashlib

    settings = settings_for(tmp_path, "a,5,1,1,1000")
    expected = hashlib.sha256((tmp_path / "t.csv").read_bytes()).hexdigest()

    assert load_workload(settings).checksum == expected


def settings_for(tmp_path, *lines, **asked):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return Settings(trace=str(path), num_node=1, **asked)


def test_jobs_out_of_order_are_sorted_and_that_is_said_once(tmp_path):
    workload = load_workload(
        settings_for(tmp_path, "a,5,1,1,1000", "b,3,1,1,1000", "c,1,1,1,1000")
    )

    assert [job.job_id for job in workload.jobs] == ["c", "b", "a"]
    assert len(workload.notes) == 1
    assert "out of order" in workload.notes[0]


def test_arrivals_are_the_traces_own_unless_a_mean_is_given(tmp_path):
    rows = [f"{i},{100 * i},1,1,1000" for i in range(2000)]
    own = load_workload(settings_for(tmp_path, *rows)).jobs
    drawn = load_workload(settings_for(tmp_path, *rows, interarrival_time=8.0)).jobs

    assert own[-1].submit_time == 199_900
    assert drawn[-1].submit_time / 1999 == pytest.approx(8, rel=0.1)
    assert [job.job_id for job in drawn] == [job.job_id for job in own]


def test_more_jobs_than_there_are_is_an_error(tmp_path):
    with pytest.raises(UserError, match="--num-jobs 9: .*has 1 jobs"):
        load_workload(settings_for(tmp_path, "a,0,1,1,1000", num_jobs=9))


def test_an_unknown_trace_name_gets_a_suggestion():
    with pytest.raises(UserError, match='no such file or mix .did you mean "native"'):
        load_workload(Settings(trace="nativ"))


def test_offered_load_by_hand():
    """4 jobs of 10 s on 2 GPUs of 4, every 5 s: 4 GPUs busy of 4 all the time."""
    jobs = [Job(str(i), 5 * i, 10, 2) for i in range(4)]

    assert offered_load(jobs, 4) == 1.0


def test_estimates_err_by_a_lognormal_factor_of_median_1():

    jobs = [Job(str(i), i, 100) for i in range(4000)]
    errors = np.log([seen / 100 for seen in estimates_of(jobs, 0.5, seed=1)])

    assert abs(np.median(errors)) < 0.03
    assert errors.std() == pytest.approx(0.5, rel=0.05)


def test_deadlines_are_drawn_for_jobs_without_one():
    """Submission + duration x 1.2, 2 or 10, each for about a third of the jobs."""
    jobs = [Job(f"{i}", float(i), 100.0) for i in range(3000)]
    jobs.append(Job("own", 0, 5, deadline=7.0))
    due = deadlines_of(jobs, (1.2, 2.0, 10.0), seed=4)
    slack = [
        round((d - j.submit_time) / 100, 9)
        for d, j in zip(due[:-1], jobs, strict=False)
    ]

    assert due[-1] == 7.0
    assert set(slack) == {1.2, 2.0, 10.0}
    assert all(900 < slack.count(factor) < 1100 for factor in set(slack))
    assert due == deadlines_of(jobs, (1.2, 2.0, 10.0), seed=4)


def test_deadlines_can_be_left_out(tmp_path):
    plain = load_workload(Settings(num_jobs=9, deadline_slack="off")).jobs
    drawn = load_workload(Settings(num_jobs=9)).jobs

    assert {job.deadline for job in plain} == {None}
    assert all(job.deadline > job.submit_time for job in drawn)
    assert [job.duration for job in plain] == [job.duration for job in drawn]


def test_classes_are_drawn_for_jobs_without_one():
    jobs = [Job(f"{i}", 0, 1) for i in range(2800)] + [Job("own", 0, 1, job_class="x")]
    classes = classes_of(jobs, seed=4)

    assert classes.pop() == "x"
    assert set(classes) == set(JOB_CLASSES)
    assert all(140 < classes.count(name) < 260 for name in JOB_CLASSES)
