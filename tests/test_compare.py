"""Comparing schedulers: pairing, intervals, winners, and what is never run twice."""

import json
from dataclasses import replace

import pandas as pd
import pytest
from compared import rows

import run as program
from analysis.comparison import (
    compare,
    interval,
    paired_difference,
    with_gaps,
)
from commands.compare import cell, run_cells
from commands.variants import read_variants
from model.config import Settings
from model.errors import UserError
from processes.simulation import Simulation


def test_gap_is_taken_seed_by_seed_against_fgd():
    """FGD 110 and 210, pool 10: X at 60 and 60 closes 50/100 and 150/200."""
    gaps = with_gaps(rows(FGD=[110, 210], X=[60, 60])).query("scheduler == 'X'")

    assert gaps["gap_closed"].tolist() == [0.5, 0.75]


def test_paired_differences_cancel_what_seeds_share():
    """Differences are -10 each time, whatever the seed: half width 0."""
    table = rows(FGD=[100, 900, 300], X=[90, 890, 290])

    by_seed = table.pivot(
        index="seed", columns="scheduler", values="mean_queueing_delay"
    )
    assert paired_difference(by_seed, "X", "FGD") == (-10.0, 0.0)
    assert interval(table.query("scheduler == 'X'")["mean_queueing_delay"])[1] > 500


def test_a_winner_beats_each_other_one_beyond_the_interval():
    def winners(**delays):
        table = rows(**delays)
        for column in ("p99_queueing_delay", "mean_jct", "allocation_ratio",
                       "fragmentation_ratio", "stranded_ratio", "deadlines_met",
                       "moves_per_job", "moved_share", "decision_ms_p50"):  # fmt: skip
            table[column] = 1.0
        (lines,) = compare(table).values()
        return [line.scheduler for line in lines if line.wins[0]]

    assert winners(FGD=[100, 900, 300], X=[90, 890, 290]) == ["X"]
    assert winners(FGD=[100, 900, 300], X=[90, 910, 290]) == []


def run(tmp_path, *words):
    small = ["--num-jobs", "150", "--num-node", "4", "--traces", "native"]
    fixed = ["compare", *small, "--seeds", "100-101", "--out", str(tmp_path)]
    return program.main([*fixed, *words])


def test_a_comparison_writes_its_tables_and_repeats_no_run(tmp_path, capsys):
    names = ["--schedulers", "FGD,FGD+resched,R&P", "--workers", "1"]
    assert run(tmp_path, *names) == 0
    first = capsys.readouterr()
    assert run(tmp_path, *names) == 0
    second = capsys.readouterr()

    folder = tmp_path / "compare"
    table = pd.read_csv(folder / "comparison.csv")
    assert table.groupby("scheduler")["seed"].apply(list).to_dict() == {
        "FGD": [100, 101], "FGD+resched": [100, 101], "R&P": [100, 101],
    }  # fmt: skip
    assert "gap_closed" not in table
    assert "6 runs are there already" in second.err
    assert "there already" not in first.err
    assert "| FGD+resched |" in first.out
    assert r"R\&P & " in (folder / "comparison.tex").read_text()
    assert first.out == second.out


def test_who_asks_for_very_many_seeds_is_told(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("commands.compare.as_done", lambda *arguments: iter([]))
    cells = [cell("FGD", Settings(seed=seed), tmp_path) for seed in range(101)]
    with pytest.raises(FileNotFoundError):  # nothing was run
        run_cells(cells, 101, tmp_path, 1)
    assert "101 runs to do, of 101 seeds" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError):
        run_cells(cells[1:], 100, tmp_path, 1)
    assert "to do" not in capsys.readouterr().err


@pytest.mark.parametrize("name", ["trace", "node_list", "init_from", "teacher"])
def test_a_run_is_repeated_once_a_file_that_it_reads_has_changed(tmp_path, name):
    path = tmp_path / "file"
    path.write_text("as it was")
    settings = Settings(**{name: str(path)})
    before = cell("DRR", settings, tmp_path).path

    assert cell("DRR", settings, tmp_path).path == before
    path.write_text("as it is")
    assert cell("DRR", settings, tmp_path).path != before


def test_the_number_of_workers_changes_only_timings(tmp_path):
    for workers in "1", "2":
        words = ["--workers", workers, "--name", workers]
        assert run(tmp_path, "--schedulers", "BestFit", *words) == 0
    one, two = (pd.read_csv(tmp_path / f"{name}/comparison.csv") for name in "12")
    timings = ["wall_seconds", "jobs_per_second", "decision_ms_p50",
               "decision_ms_p99", "peak_rss_mib"]  # fmt: skip

    pd.testing.assert_frame_equal(one.drop(columns=timings), two.drop(columns=timings))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--schedulers", "FGD+planer=useful"], 'did you mean "planner"'),
        (["--schedulers", "FGD+re_num=few"], "'few' is no int"),
        (["--schedulers", "FGD+seed=3"], "+seed=3 is no option=value"),
        (["--schedulers", "FGDD"], 'did you mean "FGD"'),
        (["--traces", "nativ"], "no such file or mix"),
    ],
)
def test_what_cannot_be_compared_is_one_line(tmp_path, capsys, words, message):
    assert run(tmp_path, *words, "--workers", "1") == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("queue", ["easy", "backfill", "sjf"])
