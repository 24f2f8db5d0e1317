"""Hostile text in traces: it survives files, and does nothing in a sheet or a page."""

from pathlib import Path

import pytest

from analysis.report import write_report
from analysis.run_folder import read_run, run_of, write_run
from commands.api import simulate as run_in_memory
from model.cells import as_cell, from_cell
from model.config import Settings
from model.job import Job
from processes.simulation import Simulation

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>',
    "=cmd()|'/C calc'!A0", "+1", "-1", "@x", "'=x", "';--", "\u202eevil",
    "\U0001f600", "x" * 10_000, "a,b", 'q"q', "NA", "nan", "None",
]  # fmt: skip


def hostile_jobs():
    return [
        Job(text, float(i), 400.0, 1 + i % 3, user=text, job_class=text)
        for i, text in enumerate(HOSTILE * 1)
    ] + [
        Job(f"{i}", 20.0 + i, 400.0, 1 + i % 3, user=HOSTILE[i % len(HOSTILE)])
        for i in range(300)
    ]  # fmt: skip


def test_hostile_text_survives_files_and_starts_no_formula(tmp_path):
    settings = Settings(scheduler="FGD", num_node=4, warm_up=0.0, use_rescheduling=True,
                        re_time=60.0, util_threshold=0.9)  # fmt: skip
    simulation = Simulation(settings, hostile_jobs(), settings.uniform_cluster())
    result = simulation.run()
    config = run_in_memory(settings, jobs=hostile_jobs()).config
    write_run(run_of(tmp_path / "run", config, result, {"jobs_per_second": 1.0}))
    for name in ("jobs", "moves"):
        for line in (tmp_path / "run" / f"{name}.csv").read_text().splitlines()[1:]:
            first = line.lstrip('"')
            assert not first.startswith(("=", "+", "-", "@"))
    run = read_run(tmp_path / "run")

    assert run.jobs["job_id"].tolist()[: len(HOSTILE)] == HOSTILE
    assert run.jobs["user"].tolist()[: len(HOSTILE)] == HOSTILE


@pytest.mark.parametrize("text", [*HOSTILE, "", "'", "''", "'-'"])
def test_cells_come_back_as_they_were(text):
    assert from_cell(as_cell(text)) == text


@pytest.mark.slow
def test_a_hostile_report_is_harmless_in_a_browser(tmp_path):
    playwright = pytest.importorskip("playwright.sync_api")
    run = run_in_memory(Settings(scheduler="FGD", num_node=4), jobs=hostile_jobs())
    run.config["trace"] = HOSTILE[0]
    run.config["settings"]["trace"] = HOSTILE[1] + HOSTILE[0]
    page, *_ = write_report([run], tmp_path / "report.html", kinds=())
    assert "<script>alert" not in page.read_text()
    with playwright.sync_playwright() as engine:
        try:
            browser = engine.chromium.launch(
                executable_path="/usr/bin/chromium", args=["--no-sandbox"]
            )
        except playwright.Error:
            pytest.skip("no browser")
        view = browser.new_page(viewport={"width": 390, "height": 900})
        said = []
        view.on("dialog", lambda dialog: said.append("dialog"))
        view.on("console", lambda message: said.append(message.text))
        view.goto(page.as_uri())
        across = view.evaluate("document.documentElement.scrollWidth")
        browser.close()

    assert said == []
    assert across <= 390


def test_no_file_of_ours_loads_pickles_or_evaluates_text():
    root = Path(__file__).parents[1]
    for folder in ("model", "processes", "schedulers", "clusterdata", "analysis",
                   "commands"):  # fmt: skip
        for path in (root / folder).rglob("*.py"):
            text = path.read_text()
            for word in ("import pickle", "read_pickle", " eval(",
                         " exec(", "yaml.load", "allow_pickle=True"):  # fmt: skip
                assert word not in text, f"{path.name}: {word}"
            for line in text.splitlines():
                assert "torch.load(" not in line or "weights_only=True" in line
