"""The report and the timeline: complete, safe, and right to the number."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest

from analysis.occupancy import held_at, occupancy, read_places
from analysis.report import labelled, write_report
from analysis.report_page import as_table
from analysis.run_folder import Run, read_run
from analysis.timeline import timeline
from commands.api import simulate
from model.config import Settings
from model.job import Job
from model.node import NodeChange
from processes.simulation import Simulation
from run import main

CHROMIUM = "/usr/bin/chromium"


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two runs with moves, written and read back."""
    out = tmp_path_factory.mktemp("runs")
    asked = ["--num-node", "6", "--num-jobs", "1500", "--interarrival-time", "60",
             "--use-rescheduling", "True", "--re-time", "600", "--timeline",
             "--scheduler", "FGD,DRR", "--out", str(out)]  # fmt: skip
    assert main(asked) == 0
    folders = sorted(path for path in out.iterdir() if path.is_dir())
    return [read_run(path) for path in folders]


def test_the_page_has_every_figure_and_needs_no_network(runs, tmp_path):
    page, *figures = write_report(runs, tmp_path / "report.html")
    html = page.read_text()

    names = re.findall(r'<figure id="([^"]+)">', html)
    assert names == [
        "headline", "delays", "sizes", "allocation", "fragmentation", "stranded",
        "queue", "users", "moves", "cluster-drr", "learning-drr", "cluster-fgd",
    ]  # fmt: skip
    assert len(re.findall("<svg", html)) == len(names)
    assert not re.findall(r'(?:src|href)="(?!#|data:)', html)
    assert "<script" not in html
    ids = re.findall(r' id="([^"]+)"', html)
    assert len(set(ids)) == len(ids)
    assert len(figures) == 2 * len(names)
    assert all(path.stat().st_size > 1000 for path in figures)


def test_equal_runs_give_equal_pages(runs, tmp_path):
    pages = [
        write_report(runs, tmp_path / f"{i}" / "r.html", kinds=())[0] for i in (1, 2)
    ]

    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_the_command(runs, tmp_path, capsys):
    folders = [str(run.path) for run in runs]
    page = tmp_path / "page.html"

    assert main(["report", str(runs[0].path.parent), "--out", str(page)]) == 0
    assert page.is_file()
    assert main(["report", *folders, "--out", str(tmp_path / "page.txt")]) == 2
    assert main(["report", str(tmp_path)]) == 2
    assert "is no complete run" in capsys.readouterr().err


