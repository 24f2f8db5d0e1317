"""Columns of text, read as numbers and times; problems are named by line and column."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from clusterdata.parsing import framed, rows_of
from clusterdata.report import LEFT_OUT, REPAIRED, Mask, Report
from clusterdata.source import opened
from model.errors import TraceError, suggestion

CHUNK = 200_000  # rows
CLOCK = r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?"


class Table:
    """The text of a CSV file, checked for shape, read as numbers when asked.

    Attributes
    ----------
    columns : their names.
    frame : the text, one row for each that is not blank.
    line : (rows,) where each row begins in the file.
    bad : (rows,) whether something about a row was not allowed; without a report
        that collects, that is an error at once.

    Raises
    ------
    TraceError
        If the file is missing, empty, ragged or has no row; later, if a column is
        missing or a value is not allowed.
    """

    def __init__(
        self, path: str | Path, report: Report | None = None, separator: str = ","
    ) -> None:
        path, quoted = Path(path), separator == ","  # others never quote
        with opened(path) as file:
            rows = rows_of(path, file, separator, quoted)
            _, first = next(rows, (0, []))
            header = [name.strip() for name in first]
            frame, lines = framed(rows, header)
        if not header:
            raise TraceError(f"{path}: the file is empty")
        repeated = sorted({name for name in header if header.count(name) > 1})
        if repeated:
            raise TraceError(f"{path}, line 1: column {repeated[0]!r} appears twice")
        if not len(lines):
            raise TraceError(f"{path}: has a header but no rows")
        self._take(path, frame, lines, report, "line")

    @classmethod
    def of(
        cls,
        path: Path,
        columns: pd.DataFrame | Mapping[str, Sequence[str]],
        line: NDArray[np.int64],
        report: Report | None = None,
        word: str = "line",
    ) -> "Table":
        """Return a table of text that was read otherwise.

        Parameters
        ----------
        line, word : where each row is in the file, as in ``line 7`` or ``item 7``.
        """
        table = cls.__new__(cls)
        frame = pd.DataFrame(columns, dtype=object)
        table._take(path, frame, line, report, word)
        return table

    @classmethod
    def chunks(
        cls, path: Path, header: Sequence[str], report: Report, member: str = ""
    ) -> Iterator["Table"]:
        """Yield a large file without quotes piece by piece.

        Parameters
        ----------
        header : the columns of a file that does not name them; if its first line
            does, that line is passed over.
        """
        with opened(path, member) as file:
            rows = rows_of(path, file, quoted=False)
            while chunk := [*islice(rows, CHUNK)]:
                if chunk[0] == (1, [*header]):
                    del chunk[0]
                if not chunk:
                    continue
                line, first = chunk[0]
                if len(first) != len(header):
                    raise TraceError(
                        f"{path}, line {line}: has {len(first)} fields, not "
                        f"{len(header)} ({', '.join(header)})"
                    )
                yield cls.of(path, *framed(chunk, [*header]), report)

    def _take(
        self,
        path: Path,
        rows: pd.DataFrame,
        line: NDArray[np.int64],
        report: Report | None,
        word: str,
    ) -> None:
        self.path, self.columns, self.word = path, [*rows.columns], word
        self.report = report or Report()
        self.frame, self.line = rows, line
        self.bad: Mask = np.zeros(len(self.frame), bool)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.frame)

    def __contains__(self, name: object) -> bool:
        """Return whether the file has a column of that name."""
        return name in self.columns

    def check_columns(self, required: Sequence[str], optional: Sequence[str]) -> None:
        """Raise TraceError if a required column is missing or one is unknown."""
        known = [*required, *optional]
        unknown = [name for name in self.columns if name not in known]
        self.need(required, unknown)
        for name in unknown:
            near = suggestion(name, [known for known in known if known not in self])
            raise TraceError(
                f"{self.path}, line 1: unknown column {name!r}{near}; "
                f"known are {', '.join(known)}"
            )

    def need(self, required: Sequence[str], unknown: Sequence[str] = ()) -> None:
        """Raise TraceError if one of the columns is missing; others may be there."""
        for name in required:
            if name not in self.columns:
                near = suggestion(name, unknown or self.columns)
                raise TraceError(
                    f"{self.path}, line 1: no column {name!r}"
                    f"{near.replace('did you mean', 'is it')}; "
                    f"required are {', '.join(required)}"
                )

    def text(self, name: str, default: str = "") -> list[str]:
        """Return a column as text; *default* for each row if there is none."""
        if name not in self:
            return [default] * len(self)
        stripped: list[str] = self.frame[name].str.strip().tolist()
        return stripped

    def numbers(
        self,
        name: str,
        low: float = 0.0,
        high: float = math.inf,
        default: float | None = None,
    ) -> NDArray[np.float64]:
        """Return a column of finite numbers between *low* and *high*, (rows,).

        An empty field takes *default*; it is an error if there is none.
        """
        if name not in self and default is not None:
            return np.full(len(self), default)
        text = self.frame[name].str.strip()
        empty = (text == "").to_numpy(bool)
        values = pd.to_numeric(text, errors="coerce").to_numpy(dtype=float)
        allowed = np.isfinite(values) & (values >= low) & (values <= high)
        if default is not None:
            values = np.where(empty, default, values)
            allowed |= values == default
            allowed |= empty
        rule = f"a finite number of at least {low:g}"
        if high < math.inf:
            rule += f" and at most {high:g}"
        self.check(allowed, name, rule)
        return np.where(allowed, values, max(low, 0.0))

    def integers(
        self,
        name: str,
        low: int = 0,
        high: float = 2**53,
        default: int | None = None,
    ) -> NDArray[np.int64]:
        """Return a column of whole numbers between *low* and *high*, (rows,)."""
        values = self.numbers(name, low, high, default)
        whole = values == np.floor(values)
        self.check(whole, name, "a whole number")
        return np.where(whole, values, low).astype(np.int64)

    def times(self, name: str, none: Sequence[str] = ("",)) -> NDArray[np.float64]:
        """Return a column of dates and times as s since 1970, nan for those in *none*.

        Times without a zone are taken as UTC, so that no hour is missing or twice.
        """
        text = self.frame[name].str.strip()
        exact = text.where(text.str.fullmatch(CLOCK), "")
        parsed = pd.to_datetime(exact, errors="coerce", utc=True, format="ISO8601")
        absent = text.isin([*none]).to_numpy(bool)
        since = parsed.dt.as_unit("us").astype("int64").to_numpy() / 1e6
        values = np.where(parsed.isna(), np.nan, since)
        self.check(absent | ~np.isnan(values), name, "a time as 2020-04-01 12:30:00")
        return values

    def check(self, allowed: Mask, name: str, rule: str) -> None:
        """Refuse the rows that are not allowed: an error, or marked as bad."""
        for row in np.flatnonzero(~allowed).tolist():
            self.report.wrong(self.error(row, name, rule))
        self.bad |= ~allowed

    def left_out(self, rows: Mask, why: str) -> None:
        """Count rows that the jobs will not contain."""
        rows = rows & ~self.bad
        self.report.note(LEFT_OUT, str(self.path), rows, why, self.where)

    def repaired(self, rows: Mask, why: str) -> None:
        """Count rows whose values were changed."""
        rows = rows & ~self.bad
        self.report.note(REPAIRED, str(self.path), rows, why, self.where)

    def where(self, row: int) -> str:
        """Return where a row is, as in ``line 7``."""
        return f"{self.word} {self.line[row]}"

    def error(self, row: int, name: str, rule: str) -> TraceError:
        """Return an error about one value: where it is and what is allowed."""
        value: Any = self.frame[name].iloc[row] if name in self.frame else ""
        shown = repr(value) if len(str(value)) <= 80 else repr(str(value)[:77] + "...")
        return TraceError(
            f"{self.path}, {self.where(row)}, column {name!r}: {shown} is not {rule}"
        )
