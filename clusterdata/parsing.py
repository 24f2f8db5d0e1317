"""CSV as columns of text, with errors that name file and line."""

import csv
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from model.errors import TraceError

LONGEST = 2**24  # characters of a field
PIECE = 10_000  # rows


def rows_of(
    path: Path, file: TextIO, separator: str = ",", quoted: bool = True
) -> Iterator[tuple[int, list[str]]]:
    """Yield each row and the line that it begins on; rows of nothing are left out.

    Raises
    ------
    TraceError
        If a row has more or fewer fields than the first, or cannot be parsed.
    """
    csv.field_size_limit(LONGEST)
    how: Any = {} if quoted else {"quoting": csv.QUOTE_NONE}
    reader = csv.reader(file, delimiter=separator, strict=quoted, **how)
    line, fields = 1, 0
    try:
        for row in reader:
            began, line = line, reader.line_num + 1
            if not any(map(str.strip, row)):
                continue
            fields = fields or len(row)
            if len(row) != fields:
                raise TraceError(
                    f"{path}, line {began}: has {len(row)} fields, not {fields}"
                )
            yield began, row
    except csv.Error as error:
        raise TraceError(f"{path}, line {line}: {error}") from None


def framed(
    rows: Iterable[tuple[int, list[str]]], header: list[str]
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return rows as a table of text, and the line of each.

    Piece by piece, since the lists of all rows take more memory than their text.
    """
    lines, columns = array("q"), [[] for _ in header]  # type: ignore[var-annotated]
    rows = iter(rows)
    while piece := [*islice(rows, PIECE)]:
        lines.extend(line for line, _ in piece)
        values = zip(*(row for _, row in piece), strict=True)
        for column, more in zip(columns, values, strict=True):
            column.extend(more)
    frame = pd.DataFrame(dict(enumerate(columns)), dtype=object)
    return frame.set_axis(header, axis=1), np.array(lines, np.int64)
