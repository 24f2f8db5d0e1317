"""Filling a cluster: the workload, the measures, the command, the published means."""

import numpy as np
import pandas as pd
import pytest
from conftest import SHARED

import run as program
from analysis.inflation import arrived_series, inflation_table, reductions
from clusterdata.inflation import inflation_jobs, shuffled_nodes
from commands.fgd_openb import TRACES
from model.job import Job
from model.node import Node


def names(jobs):
    return [job.job_id for job in jobs]


def test_clones_are_drawn_until_the_next_would_not_fit():
    """1,900 milli are asked for and 1.3 x 2,000 are the limit, so clones of 300 or
    600 follow until one would pass it; the limit is never passed."""
    jobs = [
        Job("a", 0, 1),
        Job("b", 0, 1, gpu_milli=600),
        Job("c", 0, 1, gpu_milli=300),
    ]
    for seed in range(20):
        workload = inflation_jobs(jobs, 2000, np.random.default_rng(seed))

        assert sorted(names(workload[:3])) == ["a", "b", "c"]
        assert all("-tuned-" in job.job_id for job in workload[3:])
        assert 1900 <= sum(job.total_milli for job in workload) <= 2600
        assert len(set(names(workload))) == len(workload)


def test_a_job_of_several_gpus_is_tested_with_one_of_them_as_published():
    """Room for 1,200 of 2,600: a clone of 2 x 1000 passes the test and the limit."""
    jobs = [Job("two", 0, 1, num_gpus=2)]
    rng = np.random.default_rng(0)

    assert names(inflation_jobs(jobs, 2000, rng, ratio=1.6)) == ["two", "two-tuned-0"]


def test_a_trace_that_asks_for_too_much_loses_jobs_at_random():
    jobs = [Job(f"{i}", 0, 1, gpu_milli=500) for i in range(10)]
    left = {
        tuple(sorted(names(inflation_jobs(jobs, 2000, np.random.default_rng(seed), 1))))
        for seed in range(20)
    }

    assert {len(kept) for kept in left} == {4}
    assert len(left) > 10


def test_equal_seeds_give_equal_orders_whatever_the_order_of_the_file():
    jobs = [Job(f"{i}", 0, 1) for i in range(9)]
    first = inflation_jobs(jobs, 9000, np.random.default_rng(1))

    assert first == inflation_jobs(jobs[::-1], 9000, np.random.default_rng(1))
    assert names(first) != names(inflation_jobs(jobs, 9000, np.random.default_rng(2)))
    nodes = tuple(Node(f"n{i}", 1) for i in range(9))
    assert set(shuffled_nodes(nodes, np.random.default_rng(0))) == set(nodes)


def test_cpu_only_traces_have_nothing_to_inflate():
    jobs = [Job("c", 0, 1, num_gpus=0, gpu_milli=0, cpu_milli=5)]

    assert inflation_jobs(jobs, 1000, np.random.default_rng(0)) == jobs


def test_series_by_hand():
    """Of 100,000 milli, 24,600 / 25,400 / 27,000 arrive: 25, 25 and 27 %.

    At 25: mean of 24.6 and 25.4 allocated. 26 has no event of its own: mean of all.
    """
    events = pd.DataFrame(
        {
            "arrived": [24_600, 25_400, 27_000],
            "allocated": [24_600, 25_400, 25_400],
            "fragment": [10_000, 20_000, 30_000],
        }
    )
    series = arrived_series(events, 100_000).set_index("arrived_pct")

    assert series["alloc_pct"][[25, 26, 27]].tolist() == [25.0, 25.13, 25.4]
    assert series["frag_total_pct"][[25, 26, 27]].tolist() == [15.0, 20.0, 30.0]
    # 10,000 / 75,400 = 13.26 %, 20,000 / 74,600 = 26.81 %, 30,000 / 74,600 = 40.21 %
    assert series["frag_idle_pct"][[25, 27]].tolist() == [20.035, 40.21]
    assert series.loc[100].isna().all()


