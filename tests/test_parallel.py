"""Tasks over processes: one that dies costs its own task a second try, no more."""

import os
from pathlib import Path

import pytest

from commands.parallel import as_done, each, read_seeds
from model.errors import UserError


def fragile(task):
    """Die the first time that this task is done; return its name the second time."""
    path, dies = task
    if dies and not path.exists():
        path.touch()
        os._exit(9)
    return path.name


def hopeless(path):
    """Leave a mark and die."""
    with Path(path).open("a") as file:
        file.write("x")
    os._exit(9)


def test_a_worker_that_dies_costs_only_its_task(tmp_path):
    tasks = [(tmp_path / f"t{k}", k == 1) for k in range(4)]
    found = dict(as_done(fragile, tasks, 2, "testing"))

    assert found == {k: f"t{k}" for k in range(4)}
    assert [path.exists() for path, _ in tasks] == [False, True, False, False]


def test_a_task_that_kills_its_workers_is_given_up(tmp_path):
    marks = tmp_path / "marks"
    with pytest.raises(UserError, match="2 of 2 runs are left: workers died 6 times"):
        [*as_done(hopeless, [marks, marks], 2, "testing")]
    assert len(marks.read_text()) >= 6


def test_each_keeps_the_order_of_the_tasks(tmp_path):
    tasks = [(tmp_path / f"t{k}", False) for k in range(5)]
    assert [*each(fragile, tasks, 2, "testing")] == [f"t{k}" for k in range(5)]


@pytest.mark.parametrize("text", ["1-9999999999", "9" * 30, "5-4", "a", ""])
def test_seeds_that_are_none_or_too_many(text):
    with pytest.raises(UserError, match="must be a range"):
        read_seeds(text)
