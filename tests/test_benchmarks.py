"""The benchmarks run, tell a regression, and say what a larger run would cost."""

import json

import pandas as pd
import pytest

from benchmarks import __main__ as program
from benchmarks.sections import Row


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


@pytest.mark.slow
def test_no_scheduler_calls_more_than_the_baseline_says():
    assert program.main(["--check"]) == 0
