"""Moving running jobs in a simulation: when, which may, at what price."""

import numpy as np
import pytest

from model.job import Job

MOVES = {"use_rescheduling": True, "min_remaining": 0.0, "cooldown": 0.0}


def test_a_blocked_head_starts_at_once_and_its_victim_pays(run):
    """Two nodes of 2 GPUs, one job on each until 1000. At 10 a job of 2 GPUs comes; the
    second job moves, is 40 s late, and the newcomer waits for nobody."""
    jobs = [Job("a", 0, 1000), Job("b", 0, 1000), Job("two", 10, 50, num_gpus=2)]
    records = run(
        jobs, (2, 2), scheduler="WorstFit", reschedule_trigger="blocked", **MOVES
    )

    assert records["two"].start_time == 10
    assert sorted(records[name].end_time for name in "ab") == [1000, 1040]
    assert records["a"].moves + records["b"].moves == 1


def test_what_unblocking_gave_is_reported(simulation):
    """The head would wait 990 s, beside two free GPUs which it wants: 1980 GPU-s."""
    jobs = [Job("a", 0, 1000), Job("b", 0, 1000), Job("two", 10, 50, num_gpus=2)]
    asked = {**MOVES, "scheduler": "WorstFit", "reschedule_trigger": "blocked"}
    measures = simulation(jobs, (2, 2), **asked).run().measures

    assert measures["unblocked_heads"] == 1
    assert measures["unblocked_gpu_seconds"] == 1980.0
    assert measures["rescheduling_rounds"] == 0


@pytest.mark.parametrize(
    ("rules", "start"),
    [
        ({"max_moves_per_job": 0}, 1000),
        ({"exempt": "a,b"}, 1000),
        ({"min_remaining": 30.0}, 1000),  # 990 s left, 30 x 40 = 1200
        ({"min_benefit": 50.0}, 1000),  # 990 s x 2 GPUs / 40 GPU-s = 49.5
        ({"min_benefit": 49.0}, 10),
        ({"max_moves": 0}, 1000),
        ({"use_rescheduling": False}, 1000),
    ],
)
def test_the_rules_that_keep_jobs_where_they_are(run, rules, start):
    jobs = [Job("a", 0, 1000), Job("b", 0, 1000), Job("two", 10, 50, num_gpus=2)]
    asked = {**MOVES, "scheduler": "WorstFit", "reschedule_trigger": "blocked", **rules}

    assert run(jobs, (2, 2), **asked)["two"].start_time == start


def test_rounds_come_every_re_time_and_cool_down_is_kept(simulation):
    """Two nodes with one job each. At 100 one moves to the other; nothing is left."""
    jobs = [Job("a", 0, 1000), Job("b", 0, 1000)]
    asked = {**MOVES, "re_time": 100.0, "util_threshold": 0.9, "scheduler": "WorstFit"}
    result = simulation(jobs, (2, 2), **asked).run()

    (move,) = result.moves
    assert (move.time, move.job_id, move.cost) == (100.0, "a", 40.0)
    assert move.reason == "little used"


def test_work_is_conserved_whatever_moves(simulation):
    """end - start = duration + moves x cost, to rounding."""
    rng = np.random.default_rng(3)
    jobs = [
        Job(
            f"{i}", 5.0 * i, float(rng.integers(50, 900)), int(rng.choice([1, 1, 2, 4]))
        )
        for i in range(300)
    ]
    asked = {**MOVES, "scheduler": "FGD", "re_time": 60.0, "util_threshold": 0.9}
    result = simulation(
        jobs, (4,) * 6, **asked, reschedule_trigger="both", min_benefit=0.5
    ).run()

    assert len(result.moves) > 30
    for record in result.records:
        took = record.end_time - record.start_time
        assert took == pytest.approx(record.job.duration + 40 * record.moves, rel=1e-9)
