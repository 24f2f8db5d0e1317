"""What mutation testing found untested: small facts that nothing else held."""

import pandas as pd
import pytest

from model.capacity import Capacity
from model.classes import JOB_CLASSES
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


@pytest.mark.parametrize(("gpus", "speed"), [(1, 1.0), (4, 2.4814), (16, 3.1873)])
def test_speed_on_several_gpus_by_hand(gpus, speed):
    """tau(4) = 0.204 + 0.796 / 4; tau(16) = 0.204 + 0.796 / 16 + 0.037 + 0.023."""
    assert JOB_CLASSES["resnet50-b64"].speedup(gpus) == pytest.approx(speed, abs=1e-4)


@pytest.mark.parametrize("known", JOB_CLASSES.values(), ids=JOB_CLASSES)
def test_classes_of_jobs_are_plausible(known):
    assert 0 < known.f < 0.5
    assert 0 <= known.c2 < 0.05
    assert 0 <= known.c3 < 0.06
    assert known.most in (8, 16, 32, 64)
    assert 1 < known.rho < 2
    speeds = [known.speedup(gpus) for gpus in range(1, known.most + 1)]
    assert max(speeds) > 1.5
    assert all(0 < speed <= gpus for gpus, speed in enumerate(speeds, 1))


def test_the_defaults_are_the_published_ones():
    """What design.md's command lines leave out."""
    settings = Settings()
    published = {
        "num_node": 64, "gpus_per_node": 8, "util_threshold": 0.5, "re_time": 3600.0,
        "re_num": 5, "lr_actor": 0.04, "lr_critic": 0.02, "beta0": 0.04,
        "imitation_loss_weight": 0.1, "use_advantage_adjustment": 0.6,
        "target_popularity": 0.95, "warm_up": 0.2,
    }  # fmt: skip
    assert {name: getattr(settings, name) for name in published} == published


def test_a_hundred_slack_factors_are_enough():
    assert len(Settings(deadline_slack=",".join(["2"] * 100)).slack_factors) == 100
    with pytest.raises(UserError, match="must be 1 to 100 numbers"):
        Settings(deadline_slack=",".join(["2"] * 101))


def test_a_seed_fits_into_64_bits_with_a_sign():
    assert Settings(seed=2**63 - 1).seed == 2**63 - 1
    with pytest.raises(UserError, match="--seed"):
        Settings(seed=2**63)


@pytest.mark.parametrize(("workers", "holds"), [(3, True), (4, False)])
def test_the_pool_holds_a_gang_if_its_memory_does(workers, holds):
    """Two nodes of 100 MiB; each worker asks for 60, of which the sum has three."""
    nodes = [Node(f"n{k}", 8, memory_mib=100) for k in range(2)]
    capacity = Capacity(nodes, ("gpu", "memory"))
    gang = Job("g", 0, 1, memory_mib=60, num_workers=workers)

    assert capacity.pool_holds(gang) == holds


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
    assert low >= 0  # nothing that is counted or measured here can be less
    for value in (low, *([high] if high < float("inf") else [])):
        option.check(option.kind(value))
    for value in (low - 1, high + 1, float("nan")):
        if low <= value <= high:
            continue  # beyond infinity there is nothing
        with pytest.raises(UserError, match=flag(option.name)):
            option.check(value)


def test_jobs_of_one_kind_share_their_request_but_not_its_types():
    """2.0 == 2, yet a job made of floats must not lend them to the next one."""
    assert Job("a", 0, 1, 2).request is Job("b", 5, 9, 2).request
    Job("float", 0, 1, 2.0, 1000.0)

    assert type(Job("c", 0, 1, 2, 1000).request.num_gpus) is int


def test_samples_can_be_had_twice(simulation):
    made = simulation([Job("a", 0, 10), Job("b", 3, 4)], (2,))
    samples = made.run().samples

    pd.testing.assert_frame_equal(made.monitor.frame(), samples)
