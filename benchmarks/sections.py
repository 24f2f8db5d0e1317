"""What `python -m benchmarks` measures: each section returns rows of one table.

A row has the section, the case, *x* (what is varied, if anything), a value, its unit.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measuring import calls, cpu_seconds, paired, peak_memory, w64
from benchmarks.skeleton import run_skeleton
from clusterdata.formats.canonical import to_csv
from clusterdata.generator import generate
from commands.train_policy import Episode, experience, prepared
from model.config import Settings
from model.job import Job
from processes.simulation import Simulation, simulate
from schedulers.drr.network import Network
from schedulers.drr.policy import fresh
from schedulers.drr.training import Apprentice


class Row(NamedTuple):
    """One number of the table."""

    section: str
    case: str
    x: float
    value: float
    unit: str


CHEAP = ("BestFit", "FGD", "R&P", "LifetimeAligned", "TunedLinear")


def settings_for(name: str, nodes: int = 64, jobs: int = 20_000) -> Settings:
    """Return the native mix at the load of the default run, whatever the size."""
    return Settings(
        scheduler=name,
        num_node=nodes,
        num_jobs=jobs,
        interarrival_time=8.0 * 64 / nodes,
        learn=False,
        seed=100,
    )


def skeleton(quick: bool) -> Iterator[Row]:
    """Whole runs against the bare SimPy skeleton, 64 x 8, in pairs."""
    for name in (*CHEAP, "DRR"):
        jobs_asked = 3000 if quick else 20_000
        settings = settings_for(name, jobs=jobs_asked)
        jobs, pool = generate(settings), 512_000
        run = partial(simulate, settings, jobs)
        if name in ("TunedLinear", "DRR"):
            simulate(settings, jobs[:300])  # compiled before it is timed
        rounds = 3 if quick or name == "DRR" else 9
        found = paired(partial(run_skeleton, jobs, pool), run, rounds)
        yield Row("skeleton", name, 64, found.ratio, "skeletons")
        yield Row("skeleton", f"{name}, least", 64, found.least, "skeletons")
        yield Row("skeleton", f"{name}, most", 64, found.most, "skeletons")
        yield Row("skeleton", name, 64, len(jobs) / found.seconds, "jobs/s")


def cost_calls(quick: bool = True) -> Iterator[Row]:
    """Count function calls per job, the same everywhere; `--check` compares them."""
    jobs_asked = 3000
    for name in CHEAP[:4]:
        for nodes in (64, 512):
            settings = settings_for(name, nodes, jobs_asked * nodes // 64)
            jobs = generate(settings)
            number = calls(partial(simulate, settings, jobs))
            yield Row("calls", name, nodes, number / len(jobs), "calls/job")
    bare = calls(partial(run_skeleton, w64(jobs_asked, 0.8), 512_000))
    yield Row("calls", "skeleton", 64, bare / jobs_asked, "calls/job")


def _each_job(
    section: str, name: str, x: float, settings: Settings, jobs: Sequence[Job]
) -> Row:
    seconds = cpu_seconds(partial(simulate, settings, jobs))
    return Row(section, name, x, 1e6 * seconds / len(jobs), "us/job")


def by_nodes(quick: bool) -> Iterator[Row]:
    """From 16 to 16,384 nodes at one load, at least 20 jobs for each node."""
    for number in (16, 64, 256) if quick else (16, 64, 256, 1024, 4096, 16_384):
        for name in ("FGD", "BestFit"):
            most = 3000 if quick else 20_000
            settings = settings_for(name, number, max(most, 20 * number))
            yield _each_job("nodes", name, number, settings, generate(settings))


def by_jobs(quick: bool) -> Iterator[Row]:
    """From a thousand to a million jobs, on 64 nodes."""
    for number in (1000, 3000) if quick else (10**3, 10**4, 10**5, 10**6):
        settings = settings_for("FGD", jobs=number)
        yield _each_job("jobs", "FGD", number, settings, generate(settings))


def by_queue(quick: bool) -> Iterator[Row]:
    """Ten to 100,000 jobs that all come at once."""
    for number in (10, 1000) if quick else (10, 100, 1000, 10_000, 100_000):
        at_once = [replace(job, submit_time=0.0) for job in w64(number, 0.8)]
        for discipline in ("fifo", "backfill", "easy"):
            settings = Settings(scheduler="BestFit", queue=discipline)
            yield _each_job("queue", discipline, number, settings, at_once)


def by_classes(quick: bool) -> Iterator[Row]:
    """Five to 500 kinds of request: shares of a device, all different."""
    for kinds in (5, 50) if quick else (5, 50, 500):
        for name in ("FGD", "BestFit"):
            settings = settings_for(name, jobs=3000 if quick else 20_000)
            rng = np.random.default_rng(kinds)
            milli = [*np.linspace(20, 999, kinds - 1).astype(int).tolist(), 1000]
            mixed = [
                replace(job, num_gpus=1, gpu_milli=milli[int(rng.integers(kinds))])
                for job in generate(settings)
            ]
            yield _each_job("classes", name, kinds, settings, mixed)


def peers(quick: bool) -> Iterator[Row]:
    """Workload W64 at loads 0.8 and 1.1: jobs per CPU second, peak memory."""
    number = 3000 if quick else 100_000
    for load in (0.8, 1.1):
        trace = w64(number, load)
        for name in ("BestFit", "FGD"):
            run = partial(simulate, Settings(scheduler=name), trace)
            yield Row("peers", name, load, number / cpu_seconds(run), "jobs/s")
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "w64.csv"
                path.write_bytes(to_csv(trace))
                asked = ["--scheduler", name, "--trace", str(path), "--out", folder]
                memory = peak_memory(["run.py", *asked])
            yield Row("peers", f"{name}, run.py", load, memory, "MiB")


def decisions(quick: bool) -> Iterator[Row]:
    """Percentiles of single decisions, at load 1."""
    sizes = (64,) if quick else (64, 128)
    for number in sizes:
        for name in (*CHEAP, "DRR"):
            settings = settings_for(name, number, 3000 if quick else 10_000)
            trace = generate(settings)
            simulate(settings, trace[:300])
            spent = np.array(simulate(settings, trace).decision_seconds) * 1000
            for percent in (50, 99):
                value = float(np.percentile(spent, percent))
                yield Row("decisions", f"{name}, p{percent}", number, value, "ms")


def learning(quick: bool) -> Iterator[Row]:
    """DRR's decisions per second: inference, learning online, and in training."""
    settings = settings_for("DRR", jobs=3000 if quick else 10_000)
    trace, nodes = generate(settings), settings.uniform_cluster()
    simulate(settings, trace[:300])
    for case, learn in (("inference", False), ("learning online", True)):
        simulation = Simulation(replace(settings, learn=learn), trace, nodes)
        seconds = cpu_seconds(simulation.run)
        number = simulation.scheduler.measures()["drr_decisions"]
        yield Row("learning", case, 64, number / seconds, "decisions/s")
    gap = 3.0 if quick else 7.0  # so that there is much to look at
    busy = replace(settings, interarrival_time=gap)
    apprentice = Apprentice(Network(fresh(np.random.default_rng(0))))
    told: list[Any] = []
    episode = Episode(busy, "pretrained")
    number = prepared(episode).run().measures["drr_decisions"]
    seconds = cpu_seconds(lambda: told.extend(experience(episode)))
    rng = np.random.default_rng(0)
    seconds += cpu_seconds(lambda: apprentice.learn([told], rng))
    yield Row("learning", "training, with updates", 64, number / seconds, "decisions/s")


SECTIONS: dict[str, Callable[[bool], Iterator[Row]]] = {
    "calls": cost_calls,
    "skeleton": skeleton,
    "nodes": by_nodes,
    "jobs": by_jobs,
    "queue": by_queue,
    "classes": by_classes,
    "peers": peers,
    "decisions": decisions,
    "learning": learning,
}
