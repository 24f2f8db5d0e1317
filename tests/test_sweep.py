"""Sweeps: the grid, what is kept, and the same table over processes and over Ray."""

import io
import os
import re
import signal
import threading
import time

import pandas as pd
import pytest

pytest.importorskip("pyarrow")

from commands.on_ray import on_ray
from run import main

PLAN = """
seeds = "0-1"
[settings]
num_jobs = 60
num_node = 2
interarrival_time = 256
[grid]
scheduler = ["FGD", "BestFit+queue=easy"]
util_threshold = [0.5, 0.9]
[[runs]]
scheduler = "RandomFit"
"""


@pytest.fixture
def sweep(tmp_path, capsys):
    """Run a sweep of some text; return exit code, the table's bytes and the errors."""

    def run(text=PLAN, *words, name="s"):
        path = tmp_path / "plan.toml"
        path.write_text(text)
        code = main(
            ["sweep", str(path), "--out", str(tmp_path), "--name", name, *words]
        )
        table = tmp_path / name / "sweep.parquet"
        return code, table.read_bytes() if table.is_file() else b"", \
            capsys.readouterr().err  # fmt: skip

    return run


def test_a_grid_a_list_and_seeds(sweep):
    code, data, _ = sweep(PLAN, "--workers", "1")
    table = pd.read_parquet(io.BytesIO(data))

    assert code == 0
    assert len(table) == (2 * 2 + 1) * 2
    assert table["variant"].tolist()[:4] == ["FGD"] * 4
    assert set(table[table["variant"] == "BestFit+queue=easy"]["queue"]) == {"easy"}
    assert table["seed"].tolist() == [0, 1] * 5
    assert (table["finished"] == 60).all()
    assert table["code"].nunique() == 1
    assert "wall_seconds" not in table


def test_local_workers_are_as_many_as_there_are_cores(sweep):
    assert sweep(PLAN, "--workers", "local", name="a")[1] == \
        sweep(PLAN, "--workers", "1", name="b")[1]  # fmt: skip
    code, _, error = sweep(PLAN, "--workers", "many", name="c")
    assert code == 2
    assert "'many' is neither a number nor local" in error


def test_what_is_done_is_not_done_again(sweep, tmp_path):
    _, first, _ = sweep(PLAN, "--workers", "1")
    cells = sorted((tmp_path / "s" / "cells").iterdir())
    cells[3].unlink()
    times = {path: path.stat().st_mtime_ns for path in cells if path.exists()}
    _, again, said = sweep(PLAN, "--workers", "1")

    assert again == first
    assert "9 runs are there already" in said
    assert {path: path.stat().st_mtime_ns for path in times} == times


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[grid]", "[grit]", 'unknown key .grit. .did you mean "grid"'),
        ("num_jobs", "num_job", 'unknown setting .num_job. .did you mean "num_jobs"'),
        ("num_jobs = 60", "num_jobs = '60'", "num_jobs = '60' must be int"),
        ("[0.5, 0.9]", "0.5", "grid.util_threshold must be a list"),
        ('"FGD"', '"FDG"', "did you mean"),
        ("num_jobs = 60", "num_jobs = -60", "--num-jobs -60"),
        ('seeds = "0-1"', 'seeds = "x"', "--seeds x"),
        ("[settings]", "[settings", "cannot be read"),
    ],
)
def test_a_wrong_plan_is_named(sweep, old, new, message):
    code, _, said = sweep(PLAN.replace(old, new, 1))

    assert code == 2
    assert re.search(message, said)


@pytest.mark.slow
def test_ray_gives_the_same_table_though_a_worker_is_killed(sweep):
    ray = pytest.importorskip("ray")
    _, plain, _ = sweep(PLAN, "--workers", "1")
    killed = []

    def kill_one():
        """Kill the first worker that is seen working."""
        deadline = time.time() + 60
        while not killed and time.time() < deadline:
            time.sleep(0.2)
            if not ray.is_initialized():
                continue
            for line in os.popen("ps -eo pid,args").read().splitlines():
                if "ray::" in line and "done" in line:
                    os.kill(int(line.split()[0]), signal.SIGKILL)
                    killed.append(line)
                    return

    killer = threading.Thread(target=kill_one)
    killer.start()
    code, over_ray, said = sweep(PLAN, "--workers", "4", "--address", "local", name="r")
    killer.join()

    assert code == 0, said
    assert killed
    assert over_ray == plain


@pytest.mark.slow
def test_ray_does_more_tasks_than_it_has_workers():
    pytest.importorskip("ray")
    found = dict(on_ray(abs, [-number for number in range(30)], 2, "local"))

    assert found == {number: number for number in range(30)}
