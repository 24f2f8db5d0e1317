"""Nodes and racks that fail: what is lost, what is kept; nobody is forgotten."""

from collections import Counter

import numpy as np
import pytest

from clusterdata.generator import generate
from commands.api import simulate
from model.config import Settings
from model.job import Job
from model.node import Node, NodeChange
from model.streams import stream
from processes.progress import Evicted, Progress
from processes.simulation import Simulation
from schedulers.registry import SCHEDULERS

FREE = {"migration_cost": "0"}


def test_a_failure_undoes_the_work_since_the_last_checkpoint(run):
    """Fails after 70 s with a checkpoint every 30: 60 s are kept, 40 remain."""
    changes = [NodeChange(70, 0, "fail"), NodeChange(100, 0, "repaired")]
    asked = {"changes": changes, "checkpoint_interval": 30.0, **FREE}
    done = run([Job("a", 0, 100)], (1,), **asked)["a"]

    assert (done.end_time, done.lost_seconds) == (140, 10)
    assert [(r.time, r.placements[0].node) for r in done.restarts] == [(100, 0)]
    assert done.pending_seconds == 30


@pytest.mark.parametrize(("interval", "end", "lost"), [(0.0, 200, 70), (1e9, 200, 70)])
def test_without_a_checkpoint_all_is_lost(run, interval, end, lost):
    changes = [NodeChange(70, 0, "fail"), NodeChange(100, 0, "repaired")]
    asked = {"changes": changes, "checkpoint_interval": interval, **FREE}
    done = run([Job("a", 0, 100)], (1,), **asked)["a"]

    assert (done.end_time, done.lost_seconds) == (end, lost)


def test_a_gang_restarts_whole_at_its_place_in_the_queue(run):
    jobs = [Job("gang", 0, 100, num_workers=2), Job("young", 10, 5)]
    changes = [NodeChange(50, 1, "fail"), NodeChange(60, 1, "repaired")]
    asked = {"changes": changes, "checkpoint_interval": 0.0, **FREE}
    done = run(jobs, (1, 1), **asked)

    assert done["gang"].restarts[0].time == 60
    assert done["gang"].end_time == 160
    assert done["young"].start_time == 160


def test_a_repair_does_not_open_what_the_operator_has_drained(run):
    jobs = [Job("a", 0, 5), Job("b", 20, 5)]
    changes = [NodeChange(6, 0, "drain"), NodeChange(40, 0, "return")]
    sim_changes = {"changes": changes, **FREE}
    done = run(jobs, (1,), mtbf=8.0, mttr=1.0, **sim_changes)

    assert done["b"].start_time >= 40


def test_times_between_failures_have_their_mean_and_shape():
    """Weibull, shape 2: standard deviation / mean = 0.5227."""
    for shape, spread in ((1.0, 1.0), (2.0, 0.5227)):
        jobs = [Job("a", 0, 4e6, 0, 0)]
        asked = {"mtbf": 1000.0, "mttr": 1.0, "failure_shape": shape}
        settings = Settings(scheduler="FirstFit", num_node=2, **asked)
        simulation = Simulation(settings, jobs, settings.uniform_cluster())
        failed = []
        mailbox = simulation.failures._mailboxes[0]
        put = mailbox.put

        def noted(order, put=put, failed=failed, env=simulation.env):
            failed.append((env.now, order.kind))
            return put(order)

        mailbox.put = noted
        simulation.env.run(until=2e6)
        times = np.array([time for time, kind in failed if kind == "fail"])
        repaired = np.array([time for time, kind in failed if kind == "repaired"])
        ups = times[1 : len(repaired) + 1] - repaired[: len(times) - 1]
        assert ups.mean() == pytest.approx(1000, rel=0.07)
        assert ups.std() / ups.mean() == pytest.approx(spread, rel=0.1)


def test_a_rack_fails_as_one(simulation):
    jobs = [Job(f"{i}", 0, 5000, 8) for i in range(4)]
    asked = {"rack_nodes": 2, "rack_mtbf": 2000.0, "mttr": 100.0}
    result = simulation(jobs, (8,) * 4, checkpoint_interval=0.0, **asked).run()
    by_time = {}
    for move in result.moves:
        by_time.setdefault(move.time, set()).add(move.source[0].node)

    assert by_time
    racks = [{0, 1}, {2, 3}]
    assert all(any(nodes <= rack for rack in racks) for nodes in by_time.values())
    assert any(len(nodes) == 2 for nodes in by_time.values())


def test_one_nodes_fate_does_not_shift_anothers():
    few, many = (
        [float(rng.random()) for rng in stream(0, "failures").spawn(number)]
        for number in (2, 5)
    )
    assert many[:2] == few


def test_measures_of_failures_by_hand():
    """100 s of work, 70 held and then 40: goodput 100 / 110."""
    from analysis.metrics import summarize

    settings = Settings(scheduler="FirstFit", num_node=1, checkpoint_interval=30.0,
                        warm_up=0.0, **FREE)  # fmt: skip
    changes = [NodeChange(70, 0, "fail"), NodeChange(100, 0, "repaired")]
    simulation = Simulation(
        settings, [Job("a", 0, 100)], settings.uniform_cluster(), changes
    )
    result = simulation.run()
    frames = result.jobs_frame(), result.samples, result.moves_frame()
    config = {"settings": settings.as_dict(), "capacity": {"gpu_milli": 8000},
              "offered_load": 1.0, "in_order": True}  # fmt: skip
    found = summarize(*frames, config)

    assert found["goodput"] == pytest.approx(100 / 110)
    assert (found["lost_gpu_seconds"], found["restarts"]) == (10, 1)


