"""Every measure of a run, from its jobs.csv, cluster.csv and moves.csv.

Means over jobs leave out the warm-up: the first part of the jobs that were not
refused, in the order of submission. Means over time are taken while the load lasts:
from the first measured job's submission to the last submission (over the whole run if
those are one instant).
"""

from typing import Any

import numpy as np
import pandas as pd

from analysis.bounds import pooled_mean, those

SHORT = 10.0  # s; shorter jobs count as this long in the bounded slowdown


def summarize(
    jobs: pd.DataFrame,
    cluster: pd.DataFrame,
    moves: pd.DataFrame,
    config: dict[str, Any],
) -> dict[str, Any]:
    """Return all measures of one run; seconds unless the name says otherwise.

    Parameters
    ----------
    jobs, cluster, moves : the run's tables.
    config : its config.json, for the settings and the capacity of the cluster.
    """
    settings = config["settings"]
    asked = those(jobs, jobs["status"] != "refused")
    measured = asked.iloc[int(settings["warm_up"] * len(asked)) :]
    done = those(measured, measured["status"] == "finished")
    return {
        "scheduler": settings["scheduler"],
        "queue": settings["queue"],
        "seed": settings["seed"],
        **count_jobs(jobs),
        **delay_measures(done),
        **makespan_measures(jobs),
        **cluster_measures(load_window(cluster, measured)),
        **blocked_measures(cluster),
        **fairness_measures(measured),
        **move_measures(jobs, moves),
        **failure_measures(jobs, cluster),
        "pooled_mean_queueing_delay": pooled_mean(jobs, config),
        "offered_load": config["offered_load"],
    }


def count_jobs(jobs: pd.DataFrame) -> dict[str, int]:
    """Return counts of jobs.

    jobs : of the trace.
    finished : ended with their work done.
    refused : no empty cluster could host them.
    unfinished : left over, for want of nodes or because the run was interrupted.
    """
    status = jobs["status"].value_counts()
    names = ("finished", "refused", "unfinished")
    return {"jobs": len(jobs), **{name: int(status.get(name, 0)) for name in names}}


def delay_measures(done: pd.DataFrame) -> dict[str, float]:
    """Return delays and completion times, s, and what they are in durations.

    mean_queueing_delay, p50_queueing_delay, p95_queueing_delay, p99_queueing_delay,
        max_queueing_delay : first start - submission.
    mean_jct, p50_jct, p95_jct, p99_jct : job completion time, end - submission.
    max_latency_ratio : the largest delay / max(duration, 10 s), as in Hops (SoCC 2024).
    mean_bounded_slowdown : max(1, JCT / max(duration, 10 s)), Feitelson et al., JSSPP
        1997.
    """
    delay = done["start_time"] - done["submit_time"]
    jct = done["end_time"] - done["submit_time"]
    measures = {}
    for name, values in (("queueing_delay", delay), ("jct", jct)):
        measures[f"mean_{name}"] = float(values.mean())
        for percent in (50, 95, 99):
            measures[f"p{percent}_{name}"] = float(values.quantile(percent / 100))
    measures["max_queueing_delay"] = float(delay.max())
    ratio = delay / done["duration"].clip(lower=SHORT)
    measures["max_latency_ratio"] = float(ratio.max())
    measures["mean_bounded_slowdown"] = float(bounded_slowdown(done).mean())
    return measures


def bounded_slowdown(done: pd.DataFrame) -> "pd.Series[float]":
    """Return each job's JCT over its duration, both kept from being tiny."""
    jct = done["end_time"] - done["submit_time"]
    return (jct / done["duration"].clip(lower=SHORT)).clip(lower=1.0)


def makespan_measures(jobs: pd.DataFrame) -> dict[str, float]:
    """Return how long the whole trace took.

    makespan : last end - first submission, s.
    throughput : jobs finished per hour of it.
    """
    done = those(jobs, jobs["status"] == "finished")
    makespan = float(done["end_time"].max() - jobs["submit_time"].min())
    hours = makespan / 3600
    throughput = len(done) / hours if hours > 0 else float("nan")
    return {"makespan": makespan, "throughput": throughput}


