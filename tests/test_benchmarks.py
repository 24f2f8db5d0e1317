"""The benchmarks run, tell a regression, and say what a larger run would cost."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks import __main__ as program
from benchmarks import from_scratch
from benchmarks.sections import Row
from schedulers.drr.checkpoint import load
from schedulers.drr.policy import SHAPES


def test_a_section_leaves_table_and_figure(tmp_path, capsys):
    words = ["--quick", "--sections", "queue", "--out", str(tmp_path)]
    assert program.main(words) == 0

    table = pd.read_csv(tmp_path / "benchmarks.csv")
    assert set(table["case"]) == {"fifo", "backfill", "easy"}
    assert (table["value"] > 0).all()
    assert (tmp_path / "benchmarks.png").stat().st_size > 10_000
    assert "| queue | easy | 1,000 |" in capsys.readouterr().out


def test_an_unknown_section_is_refused(capsys):
    with pytest.raises(SystemExit) as error:
        program.main(["--sections", "speed"])

    assert error.value.code == 2
    assert "no section speed" in capsys.readouterr().err


@pytest.mark.parametrize(("calls", "code"), [(104, 0), (90, 0), (106, 1)])
def test_calls_may_grow_by_a_twentieth(tmp_path, monkeypatch, calls, code):
    baseline = tmp_path / "baseline.json"
    baseline.write_text(json.dumps({"FGD, 64 nodes": 100.0}))
    monkeypatch.setattr(program, "BASELINE", baseline)
    rows = [Row("calls", "FGD", 64, calls, "calls/job")]
    monkeypatch.setattr(program, "cost_calls", lambda quick: rows)

    assert program.main(["--check"]) == code


def test_what_was_known_at_first_is_kept_beside_what_each_episode_adds(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(from_scratch, "FIRST", 100)  # fewer than the 512 of a batch
    settings = replace(
        from_scratch.PUBLISHED, num_node=8, interarrival_time=64.0, num_jobs=1500,
        use_imitation=False, look_ahead=0,
    )  # fmt: skip
    steps = from_scratch.learn(settings, 2, tmp_path)
    known = [(label, load(file)) for label, file in steps]

    assert [label for label, _ in known] == [
        "after 100 decisions",
        "after episode 1",
        "after episode 2",
    ]
    first, one, two = (parameters for _, parameters in known)
    assert first["kappa"] == 0  # scratch knows nothing, and no batch was learned from
    assert not first["actor_out.weight"].any()
    for before, after in ((first, one), (one, two)):
        assert any(not np.array_equal(before[n], after[n]) for n in SHAPES)


@pytest.mark.slow
def test_no_scheduler_calls_more_than_the_baseline_says():
    assert program.main(["--check"]) == 0
