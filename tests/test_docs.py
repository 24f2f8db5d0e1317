"""The documentation builds, and what it shows works."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from test_schedulers import TestContract as Contract

from commands.api import simulate
from model.config import described_options, flag
from schedulers import registry

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "docs" / "examples" / "same_size.py"


@pytest.mark.slow
def test_it_builds_without_a_warning(tmp_path):
    pytest.importorskip("material")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-f",
         str(ROOT / "docs" / "mkdocs.yml"), "-d", str(tmp_path / "site")],
        capture_output=True, text=True, env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
    )  # fmt: skip

    assert built.returncode == 0, built.stderr
    page = (tmp_path / "site" / "cli" / "index.html").read_text()
    for option in described_options():
        assert flag(option.name) in page
    measures = (tmp_path / "site" / "measures" / "index.html").read_text()
    run = simulate(scheduler="DRR", num_node=4, num_jobs=20, use_rescheduling=True)
    told = {"scheduler", "queue", "seed", "offered_load"}
    for name in run.summary.keys() - told:
        assert name in measures
    assert "generated:" not in page + measures


def test_the_readme_shows_the_same_example():
    readme = (ROOT / "README.md").read_text()
    (block,) = re.findall(r"```python\n(import numpy.*?)```", readme, re.DOTALL)

    assert EXAMPLE.read_text().endswith(block)


@pytest.mark.parametrize(
    "part", [name for name in vars(Contract) if name.startswith("test_")]
)
def test_the_example_keeps_the_contract_of_all_schedulers(part, monkeypatch):
    spec = importlib.util.spec_from_file_location("same_size", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setitem(sys.modules, "schedulers.same_size", module)
    place = "schedulers.same_size:SameSize"
    monkeypatch.setitem(registry.SCHEDULERS, "SameSize", place)

    getattr(Contract(), part)("SameSize")
