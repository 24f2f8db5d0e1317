"""One task, wherever it is done."""

import gc
import os
from collections.abc import Callable
from typing import TypeVar

RETRIES = 5  # times that a task may lose its worker
Task = TypeVar("Task")
Outcome = TypeVar("Outcome")


def done(work: Callable[[Task], Outcome], task: Task) -> Outcome:
    """Return a task's outcome, and let go of all else; simulations form cycles."""
    outcome = work(task)
    gc.collect()
    return outcome


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
