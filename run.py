"""Defrag: what fragmentation costs a GPU cluster, and which scheduler gives it back.

python run.py                                   three schedulers, one table, one figure
python run.py --num-node 64 --interarrival-time 8 --scheduler FGD
python run.py --trace jobs.csv --node-list nodes.csv --resources gpu,cpu,memory
python run.py compare --experiment fgd-openb --data FOLDER   FGD's published experiment
"""

import os
import sys
from collections.abc import Callable, Sequence

from commands import compare, plan, simulate
from model.errors import UserError, complain, suggestion

COMMANDS = {
    "simulate": simulate.command,
    "compare": compare.command,
    "plan": plan.command,
}
INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; return 0, 2 for a user's error, 130 after Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = words.pop(0) if words and not words[0].startswith("-") else "simulate"
    try:
        return find_command(name)(words, __doc__)
    except UserError as error:
        return complain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def find_command(name: str) -> Callable[[Sequence[str], str], int]:
    """Return the command of that name, or raise UserError."""
    if name in COMMANDS:
        return COMMANDS[name]
    near, known = suggestion(name, COMMANDS), ", ".join(COMMANDS)
    raise UserError(f"no command {name!r}{near}; there are {known}")


if __name__ == "__main__":
    sys.exit(main())
