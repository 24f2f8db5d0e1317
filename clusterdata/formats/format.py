"""What a format is."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from clusterdata.report import Report
from model.errors import UserError
from model.job import Job

Options = Mapping[str, str]


class Head(NamedTuple):
    """The beginning of a file, by which formats recognise it."""

    path: Path
    text: str
    columns: frozenset[str]  # of the first line, if it is CSV


class Option(NamedTuple):
    """Something a reader of a format can be told.

    Attributes
    ----------
    allowed : the values there are; empty = a whole number above 0.
    """

    default: str
    meaning: str
    allowed: tuple[str, ...] = ()

    def read(self, name: str, value: str) -> str:
        """Return the value, or raise UserError if it is not allowed; case is none."""
        value = value.strip().lower()
        if self.allowed and value not in self.allowed:
            raise UserError(
                f"--trace-format {name}={value}: must be {' or '.join(self.allowed)}"
            )
        if not self.allowed and not (
            value.isascii() and value.isdigit() and 0 < int(value) <= 10**9
        ):
            raise UserError(f"--trace-format {name}={value}: must be at least 1")
        return value


YES_NO = ("true", "false")


class Format(NamedTuple):
    """How one kind of trace is recognised and read.

    Attributes
    ----------
    name : on the command line.
    about : what it is, one line.
    read : jobs in the order of the file, with what was left out in the report.
    columns : by which a CSV file is recognised, if these are in its first line.
    recognises : another way to recognise a file.
    options : by name, for ``--trace-format name:option=value``.
    """

    name: str
    about: str
    read: Callable[[Path, Report, Options], list[Job]]
    columns: tuple[str, ...] = ()
    recognises: Callable[[Head], bool] = lambda head: False
    options: Mapping[str, "Option"] = {}
