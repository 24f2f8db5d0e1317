"""Samples at changes; integrals survive thinning."""

import numpy as np
import pandas as pd
import pytest

from clusterdata.generator import generate
from model.config import Settings
from model.job import Job


def test_one_row_per_change_with_hand_computed_values(simulation):
    jobs = [
        Job("a", 0, 10, num_gpus=2),
        Job("b", 2, 5, gpu_milli=300),
        Job("c", 3, 1, 4),
    ]
    samples = simulation(jobs, (4, 2)).run().samples.set_index("time")

    assert samples.index.tolist() == [0, 2, 3, 7, 10, 11]
    assert samples["allocated"].tolist() == [2000, 2300, 2300, 2000, 4000, 0]
    assert samples["pending"].tolist() == [0, 0, 1, 1, 0, 0]
    assert samples["pending_milli"].tolist() == [0, 0, 4000, 4000, 0, 0]
    # at 3, 3,700 milli are free, less than c asks; at 7 there are 4,000, on two nodes
    assert samples["blocked"].tolist() == [0, 0, 0, 1, 0, 0]
    assert samples["stranded"].tolist() == [0, 0, 0, 4000, 0, 0]
    assert samples["busy_gpus"].tolist() == [2, 3, 3, 2, 4, 0]
    assert samples["busy_nodes"].tolist() == [1, 1, 1, 1, 1, 0]
    assert samples["scattered"].tolist() == [2, 1, 1, 2, 0, 0]


@pytest.mark.parametrize("max_rows", [2, 7, 64])
def test_thinning_keeps_every_time_integral(simulation, monkeypatch, max_rows):
    monkeypatch.setattr("processes.monitor.BUFFER", 16)  # rows

    def areas(limit):
        sim = simulation(generate(Settings(num_jobs=400)), (8,) * 4)
        sim.monitor._max_rows = limit
        samples = sim.run().samples
        assert len(samples) <= limit + 16
        assert sim.monitor._kept == len(samples) - 1
        seconds = np.diff(samples["time"])
        return samples.iloc[:-1].mul(seconds, axis=0).sum().drop("time")

    np.testing.assert_allclose(areas(max_rows), areas(10**9), rtol=1e-9)


def test_no_row_is_lost_when_the_buffer_is_full(simulation, monkeypatch):
    def samples(buffer):
        monkeypatch.setattr("processes.monitor.BUFFER", buffer)
        return simulation(generate(Settings(num_jobs=400)), (8,) * 4).run().samples

    for buffer in (16, 300):
        pd.testing.assert_frame_equal(samples(buffer), samples(2**13))
