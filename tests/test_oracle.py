"""`fifo`, `sjf` and `backfill` against a slow replay written differently."""

from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import job_lists

from model.config import Settings
from model.node import Node
from processes.simulation import Simulation


def replay(jobs, num_gpus, queue):
    """Return start times under first fit on one node, from plain lists, event by event.

    No SimPy, no arrays, no containers: at each time at which anything may change, end
    what is due, then start from the sorted queue what may start.
    """
    free = [1000] * num_gpus
    waiting, running, starts = list(jobs), [], {}
    now = 0.0
    while waiting:
        for end, job, gpus in [entry for entry in running if entry[0] <= now]:
            running.remove((end, job, gpus))
            for gpu in gpus:
                free[gpu] += job.gpu_milli
        arrived = [job for job in waiting if job.submit_time <= now]
        key = (lambda job: job.estimate) if queue == "sjf" else (lambda job: 0)
        arrived.sort(key=lambda job: (key(job), job.submit_time))
        started = None
        for job in arrived:
            able = [gpu for gpu in range(num_gpus) if free[gpu] >= job.gpu_milli > 0]
            able.sort(key=lambda gpu: free[gpu])  # tightest first, then lowest
            if len(able) >= job.num_gpus:
                started = (now + job.duration, job, able[: job.num_gpus])
                break
            if queue != "backfill":
                break
        if started:
            for gpu in started[2]:
                free[gpu] -= started[1].gpu_milli
            running.append(started)
            waiting.remove(started[1])
            starts[started[1].job_id] = now
            continue
        now = min(
            [end for end, _, _ in running]
            + [job.submit_time for job in waiting if job.submit_time > now]
        )
    return starts


@settings(max_examples=300)
@given(job_lists(gangs=False, typed=False, max_jobs=20), st.integers(1, 4))
def test_fifo_sjf_and_backfill_start_as_the_slow_replay_does(jobs, num_gpus):
    jobs = [job for job in jobs if job.num_gpus <= num_gpus]
    for queue in ("fifo", "sjf", "backfill"):
        asked = Settings(scheduler="FirstFit", queue=queue)
        ordered = sorted(jobs, key=lambda job: job.submit_time)
        result = Simulation(asked, jobs, [Node("n", num_gpus)]).run()

        starts = {record.job.job_id: record.start_time for record in result.records}
        assert starts == replay(ordered, num_gpus, queue)
