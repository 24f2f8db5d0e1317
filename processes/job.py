"""The life of one job, from the queue to its record."""

from collections.abc import Generator
from typing import Any, cast

from simpy import Environment, Event, Interrupt

from model.cluster import Cluster
from model.job import FINISHED, UNFINISHED, Job, JobRecord, Placements
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
    start: float | None = None
    pending_seconds = 0.0
    placements: Placements | None = None
    while start is None or progress.evicted:
        queued = env.now
        placements = yield dispatcher.enqueue(progress)
        started = env.now
        pending_seconds += started - queued
        if placements is None:
            break
        start = started if start is None else start
        progress.evicted = progress.doomed = False
        hold = cluster.hold(job, placements, started + progress.expected_left)
        with hold:
            resumed, left = started, progress.left  # no wait if there is no work
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
    done = placements is not None
    records.append(
        JobRecord(
            job,
            FINISHED if done else UNFINISHED,
            "" if done else "no node left that could host it",
            start,
            env.now if done else None,
            placements or (),
            progress.moves,
            pending_seconds,
        )
    )
    dispatcher.leave(job)
