"""Arrivals, completions, moves, failures and drains, in any order."""

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from model.config import Settings
from model.job import Job
from model.node import DRAIN, FAIL, LEAVE, REPAIRED, RETURN, Node
from processes.instant import DISTURBANCE, Moment
from processes.invariants import check_end, check_moment
from processes.node import Order
from processes.simulation import Simulation
from processes.watch import Watch
from schedulers.decision import PlannedMove

SCHEDULERS = ("FGD", "BestFit", "RandomFit", "LifetimeAligned", "TunedLinear", "R&P")


class Everything(RuleBasedStateMachine):
    """A small cluster to which anything may happen at any time."""

    @initialize(
        scheduler=st.sampled_from(SCHEDULERS),
        queue=st.sampled_from(["fifo", "backfill", "easy", "sjf"]),
        interference=st.booleans(),
        saved_every=st.sampled_from([0.0, 7.0]),
    )
    def build(self, scheduler, queue, interference, saved_every):
        asked = Settings(
            scheduler=scheduler,
            queue=queue,
            interference=interference,
            checkpoint_interval=saved_every,
            migration_cost="3",
        )
        self.nodes = [Node("a", 4), Node("b", 2), Node("c", 4)]
        last = Job("last", 1e9, 1.0)  # keeps the simulation from being over
        self.sim = Simulation(asked, [last], self.nodes)
        self.watch = Watch(self.sim.cluster, self.sim.env)
        self.jobs = [last]
        self.boxes = self.sim.failures._mailboxes

    def run_for(self, seconds):
        """Let simulated time pass, with both checks at every event."""
        env = self.sim.env
        until = Moment(env, env.now + seconds, DISTURBANCE)
        env.run_until(until, self._check)

    def _check(self, event):
        self.watch(event)
        check_moment(self.sim.cluster)

    @rule(
        gpus=st.sampled_from([1, 1, 1, 2, 4]),
        milli=st.sampled_from([1000, 250, 500, 700]),
        workers=st.sampled_from([1, 1, 1, 2]),
        seconds=st.integers(0, 40),
    )
    def submit(self, gpus, milli, workers, seconds):
        milli = milli if gpus == 1 else 1000
        job = Job(f"j{len(self.jobs)}", self.sim.env.now, float(seconds), gpus, milli,
                  num_workers=workers)  # fmt: skip
        self.jobs.append(job)
        self.sim._submit(job)
        self.run_for(0.0)

    @rule(seconds=st.integers(1, 30))
    def wait(self, seconds):
        self.run_for(float(seconds))

    @rule(node=st.integers(0, 2), kind=st.sampled_from([DRAIN, LEAVE, RETURN]))
    def operate(self, node, kind):
        self.boxes[node].put(Order(kind, "operator"))
        self.run_for(0.0)

    @rule(node=st.integers(0, 2), kind=st.sampled_from([FAIL, REPAIRED]))
    def fail(self, node, kind):
        self.boxes[node].put(Order(kind, "failure"))
        self.run_for(0.0)

    @rule(pick=st.integers(0, 99))
    def move(self, pick):
        held = [*self.sim.cluster.held]
        if not held:
            return
        chosen = held[pick % len(held)]
        if self.sim.dispatcher.progress[chosen.job.job_id].doomed:
            return
        places = self.sim.scheduler.place(chosen.job, self.sim.env.now)
        if places is not None:
            move = PlannedMove(chosen.job, chosen.placements, places, "any reason")
            self.sim.mover.relocate([move])
            self.run_for(0.0)

    @invariant()
    def nothing_is_out_of_step(self):
        if hasattr(self, "sim"):
            check_moment(self.sim.cluster)

    def teardown(self):
        """Repair all nodes, let all end: nobody is forgotten, all is given back."""
        if not hasattr(self, "sim"):
            return
        for box in self.boxes:
            for sender in ("operator", "failure"):
                box.put(Order(RETURN, sender))
        self.run_for(1e9 + 10)
        while self.sim.cluster.held.by_id or self.sim.dispatcher.pending.entries:
            self.run_for(1e4)
        check_end(self.sim.cluster, self.jobs, self.sim.records)
        for record in self.sim.records:
            assert record.status == "finished"


TestEverything = Everything.TestCase
TestEverything.settings = settings(
    max_examples=60, stateful_step_count=30, deadline=None
)


class More(Everything):
    """The same machine, for longer."""


@pytest.mark.slow
class TestMore(More.TestCase):
    settings = settings(max_examples=500, stateful_step_count=40, deadline=None)
