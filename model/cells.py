"""Text in CSV files: no spreadsheet shall take what a job is called for a formula.

A text that begins with one of ``= + - @``, a tab or a carriage return, or with ``'``
itself, gets a ``'`` in front, which spreadsheets do not show; reading takes it away.
"""

from collections.abc import Iterable
from typing import Any

START = ("=", "+", "-", "@", "\t", "\r", "'")


def as_cell(text: str) -> str:
    """Return a text as it is written.

    >>> as_cell("=cmd()"), as_cell("job-1"), as_cell("'=x")
    ("'=cmd()", 'job-1', "''=x")
    """
    return f"'{text}" if text.startswith(START) else text


def from_cell(text: str) -> str:
    """Return what `as_cell` was given.

    >>> from_cell("'=cmd()"), from_cell("'tis"), from_cell("''=x")
    ('=cmd()', "'tis", "'=x")
    """
    return text[1:] if text[:1] == "'" and text[1:].startswith(START) else text


def as_cells(texts: Iterable[object]) -> list[Any]:
    """Return texts as they are written; what is no text, as None or nan, stays."""
    kept = list(texts)
    if not any(isinstance(text, str) and text.startswith(START) for text in kept):
        return kept
    return [as_cell(text) if isinstance(text, str) else text for text in kept]


def from_cells(texts: Iterable[object]) -> list[Any]:
    """Return texts as they were before `as_cells`."""
    return [from_cell(text) if isinstance(text, str) else text for text in texts]
