"""Every measure by hand on a run of a few jobs; `test_brute_force` has larger ones."""

import numpy as np
import pytest

from analysis.metrics import summarize
from analysis.run_folder import read_run, run_of, write_run
from model.config import Settings
from model.errors import UserError
from model.job import Job, Request
from model.node import Node, NodeChange
from model.target import Target


def config(capacity, **settings):
    base = Settings(scheduler="FirstFit", warm_up=0.0).as_dict()
    return {
        "settings": {**base, **settings},
        "capacity": {"gpu_milli": capacity},
        "offered_load": 0.5,
        "in_order": True,
    }


def summary_of(result, capacity, **settings):
    frames = result.jobs_frame(), result.samples, result.moves_frame()
    return summarize(*frames, config(capacity, **settings))


def test_measures_by_hand(simulation):
    """Two nodes of 1 GPU. a: 0-10, b: 0-20, c waits 8 s, d (2 GPUs) is refused."""
    jobs = [
        Job("a", 0, 10, user="u", deadline=10.0),
        Job("b", 0, 20, user="v", deadline=19.0),
        Job("c", 2, 5, user="u"),
        Job("d", 5, 1, num_gpus=2),
    ]
    summary = summary_of(simulation(jobs, (1, 1)).run(), 2000)

    assert [summary[name] for name in ("jobs", "finished", "refused")] == [4, 3, 1]
    assert summary["mean_queueing_delay"] == pytest.approx(8 / 3)
    assert summary["max_queueing_delay"] == 8
    assert summary["mean_jct"] == pytest.approx((10 + 20 + 13) / 3)
    # c is shorter than 10 s and counts as 10: its slowdown is 13 / 10
    assert summary["mean_bounded_slowdown"] == pytest.approx((1 + 1 + 1.3) / 3)
    assert summary["makespan"] == 20
    assert summary["throughput"] == pytest.approx(3 / 20 * 3600)
    # users' mean slowdowns are 1.15 and 1
    assert summary["jain_index"] == pytest.approx(2.15**2 / (2 * (1.15**2 + 1)))
    assert summary["deadlines_met"] == 0.5
    assert summary["allocation_ratio"] == 1.0  # while the load lasts: from 0 to 2
    assert summary["pooled_mean_queueing_delay"] == pytest.approx(8 / 3)
    assert summary["blocked_seconds"] == 0


def test_stranded_capacity_is_what_the_head_could_use_if_it_were_in_one_place(
    simulation,
):
    """From 1 to 10 the head asks for 2 GPUs; two are free, on two nodes."""
    jobs = [
        Job("a", 0, 10),
        Job("b", 0, 20),
        Job("c", 1, 5, num_gpus=2),
        Job("d", 21, 1),
    ]
    summary = summary_of(simulation(jobs, (2, 2), scheduler="WorstFit").run(), 4000)

    assert summary["blocked_seconds"] == 9
    assert summary["stranded_ratio"] == pytest.approx(9 * 2000 / (21 * 4000))


def test_fragmentation_and_scatter_by_hand(simulation):
    """One job of 300 on nodes of 2 and 1 GPUs; the only kind of job asks for a GPU.

    Free are 2,700 milli, of which the 700 are a fragment; one whole GPU is on a node
    that is not wholly free.
    """
    target = Target((Request(1, 1000),), (1,))
    jobs = [Job("a", 0, 10, gpu_milli=300), Job("b", 10, 1, gpu_milli=300)]
    summary = summary_of(simulation(jobs, (2, 1), target=target).run(), 3000)

    assert summary["fragmentation_ratio"] == pytest.approx(700 / 2700)
    assert summary["fragmentation_of_total"] == pytest.approx(700 / 3000)
    assert summary["scattered_ratio"] == pytest.approx(1000 / 2700)
    assert summary["mean_partial_nodes"] == 1
    assert summary["mean_busy_nodes"] == 1
    assert summary["busy_gpu_ratio"] == pytest.approx(1 / 3)


