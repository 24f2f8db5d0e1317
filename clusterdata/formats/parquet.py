"""Our own trace format as Parquet: the columns of `canonical`, typed.

Needs the package pyarrow (``pip install "defrag[traces]"``). Rows are named by their
number, from 1 on. Missing values are empty fields of the CSV.
"""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from clusterdata.formats.canonical import read_canonical, spoken
from clusterdata.formats.format import Format, Options
from clusterdata.report import Report
from clusterdata.table import Table
from model.cells import as_cell
from model.errors import TraceError, UserError
from model.job import Job

MAGIC = b"PAR1"  # a Parquet file begins and ends with it


def read_parquet(path: Path, report: Report, options: Options) -> list[Job]:
    """Return the jobs of a canonical trace in Parquet, in the order of the file.

    Raises
    ------
    TraceError
        If it cannot be read, or has columns or values that the format does not allow.
    """
    frame = frame_of(path)
    frame.columns = [str(name) for name in frame.columns]
    if frame.empty:
        raise TraceError(f"{path}: has columns but no rows")
    repeated = frame.columns[frame.columns.duplicated()]
    if len(repeated):
        raise TraceError(f"{path}: column {repeated[0]!r} appears twice")
    try:
        text = frame.apply(lambda column: column.astype(object).map(_as_text))
    except TypeError as error:
        raise TraceError(f"{path}: {error}") from None
    lines = np.arange(1, len(frame) + 1)
    return read_canonical(Table.of(path, text, lines, report, "row"))


def frame_of(path: Path) -> pd.DataFrame:
    """Return what a Parquet file holds, or raise TraceError."""
    try:
        import pyarrow.lib
        import pyarrow.parquet
    except ImportError:
        raise TraceError(
            f'{path}: Parquet needs the package pyarrow: pip install "defrag[traces]"'
        ) from None
    try:
        frame: pd.DataFrame = pyarrow.parquet.read_table(path).to_pandas(
            ignore_metadata=True
        )
    except (pyarrow.lib.ArrowException, OSError, ValueError) as error:
        raise TraceError(f"{path}: is no Parquet file ({error})") from None
    return frame


def to_parquet(jobs: Sequence[Job]) -> bytes:
    """Return a canonical trace as Parquet, typed; raises UserError without pyarrow."""
    return parquet_of(spoken(jobs))


def parquet_of(frame: pd.DataFrame) -> bytes:
    """Return a table as Parquet; equal tables give equal bytes.

    Raises
    ------
    UserError
        If the package pyarrow is missing.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet
    except ImportError:
        raise UserError(
            'Parquet needs the package pyarrow: pip install "defrag[traces]"'
        ) from None
    sink = io.BytesIO()
    pa.parquet.write_table(pa.Table.from_pandas(frame, preserve_index=False), sink)
    return sink.getvalue()


def _as_text(value: Any) -> str:
    if isinstance(value, (list, dict, np.ndarray)):
        raise TypeError("a value is a list or a table")
    return "" if pd.isna(value) else as_cell(str(value))


FORMAT = Format(
    "parquet",
    "our own columns as Parquet",
    read_parquet,
    recognises=lambda head: head.text.startswith(MAGIC.decode()),
)
