"""Read a CSV file column by column; every problem is named by file, line and column."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from model.errors import TraceError, suggestion


class Table:
    """The text of a CSV file, checked for shape, read as numbers when asked.

    Raises
    ------
    TraceError
        If the file is missing, empty, ragged or has no row; later, if a column is
        missing or a value is not allowed.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        frame = self._read()
        header = [str(name).strip() for name in frame.iloc[0]]
        rows = frame.iloc[1:]
        if rows.empty:
            raise TraceError(f"{path}: has a header but no rows")
        repeated = sorted({name for name in header if header.count(name) > 1})
        if repeated:
            raise TraceError(f"{path}, line 1: column {repeated[0]!r} appears twice")
        breaks = frame.apply(lambda column: column.str.count("\n")).sum(axis=1)
        first_line = 1 + np.arange(len(frame)) + np.cumsum(breaks) - breaks
        blank = rows.apply(lambda column: column.str.strip() == "").all(axis=1)
        self.columns = header
        self.line: NDArray[np.int64] = first_line.to_numpy(np.int64)[1:][~blank]
        self.frame = rows[~blank].reset_index(drop=True).set_axis(header, axis=1)
        if self.frame.empty:
            raise TraceError(f"{path}: has a header but no rows")

    def _read(self) -> pd.DataFrame:
        if not self.path.is_file():
            raise TraceError(f"{self.path}: no such file")
        if self.path.stat().st_size == 0:
            raise TraceError(f"{self.path}: the file is empty")
        try:
            return pd.read_csv(
                self.path,
                header=None,
                dtype=str,
                keep_default_na=False,
                na_filter=False,
                encoding="utf-8-sig",
                skip_blank_lines=False,
                compression=None,
            )
        except pd.errors.EmptyDataError:
            raise TraceError(f"{self.path}: the file is empty") from None
        except OSError as error:
            raise TraceError(f"{self.path}: {error.strerror}") from None
        except (pd.errors.ParserError, UnicodeDecodeError) as error:
            text = str(error).replace("Error tokenizing data. C error: ", "").strip()
            raise TraceError(f"{self.path}: {text}") from None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.frame)

    def check_columns(self, required: Sequence[str], optional: Sequence[str]) -> None:
        """Raise TraceError if a required column is missing or one is unknown."""
        known = [*required, *optional]
        unknown = [name for name in self.columns if name not in known]
        for name in required:
            if name not in self.columns:
                near = suggestion(name, unknown)
                raise TraceError(
                    f"{self.path}, line 1: no column {name!r}"
                    f"{near.replace('did you mean', 'is it')}; "
                    f"required are {', '.join(required)}"
                )
        for name in unknown:
            near = suggestion(name, [known for known in known if known not in self])
            raise TraceError(
                f"{self.path}, line 1: unknown column {name!r}{near}; "
                f"known are {', '.join(known)}"
            )

    def __contains__(self, name: object) -> bool:
        """Return whether the file has a column of that name."""
        return name in self.columns

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
        empty = (text == "").to_numpy()
        values = pd.to_numeric(text, errors="coerce").to_numpy(dtype=float)
        if default is not None:
            values = np.where(empty, default, values)
            empty = np.zeros_like(empty)
        allowed = np.isfinite(values) & (values >= low) & (values <= high)
        if default is not None:
            allowed |= values == default
            allowed |= np.isnan(values) & (text == "").to_numpy() & math.isnan(default)
        if not allowed.all():
            row = int(np.argmin(allowed))
            rule = f"a finite number of at least {low:g}"
            if high < math.inf:
                rule += f" and at most {high:g}"
            raise self.error(row, name, rule)
        return np.asarray(values, dtype=float)

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
        if not whole.all():
            raise self.error(int(np.argmin(whole)), name, "a whole number")
        return values.astype(np.int64)

    def error(self, row: int, name: str, rule: str) -> TraceError:
        """Return an error about one value: where it is and what is allowed."""
        value: Any = self.frame[name].iloc[row]
        return TraceError(
            f"{self.path}, line {self.line[row]}, column {name!r}: "
            f"{value!r} is not {rule}"
        )
