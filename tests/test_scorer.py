"""The linear scorer: ranks as defined, replays as SimPy does, and can be tuned."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from worlds import HALF_OR_TWO, running_world

from clusterdata.generator import generate
from model.config import Settings
from model.errors import UserError
from model.fragmentation import fragment_of
from model.job import Job
from model.node import Node
from model.target import Target
from processes.simulation import simulate
from schedulers.drr.kernel import FEATURES, choice, rank, weights_of
from schedulers.drr.search import GROWTH, Replay, cross_entropy
from schedulers.drr.teachers import teacher_weights
from schedulers.drr.tuned import tuned_weights
from schedulers.drr.view import View


def ranked(made, job, weights, now=0.0, most=8, among=None):
    """Return (node, device) of the best places, best first."""
    best, view = choice(most), View(made)
    state = view.state(job.request)
    found = rank(
        weights,
        state,
        view.tables,
        job.num_gpus,
        job.gpu_milli,
        job.estimate,
        now,
        among or (0, len(state.whole)),
        best,
    )
    return [(int(best.nodes[k]), int(best.gpus[k])) for k in range(found)]


@pytest.mark.parametrize(
    ("nodes", "gap", "mix", "gangs"),
    [
        (8, 64.0, "native", False),
        (16, 32.0, "share_0.2", False),
        (16, 40.0, "native", True),
    ],
)
def test_the_compiled_queue_starts_every_job_when_simpy_does(nodes, gap, mix, gangs):
    settings = Settings(
        scheduler="TunedLinear",
        num_node=nodes,
        interarrival_time=gap,
        trace=mix,
        num_jobs=1500,
        gangs=gangs,
    )
    jobs = generate(settings)
    assert any(job.num_workers > 1 for job in jobs) == gangs
    if gangs:  # some of jobs without a GPU
        jobs = [
            replace(job, num_gpus=0, gpu_milli=0, num_workers=3) if k % 9 == 0 else job
            for k, job in enumerate(jobs)
        ]

    simulated = simulate(settings, jobs).jobs_frame()["start_time"].to_numpy()
    replayed = Replay(jobs, settings.uniform_cluster()).starts(tuned_weights())

    assert (simulated == replayed).all()
    assert (replayed > [job.submit_time for job in jobs]).any()  # some had to wait


@given(
    st.lists(
        st.lists(st.sampled_from([0, 250, 500, 900]), min_size=3, max_size=3),
        min_size=1,
    )
)
def test_growth_alone_ranks_as_the_definition_of_fragmentation(taken):
    running = [
        (50.0, node, (gpu,), milli)
        for node, row in enumerate(taken)
        for gpu, milli in enumerate(row)
        if milli
    ]
    made = running_world([3] * len(taken), running)
    for job in (Job("s", 0, 10, 1, 250), Job("w", 0, 10, 2)):
        grown = []
        for node, row in enumerate(made.capacity.rows):
            before = fragment_of(row, HALF_OR_TWO)
            for gpu in range(3):
                after = list(row)
                if job.num_gpus == 1 and row[gpu] >= 250:
                    after[gpu] -= 250
                elif job.num_gpus == 2 and row.count(1000) >= 2 and gpu == 0:
                    whole = [k for k, free in enumerate(row) if free == 1000]
                    after[whole[0]] = after[whole[1]] = 0
                else:
                    continue
                grown.append((fragment_of(after, HALF_OR_TWO) - before, node, gpu))
        found = ranked(made, job, GROWTH, most=1)

        assert bool(found) == bool(grown)
        if found:
            node, gpu = found[0]
            least = min(grown)[0]
            of_it = [g for g, n, d in grown if n == node and d in (gpu, 0)]
            assert min(of_it) == pytest.approx(least)


def test_a_job_goes_where_it_ends_with_the_others():
    lifetime = teacher_weights("LifetimeAligned")
    ends = [(100.0, 0, (0,), 1000), (900.0, 1, (0,), 1000)]
    made = running_world([2, 2], ends, workload=Target((), ()))

    # 500 s: outlives node 0 by 400 s = 0.8 of itself, node 1 not at all
    assert ranked(made, Job("a", 0, 500), lifetime) == [(1, 0), (0, 0)]
    # 80 s: outlives nobody; the lower node wins the tie
    assert ranked(made, Job("b", 0, 80), lifetime) == [(0, 0), (1, 0)]
    # asked only from some nodes on, the others say nothing
    assert ranked(made, Job("b", 0, 80), lifetime, among=(1, 2)) == [(1, 0)]
    assert ranked(made, Job("b", 0, 80), lifetime, among=(2, 0)) == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("nonsense", "must be JSON with"),
        ("[1]", "must be JSON with"),
        ('{"weights": {"growth": "much"}}', "must be JSON with"),
        ('{"weights": {"grwth": 1}}', "unknown grwth; features: growth, node_out"),
        ('{"weights": {"growth": NaN}}', "a weight that is not finite"),
    ],
)
def test_a_scorer_from_a_file(tmp_path, content, told):
    path = tmp_path / "mine.json"
    path.write_text('{"weights": {"growth": 2, "gpu_left": -0.5}}')
    found = dict(zip(FEATURES, teacher_weights(str(path)).tolist(), strict=True))
    assert {name: w for name, w in found.items() if w} == {
        "growth": 2.0,
        "gpu_left": -0.5,
    }
    path.write_text(content)
    with pytest.raises(UserError, match="--teacher .*mine.json: " + told):
        teacher_weights(str(path))


def test_a_job_that_never_fits_is_no_replay():
    replay = Replay([Job("wide", 0, 1, 8)], [Node("n", 4)])

    with pytest.raises(UserError, match="can never start"):
        replay.starts(GROWTH)


def test_the_search_finds_weights_that_wait_less():
    settings = Settings(num_node=8, interarrival_time=64.0, num_jobs=1500)
    jobs = generate(settings)
    replay = Replay(jobs, settings.uniform_cluster())
    from schedulers.drr.search import Case, left_of_gap

    cases = [[Case(replay, replay.mean_delay(GROWTH), 0.0)]]
    seen = []
    weights = cross_entropy(
        lambda generation: cases,
        4,
        12,
        np.random.default_rng(0),
        lambda *told: seen.append(told),
    )

    assert len(seen) == 4
    assert left_of_gap(weights, cases) < left_of_gap(GROWTH, cases)
    assert left_of_gap(GROWTH, cases) == pytest.approx(1.0)


def test_weights_are_named():
    assert weights_of({"node_free": 2.0})[FEATURES.index("node_free")] == 2.0
