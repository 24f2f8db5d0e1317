"""What a run leaves behind: whole, in its place, the same for the same settings."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import run as program
from analysis.run_folder import read_run

ROOT = Path(__file__).parents[1]
SMALL = ["--num-jobs", "60", "--num-node", "2"]


def test_a_run_prints_a_table_and_leaves_a_folder(cli, tmp_path):
    code, out, err = cli(*SMALL, "--scheduler", "fgd,best_fit", "--name", "x")

    assert (code, err) == (0, "")
    assert "pooled bound" in out
    assert "gap closed" in out
    runs = sorted(path.name for path in (tmp_path / "runs").iterdir())
    assert runs == ["x-bestfit", "x-fgd", "x-overview.png"]
    folder = tmp_path / "runs" / "x-fgd"
    assert sorted(path.name for path in folder.iterdir()) == [
        "cluster.csv", "config.json", "jobs.csv", "moves.csv", "summary.json",
        "timing.json",
    ]  # fmt: skip
    assert read_run(folder).summary["jobs"] == 60


def test_jobs_no_node_can_host_are_refused_counted_and_listed(cli, tmp_path):
    """A fifo head that can never start must not hang the run."""
    trace = tmp_path / "t.csv"
    trace.write_text(
        "job_id,submit_time,duration,num_gpus,gpu_milli\n"
        "huge,0,5,9,1000\nfine,1,5,8,1000\n"
    )
    code, out, _ = cli("--trace", str(trace), "--num-node", "1", "--name", "r")
    jobs = read_run(tmp_path / "runs" / "r-fgd").jobs.set_index("job_id")

    assert code == 0
    assert "2 jobs (1 refused)" in out
    assert jobs.loc["huge", "status"] == "refused"
    assert jobs.loc["huge", "reason"] == "no empty node can host 9 x 1000 milli-GPU"
    assert jobs.loc["fine", "start_time"] == 1


def test_a_trace_of_refused_jobs_only_still_ends(cli, tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text(
        "job_id,submit_time,duration,num_gpus,gpu_milli\nhuge,0,5,9,1000\n"
    )
    code, out, _ = cli("--trace", str(trace), "--num-node", "1")

    assert code == 0
    assert "1 jobs (1 refused)" in out


def test_a_name_never_replaces_what_is_no_run_or_a_run_with_other_settings(
    cli, tmp_path
):
    words = [*SMALL, "--scheduler", "FGD", "--name", "r"]
    assert cli(*words)[0] == 0
    before = (tmp_path / "runs" / "r" / "jobs.csv").read_bytes()
    assert cli(*words)[0] == 0  # the same run again
    code, _, err = cli(*words, "--seed", "9")
    assert (code, "holds a run with other settings" in err) == (2, True)
    assert (tmp_path / "runs" / "r" / "jobs.csv").read_bytes() == before

    (tmp_path / "runs" / "thesis").mkdir()
    (tmp_path / "runs" / "thesis" / "chapter.tex").write_text("years of work")
    code, _, err = cli(*words[:-1], "thesis")
    assert (code, "is no run of ours" in err) == (2, True)
    assert (tmp_path / "runs" / "thesis" / "chapter.tex").exists()


def test_a_trace_that_has_changed_does_not_replace_the_earlier_run(cli, tmp_path):
    trace = tmp_path / "t.csv"
    header = "job_id,submit_time,duration,num_gpus,gpu_milli\n"
    words = ["--trace", str(trace), "--scheduler", "FGD", "--name", "r"]
    trace.write_text(header + "a,0,5,1,1000\n")
    assert cli(*words)[0] == 0
    trace.write_text(header + "a,0,6,1,1000\n")
    code, _, err = cli(*words)

    assert (code, "or another trace" in err) == (2, True)


def test_an_output_that_cannot_be_written_is_said_before_the_simulation(
    tmp_path, capsys
):
    (tmp_path / "file").write_text("")
    words = [*SMALL, "--scheduler", "FGD", "--out", str(tmp_path / "file")]

    assert program.main(words) == 2
    assert "cannot write" in capsys.readouterr().err


def test_timing_counts_finished_jobs(cli, tmp_path):
    cli(*SMALL, "--scheduler", "FGD", "--name", "t")
    timing = read_run(tmp_path / "runs" / "t").timing

    assert timing["jobs_per_second"] == pytest.approx(60 / timing["wall_seconds"])
    assert 0 < timing["decision_ms_p50"] <= timing["decision_ms_p99"]
    assert timing["peak_rss_mib"] > 10


def test_the_same_run_gives_the_same_bytes_whatever_the_hash_seed(tmp_path):
    files = {}
    for hash_seed in ("1", "2"):
        out = tmp_path / hash_seed
        asked = f"--num-jobs 800 --num-node 8 --scheduler FGD,RandomFit --out {out}"
        words = [sys.executable, str(ROOT / "run.py"), *asked.split(), "--name", "r"]
        env = {**os.environ, "PYTHONHASHSEED": hash_seed}
        subprocess.run(words, check=True, env=env, capture_output=True)
        files[hash_seed] = {
            str(path.relative_to(out)): path.read_bytes()
            for path in sorted(out.rglob("*"))
            if path.is_file() and path.name != "timing.json"
        }

    assert len(files["1"]) == 11  # five files for each scheduler, and a figure
    assert files["1"] == files["2"]


def test_another_seed_gives_another_trace(cli, tmp_path):
    cli(*SMALL, "--scheduler", "FGD", "--seed", "1", "--name", "a")
    cli(*SMALL, "--scheduler", "FGD", "--seed", "2", "--name", "b")
    first, second = (
        json.loads((tmp_path / "runs" / name / "config.json").read_text())
        for name in "ab"
    )

    assert first["trace_sha256"] != second["trace_sha256"]


def test_ctrl_c_keeps_what_is_finished(simulation, tmp_path):
    from model.job import Job

    sim = simulation([Job(str(i), i, 5) for i in range(9)], (1,))

    def stop(left):
        if left == 4:
            raise KeyboardInterrupt

    result = sim.run(progress=stop)
    status = [record.status for record in result.records]

    assert result.interrupted
    assert status == ["finished"] * 4 + ["unfinished"] * 5
    assert result.records[-1].reason == "the simulation was interrupted"
    assert result.records[4].start_time is None  # the fourth has just given its GPU
    assert result.records[3].start_time == 15


@pytest.mark.slow
def test_openb_runs_to_the_end_with_every_pod_accounted_for(openb, cli):
    code, out, _ = cli(
        "--trace", str(openb / "openb_pod_list_default.csv"),
        "--node-list", str(openb / "openb_node_list_gpu_node.csv"),
        "--resources", "gpu,cpu,memory", "--scheduler", "FGD,BestFit,RandomFit",
    )  # fmt: skip

    assert code == 0
    assert "8,152 jobs (0 refused)" in out


def test_an_unfinished_folder_that_holds_something_else_is_left_alone(cli, tmp_path):
    words = ["--scheduler", "FGD", "--num-jobs", "50", "--num-node", "4"]
    notes = tmp_path / "runs" / "x.partial" / "notes.txt"
    notes.parent.mkdir(parents=True)
    notes.write_text("mine")
    code, _, error = cli(*words, "--name", "x")
    assert (code, "holds something else" in error) == (2, True)
    assert notes.read_text() == "mine"
    code, _, error = cli(*words, "--name", "y.partial")
    assert (code, "must not end in .partial" in error) == (2, True)
    code, _, error = cli(*words, "--name", "z", "--checkpoint-every", "5x")
    assert code == 2
    assert not (tmp_path / "runs" / "z.partial").exists()


@pytest.mark.parametrize("option", ["--name", "--trace", "--node-list"])
def test_names_that_are_too_long_are_one_line(cli, option):
    code, _, error = cli("--num-jobs", "9", option, "n" * 300 + ".csv")
    assert (code, error.count("\n")) == (2, 1)


def test_a_run_of_other_code_is_not_taken_for_complete(cli, tmp_path):
    words = ["--scheduler", "FGD", "--num-jobs", "50", "--num-node", "4", "--name", "x"]
    assert cli(*words)[0] == 0
    assert "is complete" in cli(*words, "--resume")[2]
    config = tmp_path / "runs" / "x" / "config.json"
    content = json.loads(config.read_text())
    config.write_text(json.dumps(content | {"code_sha256": "of last week"}))
    assert "is complete" not in cli(*words, "--resume")[2]
    assert json.loads(config.read_text()) == content


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("summary.json", "{"),
        ("summary.json", "{}"),
        ("config.json", "{}"),
        ("config.json", "[]"),
        ("jobs.csv", "a,b\n1,2\n"),
        ("jobs.csv", ""),
        ("cluster.csv", "x\n"),
    ],
)
def test_a_damaged_run_is_named(cli, capsys, tmp_path, name, text):
    words = ["--scheduler", "FGD", "--num-jobs", "50", "--num-node", "4", "--name", "x"]
    assert cli(*words)[0] == 0
    folder = tmp_path / "runs" / "x"
    (folder / name).write_text(text)
    capsys.readouterr()
    code = program.main(["report", str(folder), "--out", str(tmp_path / "r.html")])
    error = capsys.readouterr().err
    assert (code, error.count("\n")) == (2, 1)
    assert str(folder) in error


def test_other_files_of_a_run_are_remembered_too(cli, tmp_path):
    nodes, jobs = tmp_path / "n.toml", tmp_path / "j.csv"
    nodes.write_text("[[nodes]]\ncount = 2\ngpus = 8\n")
    head = "job_id,submit_time,duration,num_gpus,gpu_milli\n"
    jobs.write_text(head + "a,0,10,1,1000\nb,5,10,1,1000\n")
    words = ("--trace", str(jobs), "--node-list", str(nodes), "--scheduler", "FGD",
             "--name", "r")  # fmt: skip
    config = str(tmp_path / "runs" / "r" / "config.json")
    assert cli(*words)[0] == 0
    assert "is complete" in cli(*words, "--resume")[2]
    nodes.write_text("[[nodes]]\ncount = 3\ngpus = 8\n")
    code, _, error = cli("--config", config, "--name", "again")
    assert (code, "n.toml is not the file it was" in error) == (2, True)
    assert "is complete" not in cli(*words, "--resume")[2]
