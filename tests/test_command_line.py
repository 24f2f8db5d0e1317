"""The command line: published flags verbatim, errors in one line, results on disk."""

import subprocess
import sys
from pathlib import Path

import pytest

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
        ("--migration-cost cheap", "--migration-cost cheap: must be 1 to 2 numbers"),
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
        (
            "gibberish",
            "no command 'gibberish'; there are simulate, compare, plan, report",
        ),
    ],
)
def test_a_users_error_is_one_line_and_exit_code_2(cli, words, message):
    code, out, err = cli(*words.split())

    assert code == 2
    assert message in err
    assert err.count("\n") == 1
    assert out == ""


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
