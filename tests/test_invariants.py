"""Whatever happens: capacity is never exceeded, nothing is lost, nothing hangs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import RESOURCES, job_lists, node_lists

from model.config import Settings
from model.node import ORDERS, NodeChange
from processes.invariants import check_end, check_moment
from processes.simulation import Simulation
from schedulers.disciplines import DISCIPLINES
from schedulers.registry import SCHEDULERS

changes = st.lists(
    st.builds(
        NodeChange, st.integers(0, 15), st.integers(0, 2), st.sampled_from(ORDERS)
    ),
    max_size=5,
)


MOVES = {"use_rescheduling": True, "re_time": 3.0, "util_threshold": 0.9}
OPTIONS = [
    {},
    {},
    {"ef_mode": "elastic"},
    {"ef_migration": True, "hops_split": True, "rp_queue": "large-first"},
    {**MOVES, "reschedule_trigger": "both", "min_benefit": 0.1},
    {**MOVES, "planner": "useful"},
    {**MOVES, "planner": "fragMultiPod"},
]


@settings(max_examples=600)
@given(
    jobs=job_lists(),
    nodes=node_lists,
    changes=changes,
    scheduler=st.sampled_from(list(SCHEDULERS)),
    options=st.sampled_from(OPTIONS),
    queue=st.sampled_from([*DISCIPLINES]),
    resources=st.sampled_from(["gpu", RESOURCES]),
    interference=st.booleans(),
)
def test_invariants_hold_at_every_event(
    jobs, nodes, changes, scheduler, options, queue, resources, interference
):
    asked = Settings(
        scheduler=scheduler,
        queue=queue,
        resources=resources,
        interference=interference,
        migration_cost="3",
        min_remaining=0,
        cooldown=0,
        **options,
    )
    changes = [change for change in changes if change.node < len(nodes)]
    simulation = Simulation(asked, jobs, nodes, changes)

    result = simulation.run(check=lambda event: check_moment(simulation.cluster))

    check_end(simulation.cluster, jobs, result.records)
    capacity = simulation.cluster.capacity
    assert (capacity.free_total == capacity.num_gpus * 1000).all()
    assert simulation.fragmentation.total == sum(simulation.fragmentation.amount)
    if not changes:  # nobody can be left waiting
        assert {record.status for record in result.records} <= {"finished", "refused"}


@given(
    jobs=job_lists(typed=False), nodes=node_lists, queue=st.sampled_from([*DISCIPLINES])
)
def test_gangs_start_whole_and_run_undisturbed_for_their_duration(jobs, nodes, queue):
    result = Simulation(Settings(scheduler="BestFit", queue=queue), jobs, nodes).run()

    for record in result.records:
        if record.status == "finished":
            assert len(record.placements) == record.job.num_workers
            assert record.end_time == record.start_time + record.job.duration
            assert record.pending_seconds == record.start_time - record.job.submit_time


@pytest.mark.parametrize("queue", [*DISCIPLINES])
def test_littles_law_is_exact(simulation, queue):
    """The area under the queue length is the sum of all queueing delays."""
    from clusterdata.generator import generate

    jobs = generate(Settings(num_jobs=3000, seed=4))
    result = simulation(jobs, (8,) * 25, scheduler="FGD", queue=queue).run()
    time = result.samples["time"].to_numpy()
    area = (result.samples["pending"].to_numpy()[:-1] * (time[1:] - time[:-1])).sum()
    waited = sum(
        record.start_time - record.job.submit_time for record in result.records
    )

    assert waited > 0
    assert area == pytest.approx(waited, rel=1e-9)
