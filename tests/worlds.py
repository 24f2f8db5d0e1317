"""Random small worlds for property tests."""

from hypothesis import strategies as st

from model.job import Job
from model.node import Node

RESOURCES = "gpu,cpu,memory"


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
