"""Defrag: what fragmentation costs a GPU cluster, and which scheduler gives it back.

python run.py [simulate]    run some schedulers on one trace
python run.py compare       schedulers over paired seeds; FGD's published experiment
python run.py sweep         a grid of settings x seeds, over processes or a Ray cluster
python run.py report        one page on some runs, with all figures
python run.py train         what DRR ships with: its scorer, its policy
python run.py trace         look at jobs, check, convert, generate and fetch them
python run.py plan          which running jobs to move on a real cluster
"""

import os
import sys
from collections.abc import Callable, Sequence
from errno import ENAMETOOLONG
from importlib import import_module

from model.errors import INTERRUPTED, UserError, complain, suggestion

COMMANDS = ("simulate", "compare", "plan", "report", "sweep", "trace", "train")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; return 0, 2 for a user's error, 130 after Ctrl-C."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    name = words.pop(0) if words and not words[0].startswith("-") else "simulate"
    try:
        return find_command(name)(words)
    except UserError as error:
        return complain(error)
    except PermissionError as error:  # a folder that we may not even look into
        return complain(UserError(f"{error.filename or error}: permission denied"))
    except OSError as error:
        if error.errno != ENAMETOOLONG:
            raise
        return complain(UserError(f"{error.filename!s:.99}...: the name is too long"))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has left, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def find_command(name: str) -> Callable[[Sequence[str]], int]:
    """Return the command of that name, or raise UserError."""
    if name in COMMANDS:  # imported only if asked for, as most need little of the rest
        command: Callable[[Sequence[str]], int]
        command = import_module(f"commands.{name}").command
        return command
    near, known = suggestion(name, COMMANDS), ", ".join(COMMANDS)
    raise UserError(f"no command {name!r}{near}; there are {known}")


if __name__ == "__main__":
    sys.exit(main())
