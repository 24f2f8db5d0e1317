"""The Gymnasium environment: checked, honest about its reward, repeatable."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from model.errors import UserError  # noqa: E402

ID = "commands.environment:Defrag-v0"
SMALL = {"num_node": 4, "num_jobs": 150, "interarrival_time": 100.0}
EXAMPLES = Path(__file__).parents[1] / "docs" / "examples"


def play(seed, choose, **fields):
    env = gymnasium.make(ID, **{**SMALL, **fields})
    seen, info = env.reset(seed=seed)
    trail, total, ended = [seen], 0.0, False
    while not ended:
        seen, reward, ended, cut, info = env.step(choose(info))
        trail.append(seen)
        total += reward
        assert not cut
    return total, trail, env.unwrapped, info


def first(info):
    return int(np.flatnonzero(info["action_mask"])[0])


def test_gymnasium_finds_nothing_wrong():
    check_env(gymnasium.make(ID, **SMALL).unwrapped)


@pytest.mark.parametrize("fields", [{}, {"gangs": True}])
def test_the_rewards_add_up_to_the_total_delay(fields):
    total, _, env, info = play(3, first, **fields)
    records = env._simulation.records

    assert len(records) == SMALL["num_jobs"]
    assert -3600 * total == pytest.approx(sum(r.pending_seconds for r in records))
    assert info["replaced"] == 0


def test_equal_seeds_and_actions_give_equal_episodes():
    (one, trail, *_), (two, other, *_) = play(5, first), play(5, first)

    assert one == two
    assert all((a == b).all() for a, b in zip(trail, other, strict=True))
    assert play(6, first)[0] != one


def test_what_the_mask_forbids_is_replaced_and_counted():
    def worst(info):
        closed = np.flatnonzero(info["action_mask"] == 0)
        return int(closed[0]) if len(closed) else 0

    _, _, env, info = play(1, worst)

    assert info["replaced"] > 0
    assert {record.status for record in env._simulation.records} <= {
        "finished", "refused",
    }  # fmt: skip
    with pytest.raises(UserError, match="the episode has ended"):
        env.step(0)


def test_best_fit_by_hand_is_what_best_fit_does():
    """An agent that answers as BestFit would has BestFit's delays."""
    from commands.api import simulate

    env = gymnasium.make(ID, **SMALL)
    env.reset(seed=2)
    total, ended = 0.0, False
    while not ended:
        _, reward, ended, _, _ = env.step(env.unwrapped.best_fit())
        total += reward
    run = simulate(scheduler="BestFit", seed=2, **SMALL)

    assert -3600 * total == pytest.approx(run.jobs["pending_seconds"].sum())


def test_only_fifo():
    with pytest.raises(UserError, match="queue easy: DefragEnv needs fifo"):
        gymnasium.make(ID, queue="easy", **SMALL)


def test_it_can_be_vectorised():
    envs = gymnasium.make_vec(ID, num_envs=2, vectorization_mode="sync", **SMALL)
    seen, infos = envs.reset(seed=[1, 2])
    for _ in range(20):
        masks = infos["action_mask"]
        seen, *_, infos = envs.step(masks.argmax(axis=1))

    assert seen.shape == (2, *envs.single_observation_space.shape)


def load(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_the_examples_play():
    assert load("masked_random").play(0, **SMALL) <= 0
    totals = load("ppo").train(episodes=2, **SMALL)
    assert len(totals) == 2
    assert all(total <= 0 for total in totals)


def test_stable_baselines_trains_on_it():
    pytest.importorskip("stable_baselines3")
    from stable_baselines3 import PPO

    env = gymnasium.make(ID, **SMALL)
    PPO("MlpPolicy", env, n_steps=256, batch_size=64).learn(2000)
