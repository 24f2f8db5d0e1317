"""ElasticFlow for jobs that scale: curves, plans, and runs."""

import numpy as np
import pytest

from model.classes import JOB_CLASSES, class_of
from model.config import Settings
from model.job import Job
from model.node import Node
from processes.simulation import Simulation
from schedulers.elastic_plans import scaling_of, with_gpus
from schedulers.scaling import Scaling, satisfactory_share

CURVE = Scaling((1, 2, 4), (1.0, 1.5, 2.0))


def test_the_papers_example():
    """Four GPUs, one is free in the first slot: 3 units need 1, then 4."""
    assert satisfactory_share(CURVE, 3.0, 1.0, np.array([1, 4])).tolist() == [1, 4]
    assert satisfactory_share(CURVE, 3.1, 1.0, np.array([1, 4])) is None


def test_low_levels_first_high_ones_as_late_as_possible():
    """4 units in three slots: 1 + 1 + 1 is too little, 1 + 1.5 + 1.5 does."""
    plan = satisfactory_share(CURVE, 4.0, 1.0, np.array([4, 4, 4]))
    assert plan.tolist() == [1, 2, 2]


def test_the_least_share_waits_as_long_as_it_can():
    """2 units at level 1 fit into the last two of five slots; what is left over in the
    first ones is shared out separately."""
    plan = satisfactory_share(CURVE, 2.0, 1.0, np.array([4] * 5))
    assert plan.tolist() == [0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("name", "gpus", "efficiency"),
    [("vgg16-b256", 2, 0.96), ("vgg16-b256", 8, 0.76), ("bert-b64", 2, 0.69)],
)
def test_curves_have_the_measured_efficiency(name, gpus, efficiency):
    """tau = .045 + .955 / 2 = .5225: 1 / .5225 / 2 = .957."""
    measured = JOB_CLASSES[name].speedup(gpus) / gpus
    assert measured == pytest.approx(efficiency, abs=0.005)


def test_what_scales_and_what_does_not():
    assert scaling_of(Job("s", 0, 1, gpu_milli=300)) == ((300,), (1.0,))
    assert scaling_of(Job("g", 0, 1, num_workers=2)).levels == (2000,)
    curve = scaling_of(Job("j", 0, 1, num_gpus=2, job_class="bert-b64"))
    assert curve.levels == (1000, 2000, 4000, 8000)
    assert curve.speeds[1] == 1.0
    assert curve.speeds[0] == pytest.approx(1 / class_of("bert-b64").speedup(2))


def test_a_form_of_a_job_keeps_its_id_and_spans_nodes_by_eights():
    job = Job("j", 0, 1, num_gpus=2, cpu_milli=3000)

    assert with_gpus(job, 16_000, 8).num_workers == 2
    assert with_gpus(job, 16_000, 8).num_gpus == 8
    assert with_gpus(job, 1000, 8).cpu_milli == 1500
    assert with_gpus(job, 2000, 8) is job


def run(jobs, nodes):
    asked = Settings(scheduler="ElasticFlow", ef_mode="elastic")
    result = Simulation(asked, jobs, nodes).run()
    return {record.job.job_id: record for record in result.records}, result


def test_a_lone_job_gets_all_it_can_use_and_ends_sooner():
    """bert-b64 asks for one GPU for 1000 s; on 8 it is 1.84 times as fast. From the
    first slot on it has all 8: 1000 x tau(8) = 524 s."""
    job = Job("j", 0, 1000, job_class="bert-b64", deadline=2000)
    records, result = run([job], [Node("n", 8)])

    assert records["j"].end_time == pytest.approx(1000 * (0.456 + 0.544 / 8))
    assert result.moves == []


def test_a_newcomer_makes_the_first_shrink_and_both_pay():
    """The second job comes at 100: at the slot of 120 the first shrinks from 8 GPUs."""
    jobs = [Job("a", 0, 1000, job_class="vgg16-b256", deadline=9000)]
    jobs.append(Job("b", 100, 1000, job_class="vgg16-b256", deadline=9000))
    records, result = run(jobs, [Node("n", 8)])

    (move, *_) = result.moves
    assert (move.time, move.job_id) == (120.0, "a")
    assert move.reason == "scales to 4 GPUs"
    assert move.cost == 2 + 2 * (1 + 2)
    assert records["b"].start_time == 120.0
    assert all(record.end_time < 1000 for record in records.values())
    assert result.measures["admitted_ratio"] == 1.0


def test_a_promise_that_cannot_be_kept_is_not_made():
    """No class is 20 times as fast on 8 GPUs; it runs best effort."""
    job = Job("j", 0, 2000, job_class="vgg16-b256", deadline=120)
    records, result = run([job], [Node("n", 8)])

    assert result.measures["admitted_ratio"] == 0.0
    assert records["j"].status == "finished"


def test_odd_sizes_and_cpu_only_jobs_run_too():
    """Three GPUs are a level of their own; a CPU-only job waits for no share."""
    jobs = [Job("a", 0, 10), Job("b", 70, 500, num_gpus=3), Job("c", 75, 5)]
    jobs.append(Job("cpu", 80, 5, num_gpus=0, gpu_milli=0))
    records, _ = run(jobs, [Node("x", 8), Node("y", 8)])

    assert all(record.status == "finished" for record in records.values())
    assert records["cpu"].start_time == 80


def test_workers_are_as_wide_as_nodes():
    """On nodes of four GPUs a level of 8 is two workers of four."""
    job = Job("j", 0, 1000, num_gpus=4, job_class="vgg16-b256", deadline=9000)
    share = Job("s", 0, 20_000, gpu_milli=500)
    records, _ = run([share, job], [Node(f"n{i}", 4) for i in range(8)])

    assert records["j"].start_time == 0.0


def test_many_displaced_admissions():
    rng = np.random.default_rng(0)
    jobs = []
    for i in range(60):
        seconds = float(rng.integers(60, 900))
        slack = float(rng.choice([1.2, 2, 5, 10]))
        at = float(20 * i)
        gpus = int(rng.choice([1, 2, 4, 8]))
        jobs.append(Job(f"{i}", at, seconds, gpus, deadline=at + slack * seconds))
    records, result = run(jobs, [Node(f"n{i}", 8) for i in range(3)])

    assert {record.status for record in records.values()} == {"finished"}
    assert 0 < result.measures["admitted_ratio"] < 1