def load_window(cluster: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Return the samples while the load lasts, with the seconds each holds."""
    submits = measured["submit_time"]
    if measured.empty or submits.min() == submits.max():
        return with_seconds(cluster)
    return with_seconds(cluster, float(submits.min()), float(submits.max()))


def with_seconds(
    cluster: pd.DataFrame, start: float = -np.inf, end: float = np.inf
) -> pd.DataFrame:
    """Return samples with ``from`` and ``seconds`` they hold between *start* and *end*.

    The last sample holds for no time: nothing is known after it.
    """
    time = cluster["time"].to_numpy(float)
    until = np.append(time[1:], time[-1:])
    began = np.maximum(time, start)
    seconds = np.maximum(np.minimum(until, end) - began, 0.0)
    held = cluster.assign(**{"from": began, "seconds": seconds})
    return held[held["seconds"] > 0]


def cluster_measures(window: pd.DataFrame) -> dict[str, float]:
    """Return the time-weighted measures of allocation and fragmentation, each 0..1.

    allocation_ratio : milli-GPU held / capacity.
    busy_gpu_ratio : devices with any use / devices; what others call utilisation.
    fragmentation_ratio : F / free milli-GPU, F as in FGD (ATC'23).
    fragmentation_of_total : F / capacity.
    stranded_ratio : free milli-GPU while the queue's head waits although the sum of
        all that is free would hold it / capacity; what fragmentation really costs.
    scattered_ratio : fully free GPUs on nodes not wholly free / all that is free.
    mean_busy_nodes, mean_partial_nodes : nodes with any job; with some GPU held and
        some free.
    mean_pending : jobs in the queue.
    """
    seconds = window["seconds"]

    def area(name: str) -> float:
        return float((window[name] * seconds).sum())

    def ratio(part: str, whole: str, factor: float = 1.0) -> float:
        total = area(whole)
        return factor * area(part) / total if total else float("nan")

    time = float(seconds.sum())
    return {
        "allocation_ratio": ratio("allocated", "capacity"),
        "busy_gpu_ratio": ratio("busy_gpus", "capacity", 1000.0),
        "fragmentation_ratio": ratio("fragmented", "free"),
        "fragmentation_of_total": ratio("fragmented", "capacity"),
        "stranded_ratio": ratio("stranded", "capacity"),
        "scattered_ratio": ratio("scattered", "free", 1000.0),
        **{
            f"mean_{name}": area(name) / time if time else float("nan")
            for name in ("busy_nodes", "partial_nodes", "pending")
        },
    }


def blocked_measures(cluster: pd.DataFrame) -> dict[str, float]:
    """Return the time lost to fragmentation, over the whole run.

    blocked_seconds : for how long fragmentation alone kept the queue's head back, s.
    """
    held = with_seconds(cluster)
    return {"blocked_seconds": float((held["blocked"] * held["seconds"]).sum())}


def fairness_measures(measured: pd.DataFrame) -> dict[str, float]:
    """Return how evenly users fare, and how many deadlines were met; nan without any.

    jain_index : of the users' mean bounded slowdowns, (sum x)^2 / (n sum x^2): 1 if all
        fare alike, 1/n if one has it all.
    deadlines_met : share of the jobs with a deadline that ended by then; a job that
        never ended misses its deadline, refused jobs do not count.
    """
    done = those(measured, measured["status"] == "finished")
    slowdown = bounded_slowdown(done).groupby(done["user"].fillna("")).mean()
    jain = float("nan")
    if len(slowdown) > 1:
        jain = float(slowdown.sum() ** 2 / (len(slowdown) * (slowdown**2).sum()))
    due = measured[measured["deadline"].notna()]
    met = float((due["end_time"] <= due["deadline"]).mean())
    return {"jain_index": jain, "deadlines_met": met}


def move_measures(jobs: pd.DataFrame, moves: pd.DataFrame) -> dict[str, float]:
    """Return how often jobs moved, and what it cost.

    moves : migrations and evictions.
    moves_per_job : moves / jobs of the trace.
    moved_gpu_seconds : GPU-seconds without progress.
    moved_share : these / the GPU-seconds that all jobs ask for.
    max_moves_per_job : of the job that moved most.
    """
    gpus = jobs["num_workers"] * jobs["num_gpus"] * jobs["gpu_milli"] / 1000
    of_job = dict(zip(jobs["job_id"].astype(str), gpus, strict=True))
    lost = moves["job_id"].astype(str).map(of_job).to_numpy(float) * moves["cost"]
    asked = float((gpus * jobs["duration"]).sum())
    return {
        "moves": len(moves),
        "moves_per_job": len(moves) / len(jobs) if len(jobs) else 0.0,
        "moved_gpu_seconds": float(lost.sum()),
        "moved_share": float(lost.sum()) / asked if asked else 0.0,
        "max_moves_per_job": int(jobs["moves"].max()) if len(jobs) else 0,
    }


def failure_measures(jobs: pd.DataFrame, cluster: pd.DataFrame) -> dict[str, float]:
    """Return what came of the GPU time that was held, over the whole run.

    goodput : GPU-seconds that finished jobs asked for / GPU-seconds held; the rest went
        to failures, pauses and interference. Elastic jobs hold other numbers of GPUs
        than they ask for, so there it says nothing.
    lost_gpu_seconds : work that failures undid.
    restarts : how often jobs ran again after an eviction.
    """
    gpus = jobs["num_workers"] * jobs["num_gpus"] * jobs["gpu_milli"] / 1000
    done = jobs["status"] == "finished"
    held = with_seconds(cluster)
    area = float((held["allocated"] * held["seconds"]).sum()) / 1000
    useful = float((gpus * jobs["duration"])[done].sum())
    again = jobs["restarts"].fillna("").astype(str)
    return {
        "goodput": useful / area if area else float("nan"),
        "lost_gpu_seconds": float((gpus * jobs["lost_seconds"]).sum()),
        "restarts": int((again.str.count("@")).sum()),
    }
