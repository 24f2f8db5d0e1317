"""The life of one job, from the queue to its record."""

from collections.abc import Generator
from typing import Any, cast

from simpy import Environment, Event, Interrupt

from model.cluster import Cluster
from model.job import Job, JobRecord, Placements
from processes.dispatcher import Dispatcher
from processes.progress import Disturbance, Progress


def run_job(
    env: Environment,
    job: Job,
    cluster: Cluster,
    dispatcher: Dispatcher,
    records: list[JobRecord],
) -> Generator[Event, Any, None]:
    """Queue, hold the GPUs until the work is done, leave a record.

    A migration interrupts the job with the seconds it costs; by then the GPUs have
    moved. An eviction sends it back to its place in the queue. However a stay on the
    GPUs ends, they are given back.
    """
    progress = Progress(job, env.active_process)
    dispatcher.progress[job.job_id] = progress
    placements: Placements | None = None
    while progress.start is None or progress.evicted:
        queued = env.now
        decision = yield dispatcher.enqueue(progress)
        if decision is None:
            placements = None
            break
        progress.began(queued, env.now, decision.speed, decision.placements)
        expected_end = env.now + progress.expected_left
        form = decision.form or job
        with cluster.hold(form, decision.placements, expected_end) as hold:
            resumed, left = env.now, progress.left  # no wait if there is no work
            while left > 0 and not progress.evicted:
                try:
                    yield env.timeout(left)
                    break
                except Interrupt as interrupt:
                    progress.advance(env.now - resumed)
                    progress.disturb(cast(Disturbance, interrupt.cause))
                    resumed, left = env.now, progress.left
        placements = hold.placements
        dispatcher.wake()
    records.append(progress.record(env.now, placements))
    dispatcher.leave(job)
