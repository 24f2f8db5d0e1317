"""Tell the jobs that no cluster like this one could ever start from patient ones."""

import numpy as np

from model.capacity import Capacity, Ints
from model.job import WHOLE_GPU, Job


def why_never(capacity: Capacity, job: Job) -> str:
    """Return why not even the empty cluster could start the job, or nothing."""
    accessible = capacity.accessible(job.gpu_type)
    if not accessible.any():
        return f"no node has GPU type {job.gpu_type}"
    room = empty_room(capacity, job)[accessible]
    if room.sum() >= job.num_workers:
        return ""
    ask = f"{job.num_gpus} x {job.gpu_milli} milli-GPU"
    if capacity.counts_cpu:
        ask += f", {job.cpu_milli} milli-cores"
    if capacity.counts_memory:
        ask += f", {job.memory_mib} MiB"
    if room.sum() == 0:
        return f"no empty node can host {ask}"
    return f"the empty cluster holds {room.sum()} of {job.num_workers} workers ({ask})"


def empty_room(capacity: Capacity, job: Job) -> Ints:
    """Return how many of the job's workers each node holds when empty, (nodes,)."""
    room = np.full(len(capacity.nodes), job.num_workers, dtype=np.int64)
    if job.num_gpus:
        per_device = WHOLE_GPU // job.gpu_milli
        room = np.minimum(room, capacity.num_gpus // job.num_gpus * per_device)
    if capacity.counts_cpu and job.cpu_milli:
        cpu = np.array([node.cpu_milli for node in capacity.nodes])
        room = np.minimum(room, cpu // job.cpu_milli)
    if capacity.counts_memory and job.memory_mib:
        memory = np.array([node.memory_mib for node in capacity.nodes])
        room = np.minimum(room, memory // job.memory_mib)
    return room
