"""Report: one page on some runs of the same trace, with all figures.

run.py report RUN_DIR... [--out report.html]
run.py report runs                      all runs of a folder
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from analysis.report import write_report
from analysis.run_folder import PARTIAL, Run, read_run
from model.command_line import Parser
from model.errors import UserError

SAME = (
    "trace_sha256", "capacity", "seed", "num_jobs", "interarrival_time", "arrivals",
    "warm_up", "node_gpus", "node_events", "queue",
)  # what makes runs comparable  # fmt: skip


def command(words: Sequence[str]) -> int:
    """Run ``run.py report WORDS``; return the exit code."""
    parser = Parser(prog="run.py report", description=__doc__)
    parser.add_argument(
        "runs", nargs="+", type=Path, help="folders of runs, or folders that have some"
    )
    parser.add_argument(
        "--out", type=Path, default=Path("report.html"), help="the page"
    )
    options = parser.parse(words)
    if options.out.suffix != ".html":
        raise UserError(f"--out {options.out}: must end in .html")
    runs = [read_run(path) for folder in options.runs for path in runs_in(folder)]
    first = runs[0]
    for run in runs[1:]:
        for name in SAME:
            if asked(run, name) != asked(first, name):
                raise UserError(
                    f"{run.path} and {first.path} differ in {name} "
                    f"({asked(run, name)!s:.60} and {asked(first, name)!s:.60}); a "
                    f"report compares runs of one trace on one cluster"
                )
    page, *figures = write_report(runs, options.out)
    sys.stdout.write(f"report:  {page}\nfigures: {figures[0].parent}\n")
    return 0


def asked(run: Run, name: str) -> Any:
    """Return a setting of a run, or something of its config.json."""
    return run.config["settings"].get(name, run.config.get(name))


def runs_in(folder: Path) -> list[Path]:
    """Return a run's folder, or those of all runs in it, ordered by name."""
    if (folder / "config.json").is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob("*/config.json"))
    return [path for path in found if not path.name.endswith(PARTIAL)] or [folder]