def test_reduction_by_hand():
    """FGD leaves 4 % and a rival 10 %: 60 % less."""
    series = pd.DataFrame(
        {
            "policy": ["FGD", "DotProd"],
            "trace": "mine",
            "seed": 0,
            "arrived_pct": 100,
            "alloc_pct": [96.0, 90.0],
            "frag_total_pct": 1.0,
            "frag_idle_pct": 2.0,
        }
    )
    reduced = reductions(inflation_table(series))

    assert reduced["reduction_pct"].round(9).tolist() == [60.0]
    assert reduced["published_pct"].isna().all()


@pytest.fixture
def tiny(tmp_path):
    """Ten pods on two nodes, in openb's format."""
    pods = ["name,cpu_milli,memory_mib,num_gpu,gpu_milli"]
    pods += [f"p{i},1000,10,1,{400 + 50 * i}" for i in range(10)]
    (tmp_path / "openb_pod_list_tiny.csv").write_text("\n".join(pods) + "\n")
    (tmp_path / "openb_node_list_gpu_node.csv").write_text(
        "sn,cpu_milli,memory_mib,gpu,model\nb,64000,999,4,T4\na,64000,999,4,T4\n"
    )
    return tmp_path


def compare(tiny, *words):
    fixed = ["--experiment", "fgd-openb", "--traces", "tiny", "--data", str(tiny)]
    return program.main(["compare", *fixed, "--out", str(tiny / "out"), *words])


def test_the_experiment_writes_series_figure_and_table(tiny, capsys):
    assert compare(tiny, "--seeds", "2") == 0
    printed = capsys.readouterr().out
    series = pd.read_csv(tiny / "out/fgd-openb/fgd_openb.csv")

    assert list(series.columns) == [
        "policy", "trace", "seed", "arrived_pct", "alloc_pct", "frag_total_pct",
        "frag_idle_pct",
    ]  # fmt: skip
    assert len(series) == 6 * 2 * 131
    assert (tiny / "out/fgd-openb/fgd_openb_tiny.png").stat().st_size > 10_000
    assert "GpuClustering" in printed
    assert "reduction_pct" in printed


def test_processes_change_nothing_but_the_time(tiny):
    for workers in "1", "2":
        assert compare(tiny, "--workers", workers, "--name", workers) == 0
    one, two = (tiny / f"out/{name}/fgd_openb.csv" for name in "12")

    assert one.read_bytes() == two.read_bytes()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--traces", "defualt"], 'did you mean "default"?'),
        (["--traces", "default"], "has no openb_pod_list_default.csv"),
        (["--experiment", "fgd"], "must be fgd-openb"),
        (["--seeds", "none"], "a range (200-204)"),
        (["--workers", "-2"], "must be at least 0"),
    ],
)
def test_what_cannot_be_is_one_line(tiny, capsys, words, expected):
    assert compare(tiny, *words) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1


@pytest.mark.slow
def test_our_own_orders_give_the_published_means(openb, tmp_path):
    """Three seeds of all traces and policies: allocation at 100 % arrived is within 0.3
    points of the published mean or, as seeds differ by up to a point, within three
    standard errors; over all traces each policy is within 0.15."""
    words = ["compare", "--experiment", "fgd-openb", "--traces", ",".join(TRACES)]
    words += ["--seeds", "3", "--data", str(openb), "--out", str(tmp_path)]
    assert program.main(words) == 0
    series = pd.read_csv(tmp_path / "fgd-openb/fgd_openb.csv")
    table = inflation_table(series).set_index(["trace", "policy"])
    published = pd.read_csv(SHARED / "fgd" / "published_openb.csv")
    published = published.query("metric == 'alloc_pct' and arrived_pct == 100")
    trace = published["trace"].str.removeprefix("openb_pod_list_")
    sd = published.assign(trace=trace).set_index(["trace", "policy"])["sd"]
    off = table["alloc_pct"] - table["alloc_pct_published"]
    standard_error = sd.reindex(off.index) * (1 / 3 + 1 / 10) ** 0.5

    assert len(table) == 17 * 6
    assert off[off.abs() > np.maximum(0.3, 3 * standard_error)].empty
    assert off.groupby("policy").mean().abs().max() < 0.15
    reduced = reductions(table.loc[["default"]].reset_index())
    assert (reduced["reduction_pct"] - reduced["published_pct"]).abs().max() <= 3
