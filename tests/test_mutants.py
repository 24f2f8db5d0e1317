"""What mutation testing found untested: small facts that nothing else held."""

import pytest

from model.capacity import Capacity
from model.classes import JOB_CLASSES
from model.command_line import reader
from model.config import Settings, described_options, flag
from model.errors import UserError
from model.job import Job, Request
from model.node import Node
from processes.invariants import InvariantError
from processes.watch import Watch


@pytest.mark.parametrize("word", ["true", "1", "yes", "on", "True", "ON"])
def test_words_that_mean_true(word):
    assert reader(bool)(word) is True


@pytest.mark.parametrize("word", ["false", "0", "no", "off", "False", "OFF"])
def test_words_that_mean_false(word):
    assert reader(bool)(word) is False


@pytest.mark.parametrize(("gpus", "speed"), [(1, 1.0), (4, 2.4814), (16, 3.1873)])
def test_speed_on_several_gpus_by_hand(gpus, speed):
    """tau(4) = 0.204 + 0.796 / 4; tau(16) = 0.204 + 0.796 / 16 + 0.037 + 0.023."""
    assert JOB_CLASSES["resnet50-b64"].speedup(gpus) == pytest.approx(speed, abs=1e-4)


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


def test_the_history_of_a_node_names_who_came_and_who_left(simulation):
    """b waits for a; when the device is found wrong at the end, both are told of."""
    made = simulation([Job("a", 0, 10), Job("b", 2, 5), Job("c", 20, 1)], (1,))
    watch = Watch(made.cluster, made.env)

    def check(event):
        if made.env.now == 20:
            made.cluster.gpus[0][0]._level = 7
            made.cluster.capacity._changed(0)
        watch(event)

    with pytest.raises(InvariantError) as error:
        made.run(check=check)
    assert str(error.value).split("\n")[1:] == [
        "before, on this node:",
        "0 s: a came",
        "10.0 s: a left",
        "10.0 s: b came",
        "15.0 s: b left",
    ]
