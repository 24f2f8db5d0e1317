"""`run.py train`: goes on where it stopped, and says what it cannot do."""

import json
from dataclasses import replace

import numpy as np
import pytest
from safetensors import safe_open

from processes.simulation import Simulation
from schedulers.drr.checkpoint import load
from schedulers.drr.policy import fresh

pytest.importorskip("torch")


def test_training_goes_on_where_it_stopped(cli, tmp_path):
    words = ["train", "--num-jobs", "300", "--episodes", "1", "--workers", "1"]
    words += ["--validation", "1"]
    code, _, error = cli(*words, "--rounds", "2", "--name", "whole")
    assert code == 0, error
    cli(*words, "--rounds", "1", "--name", "parts")
    code, _, error = cli(*words, "--rounds", "2", "--name", "parts", "--resume")
    assert code == 0, error

    whole, parts = tmp_path / "runs" / "whole", tmp_path / "runs" / "parts"
    for name in ("latest.safetensors", "rounds.json"):
        assert (whole / name).read_bytes() == (parts / name).read_bytes(), name
    code, _, error = cli(*words, "--rounds", "1", "--name", "whole")
    assert (code, "choose a --name, or --resume" in error) == (2, True)
    code, _, error = cli(*words, "--name", "none", "--resume")
    assert (code, "no training that could go on" in error) == (2, True)


def test_training_on_one_size_from_a_scorer_of_that_size(cli, tmp_path):
    short = ["train", "--num-jobs", "300", "--workers", "1", "--sizes", "32"]
    short += ["--validation", "1"]
    words = ["--stage", "scorer", "--population", "6", "--rounds", "1"]
    code, _, error = cli(*short, *words, "--name", "scorer")
    assert code == 0, error
    scorer = tmp_path / "runs" / "scorer" / "tuned.json"
    words = ["--teacher", str(scorer), "--episodes", "1", "--rounds", "1"]
    code, _, error = cli(*short, *words, "--name", "policy")
    assert code == 0, error

    rounds = json.loads((scorer.parents[1] / "policy" / "rounds.json").read_text())
    assert [len(row["delays"]) for row in rounds] == [2, 2]  # 32 nodes, two mixes
    with safe_open(scorer.parents[1] / "policy" / "best.safetensors", "numpy") as file:
        about = json.loads(file.metadata()["about"])
    assert about["command"].endswith(f"--sizes 32 --teacher {scorer}")
    assert json.loads(scorer.read_text())["command"].endswith("--sizes 32")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--rounds -1", "--rounds -1: must be 0 to"),
        ("--population 3", "--population 3: must be 6 to"),
        ("--validation 0", "--validation 0: must be 1 to 20"),
        ("--look-ahead 1", "--look-ahead 1: must be at least 2"),
        ("--sizes 32,63", "--sizes 32,63: must be among 32, 64, 128"),
        ("--teacher Nobody", "--teacher Nobody: must be one of"),
        ("--queue sjf", "train: fifo, GPUs only"),
        ("--stage scorer --resume", "tuned in one go"),
    ],
)
def test_what_cannot_be_trained_with_is_said_at_once(cli, words, told):
    code, _, error = cli("train", *words.split())

    assert (code, error.count("\n")) == (2, 1)
    assert told in error


def test_a_training_without_attention_trains_none(cli, tmp_path):
    words = ["train", "--num-jobs", "600", "--workers", "1", "--sizes", "32"]
    words += ["--validation", "1", "--episodes", "1", "--target-load", "6"]
    words += ["--look-ahead", "2", "--use-attn", "False", "--rounds", "1"]
    code, _, error = cli(*words, "--name", "mean")
    assert code == 0, error
    start = fresh(np.random.default_rng(0))
    trained = load(tmp_path / "runs" / "mean" / "latest.safetensors")
    assert (trained["node.weight"] != start["node.weight"]).any()
    decayed = trained["query.weight"] / start["query.weight"]  # by AdamW, no more
    assert np.ptp(decayed) < 1e-3

    words[-1] = "2"
    code, _, error = cli(*words, "--name", "mean", "--resume", "--look-ahead", "3")
    assert (code, "is of run.py train" in error) == (2, True)
    assert "--look-ahead 2" in error


def test_a_training_that_is_interrupted_judges_nothing(cli, tmp_path, monkeypatch):
    original = Simulation.run
    cut = {"interrupted": True}
    monkeypatch.setattr(Simulation, "run", lambda self: replace(original(self), **cut))
    words = ["train", "--num-jobs", "300", "--workers", "1", "--validation", "1"]
    code, _, _ = cli(*words, "--rounds", "0", "--name", "cut")

    assert code == 130
    assert not (tmp_path / "runs" / "cut" / "best.safetensors").exists()
