"""Compare schedulers over seeds, in parallel."""

from collections.abc import Sequence
from pathlib import Path

from commands.fgd_openb import TRACES, fgd_openb
from commands.parallel import read_seeds
from model.command_line import Parser
from model.errors import UserError


def command(words: Sequence[str], description: str) -> int:
    """Run ``run.py compare WORDS``; return the exit code."""
    options = make_parser(description).parse(words)
    if options.experiment != "fgd-openb":
        raise UserError(f"--experiment {options.experiment!r}: must be fgd-openb")
    return fgd_openb(
        options.traces.split(","),
        read_seeds(options.seeds),
        options.data,
        options.out / (options.name or "fgd-openb"),
        options.workers,
    )


def make_parser(description: str) -> Parser:
    """Return the parser of `compare`."""
    parser = Parser(prog="run.py compare", description=description, allow_abbrev=False)
    parser.add_argument("--experiment", default="", help="fgd-openb")
    parser.add_argument(
        "--traces", default="default", help=f"with commas, of {', '.join(TRACES)}"
    )
    parser.add_argument("--seeds", default="3", help="number, list or range")
    parser.add_argument(
        "--data", type=Path, default=Path("openb"), help="folder of the openb CSV files"
    )
    parser.add_argument("--out", type=Path, default=Path("runs"), help="output folder")
    parser.add_argument("--name", default="", help="folder in it")
    parser.add_argument("--workers", type=int, default=0, help="processes; 0 = cores")
    return parser
