"""What a format is."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from clusterdata.report import Report
from model.job import Job

Options = Mapping[str, str]
NO_OPTIONS: Options = {}


class Head(NamedTuple):
    """The beginning of a file, by which formats recognise it."""

    path: Path
    text: str
    columns: frozenset[str]  # of the first line, if it is CSV


class Format(NamedTuple):
    """How one kind of trace is recognised and read.

    Attributes
    ----------
    name : on the command line.
    about : what it is, one line.
    read : jobs in the order of the file, with what was left out in the report.
    columns : by which a CSV file is recognised, if these are in its first line.
    recognises : another way to recognise a file.
    options : name, default and meaning, for ``--trace-format name:option=value``.
    timed : whether the file says when jobs were submitted.
    """

    name: str
    about: str
    read: Callable[[Path, Report, Options], list[Job]]
    columns: tuple[str, ...] = ()
    recognises: Callable[[Head], bool] = lambda head: False
    options: Mapping[str, tuple[str, str]] = {}
    timed: bool = True
