"""Killed, and starved of disk: nothing half, nothing lost."""

import contextlib
import hashlib
import io
import json
import os
import random
import resource
import signal
import time

import pytest

from commands.journal import Journal
from model.config import Settings
from model.errors import UserError
from processes.simulation import Simulation
from run import main

SMALL = ["--num-node", "8", "--num-jobs", "1500", "--interarrival-time", "64",
         "--scheduler", "FGD", "--use-rescheduling", "True", "--name", "r"]  # fmt: skip
OUTPUT = ("jobs.csv", "cluster.csv", "moves.csv", "summary.json", "config.json")
KILLS = 10


def digests(folder, names=OUTPUT):
    return {
        name: hashlib.sha256((folder / name).read_bytes()).digest() for name in names
    }


def quietly(words):
    with contextlib.redirect_stdout(io.StringIO()), \
         contextlib.redirect_stderr(io.StringIO()) as errors:  # fmt: skip
        code = main([str(word) for word in words])
    return code, errors.getvalue()


def in_child(work, kill_after=None):
    """Run something in a forked process; kill it after so many s; return its status."""
    child = os.fork()
    if child == 0:
        try:
            os._exit(work())
        except BaseException:
            os._exit(77)
    if kill_after is not None:
        time.sleep(kill_after)
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_and_resumed(words, tmp_path, seconds, seed, again):
    """Kill a command at times, run it again; return how often it was killed."""
    rng = random.Random(seed)
    killed = 0
    for number in range(KILLS):
        out = tmp_path / f"{seed}-{number}"
        moment = rng.uniform(0, seconds)
        status = in_child(lambda out=out: quietly([*words, "--out", out])[0], moment)
        killed += status == -signal.SIGKILL
        again(out)
    return killed


def test_a_killed_run_leaves_a_marked_folder_and_resumes_to_the_same_bytes(tmp_path):
    kill_and_resume(tmp_path, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
def test_forty_more_moments(tmp_path, seed):
    kill_and_resume(tmp_path, seed)


def kill_and_resume(tmp_path, seed):
    """Kill a simulation at ten random moments; each time it comes to the same end."""
    began = time.perf_counter()
    assert quietly([*SMALL, "--out", tmp_path / "whole"])[0] == 0
    seconds = time.perf_counter() - began
    wanted = digests(tmp_path / "whole" / "r")

    def again(out):
        folder = out / "r"
        assert not folder.exists() or digests(folder) == wanted
        code, _ = quietly([*SMALL, "--checkpoint-every", "0", "--resume", "--out", out])
        assert code == 0
        assert digests(folder) == wanted
        assert sorted(path.name for path in out.iterdir() if path.is_dir()) == ["r"]

    words = [*SMALL, "--checkpoint-every", "0"]
    assert killed_and_resumed(words, tmp_path, seconds, seed, again) > 0


@pytest.mark.slow
def test_a_killed_comparison_goes_on(tmp_path):
    words = ["compare", "--schedulers", "FGD,BestFit", "--num-node", "4", "--num-jobs",
             "500", "--traces", "native", "--seeds", "3", "--workers", "1"]  # fmt: skip
    began = time.perf_counter()
    assert quietly([*words, "--out", tmp_path / "whole"])[0] == 0
    seconds = time.perf_counter() - began
    timed = {"wall_seconds", "jobs_per_second", "decision_ms_p50", "decision_ms_p99",
             "peak_rss_mib"}  # fmt: skip

    def rows(out):
        lines = (out / "compare" / "comparison.csv").read_text().splitlines()
        names = lines[0].split(",")
        kept = [place for place, name in enumerate(names) if name not in timed]
        return [[line.split(",")[place] for place in kept] for line in lines]

    wanted = rows(tmp_path / "whole")

    def again(out):
        assert not list(out.rglob("*.json")) or all(
            json.loads(path.read_text()) for path in out.rglob("*.json")
        )
        assert quietly([*words, "--out", out])[0] == 0
        assert rows(out) == wanted

    assert killed_and_resumed(words, tmp_path, seconds, 9, again) > 0


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_policy(tmp_path):
    words = ["train", "--num-jobs", "300", "--episodes", "1", "--workers", "1",
             "--validation", "1", "--rounds", "2", "--name", "t"]  # fmt: skip
    began = time.perf_counter()
    assert quietly([*words, "--out", tmp_path / "whole"])[0] == 0
    seconds = time.perf_counter() - began
    names = ("latest.safetensors", "rounds.json")
    wanted = digests(tmp_path / "whole" / "t", names)

    def again(out):
        code, errors = quietly([*words, "--resume", "--out", out])
        if code != 0:  # it was killed before its first round had ended
            assert "no training that could go on" in errors
            assert quietly([*words, "--out", out])[0] == 0
        assert digests(out / "t", names) == wanted

    assert killed_and_resumed(words, tmp_path, seconds, 11, again) > 0


def test_a_journal_of_another_run_is_refused(tmp_path):
    settings = Settings(num_node=2, num_jobs=1200, interarrival_time=256.0)
    from clusterdata.generator import generate

    for number, seed in enumerate((0, 1)):
        asked = Settings(**{**settings.as_dict(), "seed": seed})
        simulation = Simulation(asked, generate(asked), asked.uniform_cluster())
        Journal(tmp_path, simulation, 0.0, resume=number == 1)
        if number == 1:
            with pytest.raises(UserError, match="the run is not what it was at"):
                simulation.run()
        else:
            simulation.run()
    assert len((tmp_path / "journal.csv").read_text().splitlines()) > 2


def test_resume_without_a_run_starts_one(tmp_path):
    assert quietly([*SMALL, "--resume", "--out", tmp_path])[0] == 0
    code, errors = quietly([*SMALL, "--resume", "--out", tmp_path])
    assert (code, "is complete" in errors) == (0, True)
    assert quietly([*SMALL, "--checkpoint-every", "soon", "--out", tmp_path])[0] == 2


@pytest.mark.parametrize("words", [SMALL, ["trace", "generate", "--num-jobs", "3000"]])
def test_a_full_disk_is_an_error_and_earlier_results_stay(tmp_path, words):
    """No file may be longer than 4 KiB: every large write fails in the middle."""
    generates = words[0] == "trace"
    target = (
        [*words, tmp_path / "jobs.csv"] if generates else [*words, "--out", tmp_path]
    )
    assert quietly(target)[0] == 0
    kept = [path for path in tmp_path.rglob("*.csv") if "journal" not in path.name]
    before = {path: path.read_bytes() for path in kept}

    def starved():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
        code, errors = quietly(target)
        return code if "cannot write" in errors and "Traceback" not in errors else 78

    assert in_child(starved) == 2
    assert {path: path.read_bytes() for path in kept} == before


def test_output_under_a_file_is_a_users_error(tmp_path):
    (tmp_path / "file").write_text("mine")
    code, errors = quietly([*SMALL, "--out", tmp_path / "file"])

    assert (code, "cannot write" in errors) == (2, True)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_name_cannot_leave_the_output_folder(tmp_path):
    for name in ("../x", "/etc/x", "..", ".hidden", "a/b"):
        assert quietly([*SMALL[:-1], name, "--out", tmp_path])[0] == 2
