"""The command line: published flags verbatim, errors in one line, results on disk."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import run as program
from analysis.run_folder import read_run
from model.config import Settings, described_options, flag
from model.errors import UserError

ROOT = Path(__file__).parents[1]
SMALL = ["--num-jobs", "60", "--num-node", "2"]
PUBLISHED = (
    "--num-node {nodes} --interarrival-time {gap} --scheduler {scheduler} "
    "--init_dim {dim} --action_space {nodes} --lr_actor {actor} --lr_critic {critic} "
    "--use_imitation True --imitation_loss_weight 0.1 --use_dynamic_entropy True "
    "--beta0 {beta} --use_attn True --use_advantage_adjustment {adjust} "
    "--use_rescheduling {moves} --util_threshold 0.5 --re_time 3600 --re_num 5"
)
SIZES = [
    {"nodes": 64, "gap": 8, "dim": 3584, "actor": 0.04, "critic": 0.02, "beta": 0.04,
     "adjust": 0.6},
    {"nodes": 32, "gap": 16, "dim": 1792, "actor": 0.03, "critic": 0.02, "beta": 0.01,
     "adjust": 0.4},
    {"nodes": 128, "gap": 3.8, "dim": 7168, "actor": 0.06, "critic": 0.04, "beta": 0.06,
     "adjust": 0.1},
]  # fmt: skip


@pytest.fixture
def cli(tmp_path, capsys):
    """Run a command line in this process; return exit code, stdout and stderr."""

    def call(*words):
        code = program.main([*words, "--out", str(tmp_path / "runs")])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


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


def test_the_word_simulate_may_be_written(cli):
    assert cli("simulate", *SMALL, "--scheduler", "FGD")[0] == 0


@pytest.mark.parametrize("size", SIZES, ids=lambda size: str(size["nodes"]))
def test_the_published_flags_are_understood_verbatim(size, cli):
    words = PUBLISHED.format(scheduler="FGD", moves="False", **size).split()
    code, out, _ = cli(*words, "--num-jobs", "50")

    assert code == 0
    assert f"{size['nodes']} nodes" in out


def test_dashes_and_underscores_and_equals_signs_mean_the_same(cli, tmp_path):
    assert cli("--num_node=2", "--num_jobs", "9", "--scheduler=FGD", "--name=d")[0] == 0
    settings = read_run(tmp_path / "runs" / "d").config["settings"]

    assert (settings["num_node"], settings["num_jobs"]) == (2, 9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--scheduler FGDD", "no scheduler 'FGDD' (did you mean \"FGD\"?); there are"),
        ("--num-nodes 3", 'unknown argument --num-nodes (did you mean "--num-node"?)'),
        ("--num-node zero", "argument --num-node: invalid int value: 'zero'"),
        ("--num-node 0", "--num-node 0: must be 1 to 1000000"),
        ("--interarrival-time nan", "--interarrival-time nan: must be 0 to 1000000"),
        ("--interarrival-time -1", "--interarrival-time -1.0: must be 0 to 1000000"),
        ("--queue lifo", "--queue lifo: must be one of fifo, backfill, easy, sjf"),
        ("--trace no/where.csv", "no/where.csv: no such file"),
        ("--node-list nodes.csv", "nodes.csv: no such file"),
        ("--use-attn maybe", "'maybe' is neither True nor False"),
        ("--resources gpu,ram", "'ram' is none of gpu, cpu, memory"),
        ("--duration-range 9-1", "--duration-range 9-1: LOW < HIGH"),
        ("--migration-cost cheap", "--migration-cost cheap: must be finite"),
        (
            "--init_dim 3585",
            "--init-dim 3585: this cluster of 64 nodes x 8 GPUs needs 3584",
        ),
        (
            "--action_space 32",
            "--action-space 32: this cluster of 64 nodes x 8 GPUs needs",
        ),
        ("--use_rescheduling True --planner usefull", 'did you mean "useful"'),
        ("--name ../../x", "--name ../../x: must be a plain name"),
        ("--name ..", "--name ..: must be a plain name"),
        ("--duration-range 0-86400", "--duration-range 0-86400: LOW > 0"),
        ("--duration-range 86399-86400", "fewer than one job in 1000 lasts that long"),
        ("--duration-range 1e9-2e9", "fewer than one job in 1000 lasts that long"),
        ("--target-load 0", "--target-load 0: above 0, at most 1000"),
        ("--target-load 1e303", "--target-load 1e303: above 0, at most 1000"),
        ("--interarrival-time 1e12", "must be 0 to 1000000"),
        ("--trace tests", "tests: no such file"),
        ("stray", "no command 'stray'; there are simulate, compare, plan"),
    ],
)
def test_a_users_error_is_one_line_and_exit_code_2(cli, words, message):
    code, out, err = cli(*words.split())

    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""


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


@pytest.mark.parametrize("queue", ["sjf", "backfill", "easy"])
def test_the_bound_is_shown_for_fifo_only(cli, queue):
    words = [*SMALL, "--interarrival-time", "1", "--scheduler", "FGD,BestFit"]
    assert "pooled bound" in cli(*words)[1]
    out = cli(*words, "--queue", queue)[1]

    assert "pooled bound" not in out
    assert "0.000" not in out  # nor a gap closed


def test_dollar_signs_in_a_traces_name_are_no_formula(cli, tmp_path):
    trace = tmp_path / "x$_$.csv"
    trace.write_text("job_id,submit_time,duration,num_gpus,gpu_milli\na,0,5,1,1000\n")

    assert cli("--trace", str(trace), "--scheduler", "FGD")[0] == 0


def test_settings_that_a_trace_file_ignores_are_noted(cli, tmp_path):
    trace = tmp_path / "t.csv"
    trace.write_text("job_id,submit_time,duration,num_gpus,gpu_milli\na,0,5,1,1000\n")
    _, _, err = cli("--trace", str(trace), "--gangs", "True", "--scheduler", "FGD")

    assert err == "note: --gangs has no effect on a trace file\n"


def test_a_scheduler_named_twice_runs_once(cli):
    assert cli(*SMALL, "--scheduler", "FGD,fgd")[1].count("\nFGD ") == 1


def test_timing_counts_finished_jobs(cli, tmp_path):
    cli(*SMALL, "--scheduler", "FGD", "--name", "t")
    timing = read_run(tmp_path / "runs" / "t").timing

    assert timing["jobs_per_second"] == pytest.approx(60 / timing["wall_seconds"])
    assert 0 < timing["decision_ms_p50"] <= timing["decision_ms_p99"]
    assert timing["peak_rss_mib"] > 10


def test_help_prints_every_setting_with_its_text():
    asked = [sys.executable, str(ROOT / "run.py"), "--help"]
    text = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    flat = " ".join(text.split())

    for option in described_options():
        assert flag(option.name) in flat
        assert option.text.split(":")[0].split("=")[0][:30].strip() in flat


def test_settings_refuse_contradictions_in_python_too():
    with pytest.raises(UserError, match="--warm-up 1.0: must be 0 to 0.99"):
        Settings(warm_up=1.0)


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
