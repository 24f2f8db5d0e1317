"""All measurements in one table and one figure: python -m benchmarks.

    python -m benchmarks                        everything, about half an hour
    python -m benchmarks --quick                small sizes, about two minutes
    python -m benchmarks --sections nodes,jobs  some of it
    python -m benchmarks --check                are the calls per job as they were?
    python -m benchmarks --write-baseline       they are meant to be as they are now

Writes benchmarks.csv, benchmarks.md and benchmarks.png into `--out`. `--check` compares
with benchmarks/baseline.json: calls per job do not depend on the machine (a little on
the versions of Python and NumPy), so one that is dearer by more than 5 % is a
regression, and the exit code is 1.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from benchmarks.cost_model import fit, told
from benchmarks.picture import draw
from benchmarks.sections import SECTIONS, Row, cost_calls

BASELINE = Path(__file__).with_name("baseline.json")
TOLERANCE = 0.05


def main(words: Sequence[str] | None = None) -> int:
    """Measure what is asked for; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--out", type=Path, default=Path("runs/benchmarks"))
    parser.add_argument("--check", action="store_true", help="against the baseline")
    parser.add_argument("--write-baseline", action="store_true")
    asked = parser.parse_args(words)
    if asked.check or asked.write_baseline:
        return baseline(asked.write_baseline)
    unknown = sorted(set(asked.sections.split(",")) - set(SECTIONS))
    if unknown:
        parser.error(f"no section {unknown[0]}; there are {', '.join(SECTIONS)}")
    rows: list[Row] = []
    for name in asked.sections.split(","):
        for row in SECTIONS[name](asked.quick):
            rows.append(row)
            print(line(row), flush=True)
    table = pd.DataFrame(rows, columns=list(Row._fields))
    asked.out.mkdir(parents=True, exist_ok=True)
    table.to_csv(asked.out / "benchmarks.csv", index=False, lineterminator="\n")
    (asked.out / "benchmarks.md").write_text("\n".join(map(line, rows)) + "\n")
    draw(table).savefig(asked.out / "benchmarks.png", dpi=120)
    if {"nodes", "jobs"} <= set(table["section"]) and not asked.quick:
        print(told(fit(table)))
    print(f"results: {asked.out}")
    return 0


def line(row: Row) -> str:
    """Return a row of the table as text."""
    value = f"{row.value:,.3g}" if row.value < 1000 else f"{row.value:,.0f}"
    return f"| {row.section} | {row.case} | {row.x:,g} | {value} {row.unit} |"


def baseline(write: bool) -> int:
    """Write the calls per job, or compare them with what was written."""
    now = {f"{row.case}, {row.x:g} nodes": row.value for row in cost_calls(quick=True)}
    if write:
        BASELINE.write_text(json.dumps(now, indent=1) + "\n")
        return 0
    then, dearer = json.loads(BASELINE.read_text()), 0
    for case, value in now.items():
        change = value / then[case] - 1 if case in then else 0.0
        dearer += change > TOLERANCE
        print(f"{case:32} {value:8.1f} calls/job  {100 * change:+5.1f} %")
    return 1 if dearer else 0


if __name__ == "__main__":
    sys.exit(main())