def faulty(scheduler, seed, **asked):
    """Run a cluster with failures; check work, records and containers."""
    settings = Settings(scheduler=scheduler, seed=seed, mttr=1800.0, **asked)
    jobs = generate(settings)
    simulation = Simulation(settings, jobs, settings.uniform_cluster())
    result = simulation.run()
    paused = Counter()
    for move in result.moves:
        paused[move.job_id] += move.cost
    for record in result.records:
        assert record.status == "finished"
        span = record.end_time - record.job.submit_time - record.pending_seconds
        spent = record.job.duration + record.lost_seconds + paused[record.job.job_id]
        assert span == pytest.approx(spent, rel=1e-9, abs=1e-6)
    assert simulation.failures.count > 0
    assert all(c.level == 1000 for gpus in simulation.cluster.gpus for c in gpus)
    return result


OFTEN = {"num_node": 8, "num_jobs": 250, "interarrival_time": 64.0, "mtbf": 14400.0,
         "learn": False, "hops_time_limit": 0.2}  # fmt: skip
NAMES = list(SCHEDULERS)


@pytest.mark.parametrize("scheduler", NAMES)
def test_no_job_is_lost_to_failures(scheduler):
    """A failure each half hour on 8 nodes, for every scheduler."""
    faulty(scheduler, 0, **OFTEN)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 20))
@pytest.mark.parametrize("scheduler", NAMES)
def test_no_job_is_lost_to_failures_on_other_seeds(scheduler, seed):
    faulty(scheduler, seed, **OFTEN)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("scheduler", ["FGD", "BestFit", "LifetimeAligned"])
def test_twenty_seeds_of_ten_failures_a_day(scheduler, seed):
    """64 nodes, 20,000 jobs, ten failures of a node per simulated day."""
    faulty(scheduler, seed, num_node=64, interarrival_time=8.0, mtbf=64 * 8640.0)


def test_check_and_config_on_the_command_line(cli, tmp_path):
    asked = ("--num-node", "4", "--num-jobs", "120", "--scheduler", "FGD", "--check",
             "--mtbf", "9000", "--checkpoint-interval", "100")  # fmt: skip
    assert cli(*asked, "--name", "first")[0] == 0
    first = tmp_path / "runs" / "first"
    assert cli("--config", str(first / "config.json"), "--name", "again")[0] == 0
    again = tmp_path / "runs" / "again"

    for name in ("jobs.csv", "cluster.csv", "moves.csv", "summary.json", "config.json"):
        assert (first / name).read_bytes() == (again / name).read_bytes()
    assert cli("--config", str(first / "jobs.csv"))[0] == 2
    assert cli("--config", str(tmp_path / "none.json"))[0] == 2


def test_equal_seeds_fail_alike():
    asked = {"scheduler": "BestFit", "num_node": 4, "num_jobs": 200, "mtbf": 9000.0}
    one, two = simulate(**asked), simulate(**asked)

    assert one.jobs.equals(two.jobs)
    assert one.moves.equals(two.moves)
    assert one.summary["failures"] > 3


@pytest.mark.parametrize("every", [599.9, 333.3, 0.1, 1800.0])
def test_rounding_never_costs_a_checkpoint_twice(every):
    rng = np.random.default_rng(0)
    for _ in range(200):
        progress = Progress(Job("a", 0, float(rng.uniform(1e3, 1e5))), process=None)
        progress.advance(float(rng.uniform(0, progress.work)))
        progress.disturb(Evicted(0.0, every))
        lost = progress.lost_seconds
        progress.disturb(Evicted(0.0, every))
        assert progress.lost_seconds == pytest.approx(lost, abs=1e-9)
        assert lost < every + 1e-9


def test_a_node_and_its_rack_of_one_are_two_failures(simulation):
    """The node is open only while neither of them keeps it closed."""
    jobs = [Job(f"{i}", 100.0 * i, 50.0) for i in range(300)]
    asked = {"mtbf": 900.0, "rack_mtbf": 900.0, "rack_nodes": 1, "mttr": 900.0}
    sim = simulation(jobs, (1,), **asked)
    down = []

    def check(now):
        if sim.failures._down[0]:
            assert not sim.cluster.capacity.open[0]
            down.append(sim.failures._down[0])

    sim.dispatcher.after_pass.append(check)
    sim.run()
    assert max(down) == 2


def test_repairs_give_no_hope_to_a_job_that_no_node_could_host():
    """The big node leaves for good; small ones fail and return for ever."""
    nodes = [Node("big", 8), *(Node(f"n{i}", 1) for i in range(40))]
    settings = Settings(scheduler="FGD", mtbf=7200.0, mttr=3600.0)
    jobs = [Job("first", 0, 10), Job("large", 5, 10, 8)]
    changes = [NodeChange(2.0, 0, "leave")]
    result = Simulation(settings, jobs, nodes, changes).run()

    assert [record.status for record in result.records] == ["finished", "unfinished"]
    assert result.samples["time"].iloc[-1] < 1e5


def test_a_node_fails_only_while_it_is_up(simulation):
    """Its rack is down nearly always; then no failure of its own is counted."""
    jobs = [Job(f"{i}", 2000.0 * i, 10.0) for i in range(30)]
    asked = {"mtbf": 100.0, "rack_mtbf": 1000.0, "rack_nodes": 1, "mttr": 1e4}
    sim = simulation(jobs, (1,), **asked)
    sim.run()

    # up for about 90 s in each 10,000 s, so about one failure in 10,000 s, not 100
    assert sim.failures.count < sim.env.now / 1e4 * 4
