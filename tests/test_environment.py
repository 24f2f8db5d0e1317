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


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_last_jobs_of_a_trace_are_not_given_up(number):
    """On an empty cluster with nothing to come, whoever is asked about may hope."""
    _, _, env, _ = play(1, first, num_jobs=number, interarrival_time=1e5)
    records = env._simulation.records

    assert {record.status for record in records} == {"finished"}


def test_a_burst_of_gangs_at_the_start(tmp_path):
    path = tmp_path / "burst.csv"
    rows = [f"{name},0,100,1,1000,2" for name in "abc"]
    head = "job_id,submit_time,duration,num_gpus,gpu_milli,num_workers"
    path.write_text("\n".join([head, *rows]))
    asked = {"trace": str(path), "num_node": 2, "num_jobs": 3, "gpus_per_node": 1,
             "interarrival_time": 0.0}  # fmt: skip
    total, _, env, _ = play(0, first, **asked)

    assert {record.status for record in env._simulation.records} == {"finished"}
    assert -3600 * total == pytest.approx(0 + 100 + 200)


def test_waits_before_the_first_choice_count(tmp_path):
    """Only node 0 holds 8 GPUs, so nobody is asked about the first two jobs."""
    path, nodes = tmp_path / "e.csv", tmp_path / "n.toml"
    head = "job_id,submit_time,duration,num_gpus,gpu_milli"
    path.write_text(f"{head}\na,0,3600,8,1000\nb,0,3600,8,1000\nc,1,3600,1,1000\n")
    nodes.write_text('[[nodes]]\ncount = 1\ngpus = 8\nname = "big"\n'
                     '[[nodes]]\ncount = 2\ngpus = 2\nname = "small"\n')  # fmt: skip
    asked = {"trace": str(path), "node_list": str(nodes), "num_jobs": 3,
             "interarrival_time": 0.0}  # fmt: skip
    total, _, env, _ = play(0, first, **asked)
    waits = sum(record.pending_seconds for record in env._simulation.records)

    assert waits == pytest.approx(3600 + 3599)
    assert -3600 * total == pytest.approx(waits)


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
