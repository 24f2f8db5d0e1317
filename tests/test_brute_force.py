"""Every measure of a run again, from its jobs.csv alone, in the plainest way."""

import math

import numpy as np
import pytest

from clusterdata.generator import generate
from commands.api import simulate
from model.config import Settings
from model.fragmentation import fragment_of
from model.target import target_workload

NODES, GPUS = 4, 8
CAPACITY = 1000 * NODES * GPUS


def cluster_at(jobs, time):
    """Return free milli-GPU of each device, and the jobs that wait, oldest first."""
    free = [[1000] * GPUS for _ in range(NODES)]
    waiting = []
    for job in jobs:
        if job["submit_time"] <= time < job["start_time"]:
            waiting.append(job)
        elif job["start_time"] <= time < job["end_time"]:
            for gpu in map(int, job["gpus"].split("+")):
                free[int(job["nodes"])][gpu] -= job["gpu_milli"]
    return free, waiting


def by_hand(jobs, warm_up, target):
    """Return the time-weighted measures between the measured jobs' submissions."""
    measured = jobs[int(warm_up * len(jobs)) :]
    first, last = measured[0]["submit_time"], measured[-1]["submit_time"]
    names = ("submit_time", "start_time", "end_time")
    edges = {job[name] for job in jobs for name in names}
    edges = sorted({first, last, *(t for t in edges if first < t < last)})
    keys = ("held", "free", "fragmented", "stranded", "scattered", "busy", "nodes",
            "partial", "pending")  # fmt: skip
    area = dict.fromkeys(keys, 0.0)
    for begin, end in zip(edges, edges[1:], strict=False):
        free, waiting = cluster_at(jobs, begin)
        total = sum(map(sum, free))
        whole = [row.count(1000) for row in free]
        asks = waiting[0]["num_gpus"] * waiting[0]["gpu_milli"] if waiting else 0
        now = {
            "held": CAPACITY - total,
            "free": total,
            "fragmented": sum(fragment_of(row, target) for row in free),
            "stranded": total if waiting and asks <= total else 0,
            "scattered": sum(1000 * n for n in whole if n < GPUS),
            "busy": sum(GPUS - n for n in whole),
            "nodes": sum(n < GPUS for n in whole),
            "partial": sum(0 < sum(row) < 1000 * GPUS for row in free),
            "pending": len(waiting),
        }
        for key, value in now.items():
            area[key] += (end - begin) * value
    span = last - first
    return measured, {
        "allocation_ratio": area["held"] / (CAPACITY * span),
        "busy_gpu_ratio": area["busy"] / (NODES * GPUS * span),
        "fragmentation_ratio": area["fragmented"] / area["free"],
        "fragmentation_of_total": area["fragmented"] / (CAPACITY * span),
        "stranded_ratio": area["stranded"] / (CAPACITY * span),
        "scattered_ratio": area["scattered"] / area["free"],
        "mean_busy_nodes": area["nodes"] / span,
        "mean_partial_nodes": area["partial"] / span,
        "mean_pending": area["pending"] / span,
    }


def quantile(values, share):
    """Return a quantile by linear interpolation between order statistics."""
    place = share * (len(values) - 1)
    low = math.floor(place)
    values = sorted(values)
    high = min(low + 1, len(values) - 1)
    return values[low] + (place - low) * (values[high] - values[low])


def of_jobs(jobs, measured):
    delay = [job["start_time"] - job["submit_time"] for job in measured]
    jct = [job["end_time"] - job["submit_time"] for job in measured]
    short = [max(job["duration"], 10.0) for job in measured]
    slowdown = [max(1.0, t / d) for t, d in zip(jct, short, strict=True)]
    users = {}
    for job, value in zip(measured, slowdown, strict=True):
        users.setdefault(job["user"], []).append(value)
    means = [sum(values) / len(values) for values in users.values()]
    span = max(j["end_time"] for j in jobs) - min(j["submit_time"] for j in jobs)
    return {
        "mean_queueing_delay": sum(delay) / len(delay),
        "max_queueing_delay": max(delay),
        "mean_jct": sum(jct) / len(jct),
        **{f"p{p}_queueing_delay": quantile(delay, p / 100) for p in (50, 95, 99)},
        **{f"p{p}_jct": quantile(jct, p / 100) for p in (50, 95, 99)},
        "max_latency_ratio": max(d / s for d, s in zip(delay, short, strict=True)),
        "mean_bounded_slowdown": sum(slowdown) / len(slowdown),
        "makespan": span,
        "throughput": len(jobs) / (span / 3600),
        "jain_index": sum(means) ** 2 / (len(means) * sum(x * x for x in means)),
        "deadlines_met": np.mean([j["end_time"] <= j["deadline"] for j in measured]),
    }


@pytest.mark.parametrize("scheduler", ["FGD", "RandomFit", "LifetimeAligned"])
@pytest.mark.parametrize("seed", [0, 1])
def test_measures_are_those_of_jobs_csv(scheduler, seed):
    settings = Settings(scheduler=scheduler, seed=seed, num_node=NODES, num_jobs=220,
                        interarrival_time=80.0)  # fmt: skip
    run = simulate(settings)
    jobs = run.jobs.to_dict("records")
    target = target_workload(generate(settings), settings.target_popularity)
    measured, found = by_hand(jobs, settings.warm_up, target)
    found |= of_jobs(jobs, measured)

    assert run.summary["mean_pending"] > 0.1
    for name, value in found.items():
        assert run.summary[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name
