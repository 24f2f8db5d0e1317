"""CSV as text, with errors that name the file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from model.errors import TraceError


def parsed(path: Path, file: Any, **how: Any) -> Any:
    """Parse CSV as text: one frame, or pieces of one; *how* goes to `read_csv`."""
    try:
        return pd.read_csv(
            file,
            header=None,
            dtype=object,
            keep_default_na=False,
            na_filter=False,
            skip_blank_lines=False,
            **how,
        )
    except pd.errors.EmptyDataError:
        raise TraceError(f"{path}: the file is empty") from None
    except pd.errors.ParserError as error:
        raise _ragged(path, error) from None


def guarded(path: Path, parts: Any) -> Iterator[pd.DataFrame]:
    """Yield the pieces; what goes wrong on the way is an error about the file."""
    try:
        yield from parts
    except pd.errors.ParserError as error:
        raise _ragged(path, error) from None


def _ragged(path: Path, error: Exception) -> TraceError:
    text = str(error).replace("Error tokenizing data. C error: ", "").strip()
    return TraceError(f"{path}: {text}")
