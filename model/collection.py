"""When Python looks for cyclic garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def rare_collection() -> Iterator[None]:
    """Let the cyclic garbage collector run rarely: events form no cycles."""
    before = gc.get_threshold()
    gc.set_threshold(1_000_000, 20, 100)
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:  # age all objects unseen: most of them stay
            gc.freeze()
            gc.unfreeze()
        gc.set_threshold(*before)
