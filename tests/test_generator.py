"""The PAI-like generator keeps to the numbers it was calibrated to."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from clusterdata import pai
from clusterdata.arrivals import draw_arrivals
from clusterdata.generator import Mix, generate
from clusterdata.workload import offered_load
from model.config import Settings
from run import main

MANY = 40_000


def durations_of(**asked):
    jobs = generate(Settings(num_jobs=MANY, target_load="off", **asked))
    return np.array([job.duration for job in jobs])


def test_unfiltered_durations_have_the_traces_quantiles():
    """p25/50/75/90/95 of the trace's 82,184 GPU jobs: 153/594/4126/12255/24110 s."""
    found = np.quantile(
        durations_of(duration_range="off"), [0.25, 0.5, 0.75, 0.9, 0.95]
    )

    np.testing.assert_allclose(found, [153, 594, 4126, 12255, 24110], rtol=0.09)


def test_sizes_have_the_traces_frequencies():
    jobs = generate(Settings(num_jobs=MANY, duration_range="off"))
    shares = [job for job in jobs if job.gpu_milli < 1000]
    quarter = sum(job.gpu_milli == 250 for job in shares) / len(shares)

    assert len(shares) / MANY == pytest.approx(0.5254, abs=0.01)
    assert quarter == pytest.approx(0.480, abs=0.015)
    assert np.mean([job.total_milli for job in jobs]) == pytest.approx(680, rel=0.02)


@pytest.mark.parametrize(
    ("trace", "bounds", "load"),
    [  # the loads that a Monte Carlo of four million draws gave
        ("native", "off", 1.01),
        ("native", "60-86400", 0.97),
        ("native", "60-172800", 1.13),
        ("share_0.2", "off", 1.46),
        ("share_0.6", "off", 0.91),
    ],
)
def test_expected_load_in_closed_form(trace, bounds, load):
    mix = Mix(Settings(trace=trace, duration_range=bounds))

    assert mix.gpu_seconds() / (8 * 512) == pytest.approx(load, rel=0.01)


@pytest.mark.parametrize("trace", ["native", "share_0.2", "share_0.6"])
def test_every_mix_is_scaled_to_load_1(trace):
    """On 64 x 8 GPUs at 8 s; the mean of several seeds, as one wanders by 2 %."""
    loads = [
        offered_load(generate(Settings(trace=trace, num_jobs=MANY, seed=seed)), 512)
        for seed in range(4)
    ]

    assert np.mean(loads) == pytest.approx(1.0, abs=0.02)


def test_target_load_and_its_off_switch():
    scaled = generate(Settings(target_load="0.5", num_jobs=MANY))

    assert offered_load(scaled, 512) == pytest.approx(0.5, rel=0.05)
    assert durations_of().max() <= 86_400
    assert durations_of().min() >= 60


@pytest.mark.parametrize("wanted", [0.2, 0.6])
def test_share_is_of_jobs_or_of_requested_volume(wanted):
    by_jobs = generate(Settings(trace=f"share_{wanted}", num_jobs=MANY))
    by_volume = generate(
        Settings(trace=f"share_{wanted}", share_by="volume", num_jobs=MANY)
    )
    shared = sum(job.total_milli for job in by_volume if job.gpu_milli < 1000)
    total = sum(job.total_milli for job in by_volume)

    assert np.mean([job.gpu_milli < 1000 for job in by_jobs]) == pytest.approx(
        wanted, abs=0.01
    )
    assert shared / total == pytest.approx(wanted, abs=0.015)


def test_gangs_and_types_are_options():
    jobs = generate(Settings(gangs=True, gpu_types=True, num_jobs=MANY))
    gangs = Counter(job.num_workers for job in jobs if job.num_workers > 1)
    types = Counter(job.gpu_type for job in jobs)

    assert gangs.total() / MANY == pytest.approx(0.21, abs=0.01)
    assert gangs.most_common(1)[0][0] == 10
    assert max(gangs) <= 100
    assert types["MISC"] / MANY == pytest.approx(0.57, abs=0.01)
    assert sum(pai.gang_sizes().values()) == pytest.approx(1)
    plain = generate(Settings(num_jobs=100))
    assert {(job.num_workers, job.gpu_type) for job in plain} == {(1, "")}


def test_typed_jobs_find_nodes_of_their_type():
    settings = Settings(gpu_types=True, num_node=100)
    nodes = Counter(node.gpu_type for node in settings.uniform_cluster())

    assert nodes == {"MISC": 57, "T4": 36, "P100": 5, "V100": 2}


@pytest.mark.parametrize("pattern", ["poisson", "diurnal", "bursty"])
def test_arrivals_keep_their_mean(pattern):
    times = draw_arrivals(80_000, 8.0, pattern, seed=3)

    assert times[0] == 0
    assert (np.diff(times) >= 0).all()
    assert times[-1] / len(times) == pytest.approx(8, rel=0.05)


def test_diurnal_arrivals_follow_the_hours_and_bursty_ones_come_together():
    times = draw_arrivals(80_000, 8.0, "diurnal", seed=3)
    hours = np.bincount((times // 3600 % 24).astype(int), minlength=24)
    assert np.corrcoef(hours, pai.HOURS)[0, 1] > 0.95

    gaps = np.diff(draw_arrivals(80_000, 8.0, "bursty", seed=3))
    assert (gaps == 0).mean() == pytest.approx(0.18, abs=0.01)
    assert gaps.std() / gaps.mean() > 1.2  # burstier than Poisson


def test_one_setting_never_shifts_what_another_draws():
    plain = generate(Settings(num_jobs=500))
    slower = generate(Settings(num_jobs=500, interarrival_time=99.0))

    assert [job.duration for job in plain] == [job.duration for job in slower]
    assert [job.user for job in plain] == [job.user for job in slower]


def test_the_committed_traces_are_what_their_command_makes(tmp_path):
    assert main(["trace", "preprocess", "--out", str(tmp_path)]) == 0
    folder = Path(__file__).parents[1] / "clusterdata"
    names = ("filtered", "sampled", "share_0.2", "share_0.6")

    for name in names:
        file = f"{name}_traces.csv"
        assert (tmp_path / file).read_bytes() == (folder / file).read_bytes()


@pytest.mark.slow
def test_a_million_draws_match_the_calibration():
    """Unfiltered, traces.md's target: E[g], E[d], E[g d] by class, and quantiles."""
    asked = {"num_jobs": 1_000_000, "duration_range": "off", "target_load": "off"}
    jobs = generate(Settings(**asked))
    gpus = np.array([job.total_milli for job in jobs]) / 1000
    seconds = np.array([job.duration for job in jobs])
    work, sharing = gpus * seconds, gpus < 1

    assert gpus.mean() == pytest.approx(0.679, rel=0.005)
    assert seconds.mean() == pytest.approx(5232, rel=0.02)
    assert work.mean() == pytest.approx(4137, rel=0.04)
    assert work[sharing].mean() == pytest.approx(1456, rel=0.02)
    assert work[~sharing].mean() == pytest.approx(7105, rel=0.05)
    found = np.quantile(seconds, [0.25, 0.5, 0.75, 0.9, 0.95, 0.99])
    assert found == pytest.approx([144, 614, 4193, 12176, 24608, 70479], rel=0.03)
