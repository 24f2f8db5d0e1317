"""What must hold at every moment of a simulation, and once it has ended."""

from collections import Counter
from collections.abc import Sequence

from model.cluster import Cluster
from model.job import WHOLE_GPU, Job, JobRecord, Request


class InvariantError(AssertionError):
    """The simulation contradicts itself: a bug, never the user's fault."""


def check_moment(cluster: Cluster) -> None:
    """Check that containers, arrays and what the jobs hold agree on every device.

    Raises
    ------
    InvariantError
        If a device is below 0 or above 1000, or sum held is not capacity - free.
    """
    gpu, cpu, memory = _held(cluster)
    capacity = cluster.capacity
    for node, devices in enumerate(cluster.gpus):
        for place, container in enumerate(devices):
            level = container.level
            if not 0 <= level <= WHOLE_GPU:
                raise InvariantError(f"GPU {place} of node {node} has level {level}")
            _same(f"GPU {place} of node {node}", level, WHOLE_GPU - gpu[node, place])
            _same("its array", int(capacity.free[node, place]), level)
            _same("its row", capacity.rows[node][place], level)
    for node, container in enumerate(cluster.cpu):
        _same(f"CPU of node {node}", container.level, int(capacity.free_cpu[node]))
        full = capacity.nodes[node].cpu_milli
        _same("what is held of it", full - cpu[node], container.level)
    for node, container in enumerate(cluster.memory):
        _same(f"memory of {node}", container.level, int(capacity.free_memory[node]))
        full = capacity.nodes[node].memory_mib
        _same("what is held of it", full - memory[node], container.level)
    _check_counts(cluster)


def _held(
    cluster: Cluster,
) -> tuple[Counter[tuple[int, int]], Counter[int], Counter[int]]:
    """Return what all running jobs hold, by device and by node."""
    gpu: Counter[tuple[int, int]] = Counter()
    cpu: Counter[int] = Counter()
    memory: Counter[int] = Counter()
    for held in cluster.held:
        request: Request = held.job.request
        if len(held.placements) != held.job.num_workers:
            raise InvariantError(f"job {held.job.job_id} does not run whole")
        for node, devices in held.placements:
            gpu.update({(node, device): request.gpu_milli for device in devices})
            cpu[node] += request.cpu_milli
            memory[node] += request.memory_mib
    return gpu, cpu, memory


def _check_counts(cluster: Cluster) -> None:
    """Check the running totals against what they are totals of."""
    capacity = cluster.capacity
    free, is_open = capacity.free, capacity.open
    full = capacity.num_gpus * WHOLE_GPU
    whole = (free == WHOLE_GPU).sum(axis=1)
    part = whole % capacity.num_gpus.clip(min=1)
    busy = {node for held in cluster.held for node, _ in held.placements}
    for name, counted, actual in (
        ("allocated", capacity.allocated, (full - free.sum(axis=1)).sum()),
        ("free_open", capacity.free_open, free[is_open].sum()),
        ("busy_gpus", capacity.busy_gpus, (capacity.num_gpus - whole).sum()),
        ("scattered", capacity.scattered, part[is_open].sum()),
        ("busy_nodes", capacity.busy_nodes, len(busy)),
        (
            "partial_nodes",
            capacity.partial_nodes,
            ((free.sum(axis=1) > 0) & (free.sum(axis=1) < full)).sum(),
        ),
    ):
        _same(name, counted, int(actual))
    for name, kept, derived in (
        ("free_total", capacity.free_total, free.sum(axis=1)),
        ("whole", capacity.whole, whole),
        ("largest", capacity.largest, free.max(axis=1)),
    ):
        if (kept != derived).any():
            raise InvariantError(f"{name} is {kept}, should be {derived}")


def check_end(
    cluster: Cluster, jobs: Sequence[Job], records: Sequence[JobRecord]
) -> None:
    """Check that nothing is held any more and every job has exactly one sound record.

    Raises
    ------
    InvariantError
        If a container is not full, a job has no record or two, or one that ends
        before it starts or starts before it was submitted.
    """
    check_moment(cluster)
    _same("jobs still running", len(cluster.held), 0)
    recorded = Counter(record.job.job_id for record in records)
    if recorded != Counter(job.job_id for job in jobs):
        raise InvariantError("not every job has exactly one record")
    for record in records:
        start, end = record.start_time, record.end_time
        if start is not None and start < record.job.submit_time:
            raise InvariantError(f"job {record.job.job_id} starts before submission")
        if start is not None and end is not None and end < start:
            raise InvariantError(f"job {record.job.job_id} ends before it starts")


def _same(name: str, value: float, expected: float) -> None:
    if value != expected:
        raise InvariantError(f"{name} is {value}, should be {expected}")
