"""Small worlds for tests: random ones, and clusters on which moves are planned."""

import numpy as np
from hypothesis import strategies as st

from model.capacity import Capacity
from model.fragmentation import Fragmentation
from model.held import Held, HeldJobs
from model.job import Job, Placement, Request
from model.node import Node
from model.target import Target
from schedulers.base import World
from schedulers.first_fit import FirstFit
from schedulers.planners.draft import Outlook

RESOURCES = "gpu,cpu,memory"
HALF_OR_TWO = Target((Request(1, 500), Request(2, 1000)), (3, 1))


@st.composite
def job_lists(draw, max_jobs=14, gangs=True, times=10, typed=True):
    """Return a few jobs: shares, whole GPUs, CPU-only, gangs, typed, hopeless too."""
    jobs = []
    for number in range(draw(st.integers(0, max_jobs))):
        gpus = draw(st.sampled_from([0, 1, 1, 1, 1, 2, 3, 9]))
        milli = 1000 * (gpus > 0)
        if gpus == 1:
            milli = draw(st.sampled_from([1, 250, 333, 500, 700, 1000]))
        jobs.append(
            Job(
                f"job{number}",
                float(draw(st.integers(0, times))),
                float(draw(st.integers(0, times))),
                gpus,
                milli,
                cpu_milli=draw(st.sampled_from([0, 0, 1, 4, 20])),
                memory_mib=draw(st.sampled_from([0, 0, 1, 5])),
                gpu_type=draw(st.sampled_from(["", "", "A", "A|B"])) if typed else "",
                deadline=draw(
                    st.one_of(st.none(), st.integers(0, 3 * times).map(float))
                ),
                num_workers=draw(st.sampled_from([1, 1, 1, 2, 5])) if gangs else 1,
                estimated_duration=draw(
                    st.one_of(st.none(), st.integers(0, 2 * times).map(float))
                ),
            )
        )
    return jobs


node_lists = st.lists(
    st.builds(
        Node,
        st.just("n"),
        st.integers(0, 4),
        st.integers(0, 12),
        st.integers(0, 9),
        st.sampled_from(["", "A", "B"]),
    ),
    min_size=1,
    max_size=3,
)


def outlook(nodes, running, target, limit, resources=("gpu",), **rules):
    """Return a cluster on which first fit decides where moved jobs would go.

    Running jobs are (id, node, gpus, what the job asks), and run for 100 s more.
    """
    capacity = Capacity(nodes, resources)
    held = HeldJobs()
    for job_id, node, gpus, asks in running:
        job, placement = Job(job_id, 0, 100, **asks), Placement(node, gpus)
        capacity.shift(job.request, placement, 1)
        held.add(Held(job, (placement,), 100.0))
    rng = np.random.default_rng(0)
    world = World(capacity, Fragmentation(capacity, target), held, rng)
    return Outlook(world, FirstFit(world).place, limit, **rules)


def moved(moves):
    """Return where each moved job goes: {id: node}."""
    return {move.job.job_id: move.destination[0].node for move in moves}


def running_world(sizes, running=(), workload=HALF_OR_TWO):
    """Return nodes of these sizes; running jobs are (end, node, gpus, milli)."""
    capacity = Capacity([Node(f"n{place}", size) for place, size in enumerate(sizes)])
    held = HeldJobs()
    for place, (end, node, gpus, milli) in enumerate(running):
        job = Job(f"r{place}", 0, end, len(gpus), milli)
        capacity.shift(job.request, Placement(node, gpus), 1)
        held.add(Held(job, (Placement(node, gpus),), float(end)))
    fragmentation = Fragmentation(capacity, workload)
    rng = np.random.default_rng(0)
    return World(capacity, fragmentation, held, rng, workload)
