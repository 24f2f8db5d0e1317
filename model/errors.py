"""Errors of our own.

ValueError
 +-- UserError        the user asked for something that cannot be done
      +-- TraceError  a file cannot be read: says file, line, column, value
PlacementError        a scheduler asked for GPUs that are not free (a bug)
"""

import difflib
import sys
from collections.abc import Iterable

INTERRUPTED = 130  # exit code after Ctrl-C, as shells have it


class UserError(ValueError):
    """The user's input cannot be used; its text is one line that says why."""


class TraceError(UserError):
    """A file cannot be used; the text says where and what would be allowed."""


class PlacementError(RuntimeError):
    """A placement does not fit the devices it names."""


def suggestion(word: str, allowed: Iterable[str]) -> str:
    """Return `` (did you mean "x"?)`` for the nearest allowed word, or nothing.

    >>> suggestion("durration", ["duration", "user"])
    ' (did you mean "duration"?)'
    >>> suggestion("zzz", ["duration", "user"])
    ''
    """
    known = {name.lower(): name for name in allowed}
    near = difflib.get_close_matches(word.lower(), known, n=1)
    return f' (did you mean "{known[near[0]]}"?)' if near else ""


def complain(error: UserError) -> int:
    """Print a user's error as one line; return the exit code for it."""
    sys.stderr.write(f"error: {' '.join(str(error).split())}\n")
    return 2
