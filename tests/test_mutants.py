"""What mutation testing found untested: small facts that nothing else held."""

import pytest

from model.capacity import Capacity
from model.command_line import reader
from model.config import Settings, described_options, flag
from model.errors import UserError
from model.job import Job, Request
from model.node import Node


@pytest.mark.parametrize("word", ["true", "1", "yes", "on", "True", "ON"])
def test_words_that_mean_true(word):
    assert reader(bool)(word) is True


@pytest.mark.parametrize("word", ["false", "0", "no", "off", "False", "OFF"])
def test_words_that_mean_false(word):
    assert reader(bool)(word) is False


@pytest.mark.parametrize("load", ["0", "-1", "1001"])
def test_a_load_is_above_0_and_at_most_1000(load):
    with pytest.raises(UserError, match="--target-load"):
        Settings(target_load=load)


def test_a_node_that_says_nothing_of_cpu_and_memory_has_enough():
    capacity = Capacity([Node("n", 2)], ("gpu", "cpu", "memory"))
    asked = Request(1, 1000, cpu_milli=96_000, memory_mib=700_000)

    assert capacity.fits(asked).tolist() == [True]


@pytest.mark.parametrize(
    ("gpus", "workers", "movable"), [(4, 2, True), (4, 3, False), (1, 12, False)]
)
def test_a_gang_must_have_more_left_than_all_its_gpus_cost(
    simulation, gpus, workers, movable
):
    """800 s are left: more than 15 moves of 40 s, less than 15 of 60 s."""
    gang = Job("gang", 0, 800, num_gpus=gpus, num_workers=workers)
    asked = {"use_rescheduling": True, "min_remaining": 15.0, "cooldown": 0.0}
    made = simulation([gang], (8, 8), **asked)
    made.env.run(until=1.0)
    (held,) = made.cluster.held

    assert made.rescheduler.movable(held) == movable


BOUNDED = [
    option
    for option in described_options()
    if option.allowed and not isinstance(option.allowed[0], str)
]


@pytest.mark.parametrize("option", BOUNDED, ids=lambda option: option.name)
def test_both_limits_of_a_setting_are_allowed_and_nothing_beyond(option):
    low, high = option.allowed
    for value in (low, *([high] if high < float("inf") else [])):
        option.check(option.kind(value))
    for value in (low - 1, high + 1, float("nan")):
        if low <= value <= high:
            continue  # beyond infinity there is nothing
        with pytest.raises(UserError, match=flag(option.name)):
            option.check(value)
