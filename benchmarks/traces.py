"""How fast a large trace is read, and with how much memory.

python -m benchmarks.traces [--rows 1000000]

Writes a task table as PAI's publisher would, then reads it in a process of its own.
"""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from clusterdata.registry import read_trace

GPUS = ("25.0", "50.0", "100.0", "10.0", "200.0", "800.0", "")
STATUS = ("Terminated", "Terminated", "Terminated", "Failed", "Running")
TYPES = ("MISC", "T4", "P100", "V100")


def write_table(path: Path, rows: int) -> None:
    """Write a pai_task_table with so many tasks."""
    rng = np.random.default_rng(0)
    starts = np.sort(rng.uniform(0, 5e6, rows))
    seconds = rng.lognormal(6.5, 2.0, rows)
    picks = rng.integers(0, 10**6, (rows, 4))
    with path.open("w") as file:
        for row in range(rows):
            gpu, status, kind, inst = picks[row]
            start = float(starts[row])
            file.write(
                f"{row:024x},worker,{1.0 + inst % 3},{STATUS[status % 5]},{start:.1f},"
                f"{start + seconds[row]:.1f},600.0,29.296875,{GPUS[gpu % 7]},"
                f"{TYPES[kind % 4]}\n"
            )


def read(path: Path) -> None:
    """Read a trace; print jobs, seconds and the most memory that was used."""
    began, worked = time.perf_counter(), time.process_time()
    trace = read_trace(path)
    seconds, work = time.perf_counter() - began, time.process_time() - worked
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    for line in trace.report.lines():
        print(line.split(": ", 1)[1])
    print(
        f"{len(trace.jobs):,} jobs in {seconds:.1f} s ({work:.1f} s of one core), at "
        f"most {most:,.0f} MiB"
    )


def main() -> None:
    """Write the table, read it in a fresh process."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--read", type=Path)
    asked = parser.parse_args()
    if asked.read:
        read(asked.read)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pai_task_table.csv"
        write_table(path, asked.rows)
        print(f"{asked.rows:,} tasks, {path.stat().st_size / 2**20:.0f} MiB")
        again = [sys.executable, "-m", "benchmarks.traces", "--read", str(path)]
        subprocess.run(again, check=True)


if __name__ == "__main__":
    main()