def test_without_a_bound_no_gap_is_said_to_be_closed(tmp_path, capsys, queue):
    words = ["--schedulers", "FGD,BestFit", "--queue", queue, "--workers", "1"]
    assert run(tmp_path, *words) == 0
    table = pd.read_csv(next(tmp_path.rglob("comparison.csv")))

    assert table["pooled_mean_queueing_delay"].isna().all()
    assert "BestFit" in capsys.readouterr().out


def test_a_changed_trace_file_is_run_again(tmp_path, capsys):
    trace = tmp_path / "t.csv"
    for seconds in 100, 9000:
        rows = [f"{i},{i},{seconds},1,1000" for i in range(200)]
        head = "job_id,submit_time,duration,num_gpus,gpu_milli"
        trace.write_text("\n".join([head, *rows]) + "\n")
        words = ["compare", "--trace", str(trace), "--schedulers", "FGD", "--seeds"]
        words += ["1", "--num-node", "1", "--out", str(tmp_path), "--workers", "1"]
        assert program.main(words) == 0
        assert "there already" not in capsys.readouterr().err


def test_values_with_commas_and_the_recommended_setting():
    variants = dict(
        read_variants(
            "FGD+migration_cost=40,60,FGD+recommended+min_benefit=3", Settings()
        )
    )

    assert [v.migration_cost for v in variants.values()] == ["40,60", "40,60"]
    assert [v.min_benefit for v in variants.values()] == [32.0, 3.0]
    assert [v.use_rescheduling for v in variants.values()] == [False, True]


def test_a_comparison_that_is_interrupted_keeps_no_half_run(tmp_path, monkeypatch):
    original = Simulation.run
    cut = {"interrupted": True}
    monkeypatch.setattr(Simulation, "run", lambda self: replace(original(self), **cut))
    words = ["--schedulers", "FGD", "--workers", "1"]

    assert run(tmp_path, *words) == 130
    assert not [*(tmp_path / "compare").rglob("*.json")]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"interrupted": true}'])
def test_a_run_whose_file_is_damaged_is_done_again(tmp_path, text):
    words = ["--schedulers", "FGD", "--workers", "1"]
    assert run(tmp_path, *words) == 0
    path, *_ = (tmp_path / "compare" / "cells").iterdir()
    before = summary_of(path)
    path.write_text(text)
    assert run(tmp_path, *words) == 0
    assert summary_of(path) == before


def summary_of(path):
    measures = json.loads(path.read_text())
    return {name: measures[name] for name in ("mean_queueing_delay", "seed", "moves")}


def test_traces_of_one_name_are_told_apart(tmp_path, capsys):
    head = "job_id,submit_time,duration,num_gpus,gpu_milli\n"
    paths = []
    for folder in "ab":
        path = tmp_path / folder / "jobs.csv"
        path.parent.mkdir()
        path.write_text(head + "x,0,10,1,1000\n")
        paths.append(str(path))
    words = ["compare", "--schedulers", "FGD,BestFit", "--seeds", "2", "--workers", "1"]
    words += ["--num-node", "2", "--out", str(tmp_path)]

    assert program.main([*words, "--traces", ", ".join(paths)]) == 0
    table = pd.read_csv(tmp_path / "compare" / "comparison.csv")
    assert set(table["trace"]) == set(paths)
    assert program.main([*words, "--traces", ",".join([paths[0], paths[0]])]) == 0
    table = pd.read_csv(tmp_path / "compare" / "comparison.csv")
    assert set(table["trace"]) == {"jobs.csv"}
    assert len(table) == 4
    options = {"--num-jobs": "50", "--trace": "native"}
    asked = [word for pair in options.items() for word in pair]
    assert program.main([*words, *asked]) == 0
    table = pd.read_csv(tmp_path / "compare" / "comparison.csv")
    assert set(table["trace"]) == {"native"}
    for name in ("--seed", "--scheduler"):
        assert program.main([*words, name, "1"]) == 2
        assert f"{name}: compare takes {name}s" in capsys.readouterr().err


def test_what_recommended_means_cannot_be_contradicted():
    recommended = Settings(rescheduler="recommended")
    for text in ("FGD+recommended+use_rescheduling=False",
                 "FGD+recommended+reschedule_trigger=periodic"):  # fmt: skip
        with pytest.raises(UserError, match="--rescheduler recommended means"):
            read_variants(text, Settings())
    ((_, both),) = read_variants("FGD+recommended+reschedule_trigger=both", Settings())
    assert both.reschedule_trigger == "both"
    words = ["--rescheduler", "recommended", "--use-rescheduling", "False"]
    assert program.main(["--num-jobs", "9", *words]) == 2
    assert recommended.use_rescheduling
