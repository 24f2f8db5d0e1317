"""`fifo`, `sjf` and `backfill` against a slow replay written differently."""

from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import job_lists

from model.capacity import Capacity
from model.config import Settings
from model.hopeless import why_never
from model.node import Node
from processes.simulation import Simulation


def replay(jobs, gpus_per_node, queue):
    """Return start times under first fit, from plain lists, event by event.

    No SimPy, no arrays, no containers: at each time at which anything may change, end
    what is due, then start from the sorted queue what may start.
    """
    free = [[1000] * num_gpus for num_gpus in gpus_per_node]
    waiting, running, starts = list(jobs), [], {}
    now = 0.0
    while waiting:
        for end, job, devices in [entry for entry in running if entry[0] <= now]:
            running.remove((end, job, devices))
            for node, gpu in devices:
                free[node][gpu] += job.gpu_milli
        arrived = [job for job in waiting if job.submit_time <= now]
        key = (lambda job: job.estimate) if queue == "sjf" else (lambda job: 0)
        arrived.sort(key=lambda job: (key(job), job.submit_time))
        started = None
        for job in arrived:
            devices = take_first_fit(free, job)
            if devices is not None:
                started = job
                break
            if queue != "backfill":
                break
        if started:
            running.append((now + started.duration, started, devices))
            waiting.remove(started)
            starts[started.job_id] = now
            continue
        now = min(
            [end for end, _, _ in running]
            + [job.submit_time for job in waiting if job.submit_time > now]
        )
    return starts


def take_first_fit(free, job):
    """Take each worker's devices on the first node that has them; all or nothing."""
    taken = []
    for _ in range(job.num_workers):
        for node, row in enumerate(free):
            able = [gpu for gpu, milli in enumerate(row) if milli >= job.gpu_milli > 0]
            able.sort(key=lambda gpu: row[gpu])  # tightest first, then lowest
            if len(able) >= job.num_gpus:
                devices = [(node, gpu) for gpu in able[: job.num_gpus]]
                break
        else:
            for node, gpu in taken:
                free[node][gpu] += job.gpu_milli
            return None
        for node, gpu in devices:
            free[node][gpu] -= job.gpu_milli
        taken += devices
    return taken


@settings(max_examples=300)
@given(
    job_lists(typed=False, max_jobs=20),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
)
def test_fifo_sjf_and_backfill_start_as_the_slow_replay_does(jobs, gpus_per_node):
    nodes = [Node("n", num_gpus) for num_gpus in gpus_per_node]
    jobs = [job for job in jobs if not why_never(Capacity(nodes), job)]
    for queue in ("fifo", "sjf", "backfill"):
        asked = Settings(scheduler="FirstFit", queue=queue)
        ordered = sorted(jobs, key=lambda job: job.submit_time)
        result = Simulation(asked, jobs, nodes).run()

        starts = {record.job.job_id: record.start_time for record in result.records}
        assert starts == replay(ordered, gpus_per_node, queue)