def test_text_from_outside_is_escaped():
    table = as_table(["<b>"], [["<script>alert(1)</script>", "=cmd()|'/C calc'!A0"]])

    assert "<script" not in table
    assert "&lt;script&gt;" in table


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1280, "dark")])
def test_a_browser_shows_it_without_overflow(runs, tmp_path, width, scheme):
    playwright = pytest.importorskip("playwright.sync_api")
    page, *_ = write_report(runs, tmp_path / "report.html", kinds=())
    with playwright.sync_playwright() as engine:
        try:
            browser = engine.chromium.launch(
                executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"]
            )
        except playwright.Error:
            pytest.skip(f"no browser at {CHROMIUM}")
        view = browser.new_page(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        said = []
        view.on("console", lambda message: said.append(message.text))
        view.on("pageerror", lambda error: said.append(str(error)))
        view.goto(page.as_uri())
        across = view.evaluate("document.documentElement.scrollWidth")
        sizes = view.evaluate(
            "[...document.querySelectorAll('figure svg')].map(s => "
            "[s.getBoundingClientRect().width, s.getBoundingClientRect().height])"
        )
        browser.close()

    assert said == []
    assert across <= width
    assert len(sizes) == 12
    assert all(
        0.8 * min(width, 400) < wide <= width and high > 50 for wide, high in sizes
    )


def test_who_held_what_adds_up_to_what_was_sampled(runs):
    """At each sample the held GPUs are those that the simulation counted."""
    for run in runs:
        stretches = occupancy(run)
        rng = np.random.default_rng(0)
        for row in rng.choice(len(run.cluster) - 1, 40, replace=False):
            sample = run.cluster.iloc[row]
            state = held_at(stretches, run.config["node_gpus"], sample["time"])
            assert state.sum() * 1000 == pytest.approx(sample["allocated"], abs=1e-6)
        assert np.nanmax(state) <= 1.0


def test_moved_and_restarted_jobs_are_where_they_were():
    """The node of a drains at 100: it starts again on the other, once b has left."""
    jobs = [Job("a", 0, 300, 2), Job("b", 0, 150, 2)]
    changes = [NodeChange(100.0, 0, "leave")]
    again = run_with(jobs, changes, num_node=2, gpus_per_node=2)
    of_a = occupancy(again).query("job_id == 'a' and gpu == 0")

    assert of_a[["node", "start", "end"]].to_numpy().tolist() == [
        [0, 0, 100], [1, 150, of_a["end"].max()],
    ]  # fmt: skip


def run_with(jobs, changes=(), **asked):
    """Return a run of FirstFit with changes of nodes."""
    settings = Settings(scheduler="FirstFit", warm_up=0.0, **asked)
    nodes = settings.uniform_cluster()
    result = Simulation(settings, jobs, nodes, changes).run()
    run = simulate(settings, jobs=jobs)
    frames = result.jobs_frame(), result.samples, result.moves_frame()
    return Run(run.path, run.config, *frames, run.summary, run.timing)


def test_a_restart_and_a_move_in_one_instant_are_followed_in_their_order():
    jobs = pd.DataFrame({"job_id": ["a"], "gpu_milli": [1000], "start_time": [0.0],
                         "end_time": [90.0], "nodes": ["2"], "gpus": ["0"],
                         "restarts": ["50.0@1:0"]})  # fmt: skip
    moves = pd.DataFrame([[30.0, "a", "0:0", ""], [50.0, "a", "1:0", "2:0"]],
                         columns=["time", "job_id", "from", "to"])  # fmt: skip
    found = occupancy(Run(None, {}, jobs, None, moves, {}, {}))

    stays = found[["node", "start", "end"]].to_numpy().tolist()
    assert [stay for stay in stays if stay[1] < stay[2]] == [[0, 0, 30], [2, 50, 90]]


def test_a_job_without_gpus_is_no_obstacle(tmp_path):
    jobs = [Job("cpu", 0, 10, 0, 0), Job("gpu", 0, 10)]
    (tmp_path / "jobs.csv").write_text(
        "job_id,submit_time,duration,num_gpus,gpu_milli\ncpu,0,9,0,0\ngpu,1,9,1,1000\n"
    )
    asked = ["--trace", str(tmp_path / "jobs.csv"), "--scheduler", "FGD", "--name", "c",
             "--out", str(tmp_path), "--timeline"]  # fmt: skip
    assert main(asked) == 0
    assert main(["report", str(tmp_path / "c"), "--out", str(tmp_path / "r.html")]) == 0
    assert len(occupancy(run_with(jobs, num_node=1))) == 1


def test_a_run_in_which_nothing_ended_is_no_obstacle(tmp_path):
    (tmp_path / "jobs.csv").write_text(
        "job_id,submit_time,duration,num_gpus,gpu_milli\nlarge,0,9,64,1000\n"
    )
    asked = ["--trace", str(tmp_path / "jobs.csv"), "--scheduler", "FGD", "--name", "c",
             "--out", str(tmp_path)]  # fmt: skip
    assert main(asked) == 0
    assert main(["report", str(tmp_path / "c"), "--out", str(tmp_path / "r.html")]) == 0


def test_two_runs_of_one_scheduler_have_names_and_figures_of_their_own(runs, tmp_path):
    fgd = next(run for run in runs if run.title == "FGD")
    page, *figures = write_report([fgd, fgd, fgd], tmp_path / "r.html", kinds=["png"])
    html = page.read_text()
    ids = re.findall(r' id="([^"]+)"', html)

    assert len(set(ids)) == len(ids)
    assert len(set(figures)) == len(figures)
    assert f"FGD ({fgd.path.name})" in html


def test_runs_of_different_worlds_are_not_compared(tmp_path, capsys):
    common = ["--scheduler", "FGD", "--num-jobs", "40", "--out", str(tmp_path)]
    assert main([*common, "--num-node", "4", "--name", "a"]) == 0
    assert main([*common, "--num-node", "8", "--name", "b"]) == 0
    assert main(["report", str(tmp_path), "--out", str(tmp_path / "r.html")]) == 2
    assert "differ in capacity" in capsys.readouterr().err


def test_places_are_read_back():
    assert read_places("") == []
    assert read_places("3:") == []
    assert read_places("0:1+2") == [(0, 1), (0, 2)]


def test_the_timeline_is_what_perfetto_reads(runs):
    """Trace Event Format: known phases, slices that do not overlap, paired arrows."""
    run = runs[1]
    content = json.loads(gzip.decompress((run.path / "timeline.json.gz").read_bytes()))
    events = content["traceEvents"]
    by_phase = {phase: [e for e in events if e["ph"] == phase] for phase in "XsfCM"}

    assert sum(map(len, by_phase.values())) == len(events)
    assert all({"pid", "tid", "ts", "dur", "name"} <= e.keys() for e in by_phase["X"])
    lanes = {}
    for event in sorted(by_phase["X"], key=lambda e: e["ts"]):
        lane = event["pid"], event["tid"]
        assert event["ts"] >= lanes.get(lane, 0) - 1e-3
        lanes[lane] = event["ts"] + event["dur"]
    named = {(e["pid"], e["tid"]) for e in by_phase["M"] if e["name"] == "thread_name"}
    assert {*lanes} == named
    assert [e["id"] for e in by_phase["s"]] == [e["id"] for e in by_phase["f"]]
    assert len(by_phase["s"]) == len(run.moves)
    assert {e["name"] for e in by_phase["C"]} == {
        "jobs in the queue", "fragmented GPUs", "stranded GPUs", "allocated GPUs",
    }  # fmt: skip
    assert timeline(run) == timeline(run)


def test_the_gap_is_measured_from_plain_fgd_whatever_the_order(cli, tmp_path):
    words = ["--num-jobs", "400", "--num-node", "4", "--interarrival-time", "110"]
    names = ("a b", "a-b", "ab")
    assert cli(*words, "--scheduler", "FGD", "--name", "a b", "--rescheduler",
               "recommended")[0] == 0  # fmt: skip
    for name in names[1:]:
        assert cli(*words, "--scheduler", "FGD", "--name", name)[0] == 0
    runs = labelled([read_run(tmp_path / "runs" / name) for name in names])
    assert [run.title for run in runs] == ["FGD (a b)", "FGD", "FGD (ab)"]

    (tmp_path / "runs" / "half.partial").mkdir()
    (tmp_path / "runs" / "half.partial" / "config.json").write_text("{}")
    page = tmp_path / "r.html"
    assert main(["report", str(tmp_path / "runs"), "--out", str(page)]) == 0
    ids = re.findall('<figure id="([^"]+)"', page.read_text())
    assert len(set(ids)) == len(ids)
    figures = [path.stem for path in (tmp_path / "r-figures").glob("cluster-*.png")]
    assert sorted(figures) == ["cluster-fgd", "cluster-fgdab", "cluster-fgdab-2"]
