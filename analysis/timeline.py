"""A run as a trace for Perfetto or chrome://tracing: who ran where, minute by minute.

Nodes are processes, GPUs are threads (one more for each job that shares a GPU at the
same time), jobs are slices, migrations are arrows between slices, and the queue and
fragmentation are counters. Format: Trace Event Format, JSON object, gzip; times are
in microseconds. Open it at https://ui.perfetto.dev.
"""

import gzip
import json
from typing import Any

import pandas as pd

from analysis.occupancy import occupancy
from analysis.run_folder import Run

MICRO = 1e6  # in a second
LANES = 1000  # threads of one GPU at most; a share is at least a thousandth
COUNTERS = {  # column of cluster.csv: its name in the picture, and the factor to GPUs
    "pending": ("jobs in the queue", 1.0),
    "fragmented": ("fragmented GPUs", 1e-3),
    "stranded": ("stranded GPUs", 1e-3),
    "allocated": ("allocated GPUs", 1e-3),
}
MOST_SAMPLES = 20_000  # of each counter; more only makes the file large
Event = dict[str, Any]


def timeline(run: Run) -> bytes:
    """Return the gzip file; equal runs give equal bytes."""
    stretches = occupancy(run).sort_values(["start", "job", "node", "gpu"])
    stretches["lane"] = _lanes(stretches)
    events = [
        *_names(run, stretches),
        *_slices(run, stretches),
        *_arrows(stretches),
        *_counters(run),
    ]
    content = {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {
            "scheduler": run.summary["scheduler"],
            "trace": run.config["trace"],
        },
    }
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=True)
    return gzip.compress(text.encode(), compresslevel=6, mtime=0)


def _lanes(stretches: pd.DataFrame) -> list[int]:
    """Return the lane of each stretch: the first that is free on its GPU."""
    until: dict[tuple[int, int], list[float]] = {}
    lanes = []
    columns = (stretches[name].tolist() for name in ("node", "gpu", "start", "end"))
    for node, gpu, start, end in zip(*columns, strict=True):
        ends = until.setdefault((node, gpu), [])
        lane = next((i for i, end in enumerate(ends) if end <= start), len(ends))
        if lane == len(ends):
            ends.append(end)
        else:
            ends[lane] = end
        lanes.append(lane)
    return lanes


def _thread(gpu: int, lane: int) -> int:
    return gpu * LANES + lane


def _names(run: Run, stretches: pd.DataFrame) -> list[Event]:
    """Return what nodes and GPUs are called, and in which order they are shown."""
    events: list[Event] = []
    used = set(zip(stretches["node"], stretches["gpu"], stretches["lane"], strict=True))
    for node in sorted({node for node, _, _ in used}):
        events += [
            _meta("process_name", node + 1, 0, {"name": f"node {node}"}),
            _meta("process_sort_index", node + 1, 0, {"sort_index": node + 1}),
        ]
    for node, gpu, lane in sorted(used):
        name = f"GPU {gpu}" + (f" ({lane + 1})" if lane else "")
        thread = _thread(gpu, lane)
        events += [
            _meta("thread_name", node + 1, thread, {"name": name}),
            _meta("thread_sort_index", node + 1, thread, {"sort_index": thread}),
        ]
    events.append(_meta("process_name", 0, 0, {"name": "cluster"}))
    return events


def _meta(name: str, process: int, thread: int, about: dict[str, Any]) -> Event:
    return {"ph": "M", "name": name, "pid": process, "tid": thread, "args": about}


def _slices(run: Run, stretches: pd.DataFrame) -> list[Event]:
    jobs = run.jobs.fillna({"user": "", "job_class": ""})
    about = [
        {"GPUs": workers * gpus * milli / 1000, "user": user, "waited": round(wait, 3)}
        for workers, gpus, milli, user, wait in zip(
            jobs["num_workers"], jobs["num_gpus"], jobs["gpu_milli"],
            jobs["user"].astype(str), jobs["pending_seconds"], strict=True,
        )
    ]  # fmt: skip
    columns = (
        stretches[name].tolist()
        for name in ("job", "job_id", "node", "gpu", "lane", "start", "end")
    )
    return [
        {
            "ph": "X", "name": job_id, "cat": "job", "pid": node + 1,
            "tid": _thread(gpu, lane), "ts": start * MICRO,
            "dur": (end - start) * MICRO, "args": about[job],
        }
        for job, job_id, node, gpu, lane, start, end in zip(*columns, strict=True)
    ]  # fmt: skip


def _arrows(stretches: pd.DataFrame) -> list[Event]:
    """Return an arrow for each time a job went on elsewhere, on its first GPU."""
    first = stretches.drop_duplicates(["job", "start"])
    later = first[first.duplicated("job")]
    events: list[Event] = []
    before = first.groupby("job").shift(1)
    for number, row in enumerate(later.index):
        old, new = before.loc[row], first.loc[row]
        ends = ((old, "s", old["end"]), (new, "f", new["start"]))
        for stretch, kind, time in ends:
            event = {
                "ph": kind, "id": number + 1, "name": "migration", "cat": "migration",
                "pid": int(stretch["node"]) + 1,
                "tid": _thread(int(stretch["gpu"]), int(stretch["lane"])),
                "ts": float(time) * MICRO - (0.001 if kind == "s" else 0),
            }  # fmt: skip
            events.append(event | ({"bp": "e"} if kind == "f" else {}))
    return events


def _counters(run: Run) -> list[Event]:
    cluster = run.cluster.iloc[:: max(1, len(run.cluster) // MOST_SAMPLES)]
    times = (cluster["time"] * MICRO).tolist()
    return [
        {"ph": "C", "name": name, "pid": 0, "tid": 0, "ts": time,
         "args": {"value": value}}
        for column, (name, factor) in COUNTERS.items()
        for time, value in zip(times, (cluster[column] * factor).tolist(), strict=True)
    ]  # fmt: skip
