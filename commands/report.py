"""Report: one page on some runs of the same trace, with all figures.

run.py report RUN_DIR... [--out report.html]
run.py report runs                      all runs of a folder
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from analysis.report import write_report
from analysis.run_folder import read_run
from model.command_line import Parser
from model.errors import UserError


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
    traces = {run.config["trace_sha256"] for run in runs}
    if len(traces) > 1:
        raise UserError(
            "the runs are of different traces; a report compares runs of one"
        )
    page, *figures = write_report(runs, options.out)
    sys.stdout.write(f"report:  {page}\nfigures: {figures[0].parent}\n")
    return 0


def runs_in(folder: Path) -> list[Path]:
    """Return a run's folder, or those of all runs in it, ordered by name."""
    if (folder / "config.json").is_file():
        return [folder]
    return sorted(path.parent for path in folder.glob("*/config.json")) or [folder]
