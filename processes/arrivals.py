"""The source: starts each job's process at the instant it is submitted."""

from collections.abc import Callable, Generator, Iterable

from simpy import Event

from model.job import Job
from processes.instant import ARRIVAL, Moment, Timeline


def arrive(
    env: Timeline, jobs: Iterable[Job], submit: Callable[[Job], None]
) -> Generator[Event, None, None]:
    """Submit each job at its time; *jobs* come in the order of their submit times.

    Jobs are spawned one by one as they arrive, since thousands of live processes
    slow SimPy's heap down.
    """
    for job in jobs:
        if job.submit_time > env.now:
            yield Moment(env, job.submit_time, ARRIVAL)
        submit(job)