def test_quantiles_by_hand(simulation):
    """101 jobs of 1 s on one GPU wait 0, 1, ..., 100 s."""
    jobs = [Job(str(i), 0, 1) for i in range(101)]
    summary = summary_of(simulation(jobs, (1,)).run(), 1000)

    waits = [summary[f"p{percent}_queueing_delay"] for percent in (50, 95, 99)]
    assert waits == [50, 95, 99]
    assert summary["p95_jct"] == 96


def test_a_job_that_waits_for_cpu_is_not_blocked_by_fragmentation(simulation):
    nodes = [Node("n", 8, 1000, 10)]
    jobs = [Job(i, 0, 10, cpu_milli=1000) for i in "ab"]
    sim = simulation(jobs, nodes=nodes, resources="gpu,cpu,memory")

    assert summary_of(sim.run(), 8000)["blocked_seconds"] == 0


def test_a_job_that_never_ends_misses_its_deadline(simulation):
    jobs = [Job("a", 0, 10, deadline=50.0), Job("b", 6, 1, deadline=60.0)]
    sim = simulation(jobs, (1,), changes=[NodeChange(10, 0, "leave")])
    summary = summary_of(sim.run(), 1000)

    assert summary["deadlines_met"] == 0.5
    assert np.isnan(summary["pooled_mean_queueing_delay"])  # no bound for such a run


def test_what_moves_cost_by_hand(simulation):
    """One of two jobs of 1000 GPU-s is moved for 40 GPU-s, at 100 s."""
    jobs = [Job("a", 0, 1000), Job("b", 0, 1000)]
    rounds = {"use_rescheduling": True, "re_time": 100.0, "util_threshold": 0.9}
    run = simulation(jobs, (2, 2), scheduler="WorstFit", migration_cost="40", **rounds)
    measures = summary_of(run.run(), 4000)

    assert (measures["moves"], measures["max_moves_per_job"]) == (1, 1)
    assert (measures["moved_gpu_seconds"], measures["moved_share"]) == (40, 0.02)


def test_refused_jobs_do_not_steer_fgd(simulation):
    jobs = [Job("small", 0, 1, gpu_milli=300), Job("huge", 0, 1, 9, num_workers=9000)]
    sim = simulation(jobs, (2,))

    assert sim.fragmentation.weight == 1  # the small one's kind alone


def test_warm_up_leaves_the_first_jobs_out(simulation):
    jobs = [Job(str(i), 0, 10) for i in range(5)]
    summary = summary_of(simulation(jobs, (1,)).run(), 1000, warm_up=0.4)

    assert summary["mean_queueing_delay"] == 30  # of 20, 30, 40
    assert summary["pooled_mean_queueing_delay"] == 30


def test_a_run_folder_reads_back_as_it_was_written(simulation, tmp_path):
    result = simulation([Job("007", 0.1, 1 / 3, user="NA"), Job("8", 1, 2)], (1,)).run()
    timing = {"wall_seconds": 1.0}
    run = run_of(tmp_path / "x" / "y", config(1000), result, timing)
    write_run(run)
    again = read_run(tmp_path / "x" / "y")

    assert again.jobs["job_id"].tolist() == ["007", "8"]
    assert again.jobs["user"][0] == "NA"
    assert again.jobs["duration"].tolist() == [1 / 3, 2]
    assert again.summary["mean_jct"] == run.summary["mean_jct"]
    frames = again.jobs, again.cluster, again.moves
    assert summarize(*frames, again.config)["mean_jct"] == run.summary["mean_jct"]
    assert not (tmp_path / "x" / "y.partial").exists()


def test_an_incomplete_run_folder_is_named(tmp_path):
    with pytest.raises(UserError, match="is no complete run"):
        read_run(tmp_path)


def test_a_folder_that_cannot_be_written_is_a_users_error(simulation, tmp_path):
    result = simulation([Job("a", 0, 1)], (1,)).run()
    (tmp_path / "file").write_text("")

    with pytest.raises(UserError, match="cannot write"):
        write_run(run_of(tmp_path / "file" / "run", config(1000), result, {}))
