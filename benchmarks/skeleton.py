"""The bare SimPy skeleton against which the simulation's speed is measured.

The least a process-based simulation of the same jobs can do: one arrival process, and
for each job a process with one container get, one timeout and one put. No devices, no
scheduler, no record.
"""

from collections.abc import Generator, Sequence
from typing import Any

from simpy import Container, Environment, Event

from model.job import Job


def run_skeleton(jobs: Sequence[Job], capacity_milli: int) -> float:
    """Run the jobs through one pooled container; return the last end, s."""
    env = Environment()
    pool = Container(env, capacity=capacity_milli, init=capacity_milli)

    def life(job: Job) -> Generator[Event, Any, None]:
        yield pool.get(max(1, job.total_milli))
        yield env.timeout(job.duration)
        yield pool.put(max(1, job.total_milli))

    def arrive() -> Generator[Event, Any, None]:
        for job in jobs:
            if job.submit_time > env.now:
                yield env.timeout(job.submit_time - env.now)
            env.process(life(job))

    env.process(arrive())
    env.run()
    return float(env.now)
