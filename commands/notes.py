"""What the user should know, beside the result."""

import sys
from collections.abc import Iterable


def tell(notes: Iterable[str]) -> None:
    """Print notes where they do not disturb the result."""
    for note in notes:
        sys.stderr.write(f"note: {note}\n")
