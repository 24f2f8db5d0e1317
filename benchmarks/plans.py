"""What one plan that makes room costs, on full clusters of 128 and 1,213 nodes.

python -m benchmarks.plans
"""

import statistics
from dataclasses import replace
from time import perf_counter

from clusterdata.generator import generate
from model.capacity import Capacity
from model.config import Settings
from model.fragmentation import Fragmentation
from model.held import Held, HeldJobs
from model.job import Job
from model.node import Node
from model.streams import stream
from model.target import target_workload
from schedulers.base import World
from schedulers.inflation import inflate
from schedulers.planners.draft import Outlook
from schedulers.planners.making_room import make_room
from schedulers.planners.published import empty_nodes
from schedulers.planners.useful import give_back
from schedulers.random_fit import RandomFit
from schedulers.registry import scheduler_class

FULL = 0.85  # of the GPUs are held when plans are made
SIZES = (1, 2, 4, 8)


def cluster(nodes: int) -> Outlook:
    """Return a cluster filled at random to 85 %."""
    settings = Settings(num_jobs=20 * nodes, seed=100)
    jobs = generate(settings)
    capacity = Capacity([Node(f"n{n}", 8) for n in range(nodes)])
    target = target_workload(jobs, 1.0)
    held = HeldJobs()
    world = World(
        capacity, Fragmentation(capacity, target), held, stream(0, "scheduler"), target
    )
    for _ in inflate(RandomFit(world), jobs):
        if capacity.allocated > FULL * 8000 * nodes:
            break
    for entry in [*held]:
        held.remove(entry.job.job_id)
        held.add(Held(entry.job, entry.placements, entry.job.estimate))
    place = scheduler_class("FGD")(world, settings).place
    return Outlook(world, place, 5, settings=settings)


def main() -> None:
    """Print the milliseconds of each plan, cold and with what is remembered."""
    for nodes in (128, 1213):
        outlook = cluster(nodes)
        for size in SIZES:
            job = Job("new", 0.0, 100.0, num_gpus=size)
            if outlook.place(job, 0.0):
                print(f"{nodes:5} nodes  a job of {size} GPUs fits: nothing to plan")
                continue
            times, moves = [], None
            for _ in range(5):
                began = perf_counter()
                moves = make_room(replace(outlook, memory={}), job, 16)
                times.append(1000 * (perf_counter() - began))
            found = f"{len(moves)} moves" if moves is not None else "no room"
            cold = statistics.median(times)
            print(f"{nodes:5} nodes  room for {size} GPUs: {cold:8.1f} ms, {found}")
        for plan in (empty_nodes, give_back):
            began = perf_counter()
            found = f"{len(plan(replace(outlook, memory={})))} moves"
            seconds = 1000 * (perf_counter() - began)
            print(f"{nodes:5} nodes  {plan.__name__}: {seconds:8.1f} ms, {found}")


if __name__ == "__main__":
    main()
