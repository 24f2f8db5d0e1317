"""Shared by all tests: a small world to run, and real data where it is at hand."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

import run as program
from model.config import Settings
from model.node import Node
from processes.invariants import check_moment
from processes.simulation import Simulation

settings.register_profile(
    "default",
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("default")

SHARED = Path(__file__).parents[2] / "shared" / "data"


@pytest.fixture
def openb():
    """Folder of the real openb trace; it is not part of the product."""
    folder = SHARED / "alibaba-openb-v2023"
    if not folder.is_dir():
        pytest.skip("the openb trace is not on this machine")
    return folder


@pytest.fixture
def simulation():
    """Build a small simulation: `gpus_per_node=(8, 4)` or `nodes=[Node(...)]`."""

    def build(jobs, gpus_per_node=(8,), nodes=None, changes=(), target=None, **asked):
        config = replace(Settings(scheduler="FirstFit", warm_up=0.0), **asked)
        if nodes is None:
            nodes = [Node(f"n{i}", gpus) for i, gpus in enumerate(gpus_per_node)]
        return Simulation(config, jobs, nodes, changes, target)

    return build


@pytest.fixture
def run(simulation):
    """Run a small simulation, invariants checked at every event; records by job id."""

    def run_it(jobs, *args, **asked):
        sim = simulation(jobs, *args, **asked)
        result = sim.run(check=lambda event: check_moment(sim.cluster))
        return {record.job.job_id: record for record in result.records}

    return run_it


@pytest.fixture
def cli(tmp_path, capsys):
    """Run a command line in this process; return exit code, stdout and stderr."""

    def call(*words):
        code = program.main([*words, "--out", str(tmp_path / "runs")])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def trace(capsys):
    """Run ``run.py trace WORDS``; return exit code, output and errors."""

    def run(*words):
        code = program.main(["trace", *map(str, words)])
        printed = capsys.readouterr()
        assert "Traceback" not in printed.err
        return code, printed.out, printed.err

    return run
