"""Queueing theory: the simulator agrees with what is known in closed form."""

import math

import numpy as np
import pytest

from model.config import Settings
from model.job import Job
from model.node import Node
from processes.simulation import simulate

SEEDS = range(12)
NUM_JOBS = 6000


def mean_waits(num_gpus, load, deterministic=False):
    """Return the mean wait, in service times, of each seed's jobs after a warm-up."""
    waits = []
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        submits = rng.exponential(1 / (load * num_gpus), NUM_JOBS).cumsum()
        service = np.ones(NUM_JOBS) if deterministic else rng.exponential(1, NUM_JOBS)
        jobs = [
            Job(str(number), submit, seconds)
            for number, (submit, seconds) in enumerate(
                zip(submits.tolist(), service.tolist(), strict=True)
            )
        ]
        result = simulate(Settings(scheduler="FirstFit"), jobs, [Node("n", num_gpus)])
        delays = [
            record.start_time - record.job.submit_time for record in result.records
        ]
        waits.append(np.mean(delays[NUM_JOBS // 10 :]))
    return np.array(waits)


def agrees(waits, expected):
    """Return whether the mean over the seeds is within three standard errors."""
    error = waits.std(ddof=1) / math.sqrt(len(waits))
    return abs(waits.mean() - expected) < 3 * error


def erlang_c(servers, load):
    """Return the probability that an arrival to M/M/c waits."""
    offered = servers * load
    terms = [offered**k / math.factorial(k) for k in range(servers)]
    last = offered**servers / math.factorial(servers) / (1 - load)
    return last / (sum(terms) + last)


@pytest.mark.parametrize("load", [0.5, 0.7])
def test_mm1_mean_wait(load):
    assert agrees(mean_waits(1, load), load / (1 - load))


@pytest.mark.parametrize(("servers", "load"), [(2, 0.7), (5, 0.8)])
def test_mmc_mean_wait_is_erlang_c(servers, load):
    expected = erlang_c(servers, load) / (servers * (1 - load))

    assert agrees(mean_waits(servers, load), expected)


def test_md1_mean_wait_is_half_of_mm1():
    load = 0.7

    assert agrees(mean_waits(1, load, deterministic=True), load / (2 * (1 - load)))


def test_the_comparison_can_fail():
    """Three standard errors would notice a mean that is a third off."""
    waits = mean_waits(5, 0.8)
    expected = erlang_c(5, 0.8) / (5 * 0.2)

    assert not agrees(waits, 1.35 * expected)
