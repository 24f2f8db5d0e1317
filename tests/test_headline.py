"""One scheduler against the best of its rivals, in each cell."""

import pytest
from compared import rows

from analysis import headline
from analysis.comparison import (
    MEASURES,
)
from analysis.headline import as_markdown, duels
from model.errors import UserError


def test_a_duel_is_paired_and_against_the_best_rival_of_the_cell(capsys, tmp_path):
    """X is 10 s better than FGD on each seed, though seeds differ by 800 s."""
    table = rows(FGD=[100, 900, 300], X=[90, 890, 290], Y=[400, 950, 800])
    measure = next(m for m in MEASURES if m.column == "mean_queueing_delay")
    (duel,) = duels(table, "X", [], measure)

    assert (duel.rival, duel.difference, duel.half) == ("FGD", -10, 0)
    assert duel.verdict(measure.better) == "better"
    (other,) = duels(table, "Y", ["X"], measure)
    assert (other.rival, other.verdict(measure.better)) == ("X", "even")
    text = as_markdown([duel], "X", measure)
    assert "| X: mean delay, s |" in text
    assert "1 better" in text
    with pytest.raises(UserError, match="no runs of Z"):
        duels(table, "X", ["Z"], measure)


def test_duels_that_cannot_be_fought_are_one_line(tmp_path, capsys, monkeypatch):
    path = tmp_path / "comparison.csv"

    def told(*words):
        monkeypatch.setattr("sys.argv", ["headline", *map(str, words)])
        assert headline.main() == 2
        return capsys.readouterr().err

    rows(DRR=[1.0, 2.0], FGD=[3.0, 5.0]).to_csv(path, index=False)
    asked = ["--of", "DRR", "--measure", "mean_queueing_delay"]
    assert "seed 0 is there twice" in told(path, path, *asked)
    assert "no rival of DRR" in told(path, *asked, "--rivals", "DRR")
    rows(DRR=[1.0], BestFit=[3.0]).to_csv(path, index=False)
    assert "gap_closed" in told(path, "--of", "DRR", "--measure", "gap_closed")
    path.write_bytes(b"\xff\xfe")
    assert told(path, *asked).count("\n") == 1
    path.write_text("")
    assert told(path, *asked).count("\n") == 1
