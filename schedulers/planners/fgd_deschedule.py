"""The three descheduling policies that come with FGD's simulator.

Each chooses up to `limit` victims, whose removal takes effect at once; then all are put
back, in that order, by the running scheduler. There a victim that no longer fits is
lost; here it stays. They look at expected fragmentation and CPU, not at durations or
cost. Source: hkust-adsl/kubernetes-scheduler-simulator, simulator/deschedule.go.
"""

import heapq
import math
from collections.abc import Callable, Iterator

from model.held import Held
from schedulers.decision import PlannedMove
from schedulers.planners.draft import Draft, Outlook, drafting, placed_anew

CPU_BAR = 2_000  # milli-cores; a node with less left is short of CPU
GPU_BAR = 500  # milli-GPU; a device with more left is worth saving


def cos_sim(outlook: Outlook) -> list[PlannedMove]:
    """Move the job least like what is left, off nodes whose GPU the CPU strands.

    Nodes with less than 2 free cores and a device more than half free are visited by
    free GPU, most first; from each goes at most one job: the one whose request has the
    smallest cosine similarity to what the node has left without it.
    """
    return placed_anew(outlook, _chosen(outlook, _least_similar), "cosSim")


def frag_one_pod(outlook: Outlook) -> list[PlannedMove]:
    """Move at most one job off each node: the one whose leaving lowers F most.

    Nodes are visited by F, largest first.
    """
    return placed_anew(outlook, _chosen(outlook, _one_each), "fragOnePod")


def frag_multi_pod(outlook: Outlook) -> list[PlannedMove]:
    """Move off the node with most F the job that lowers it most, again and again.

    The published code forgets what the first victim of a node gave back when it looks
    for the second; here every eviction counts.
    """
    return placed_anew(outlook, _chosen(outlook, _worst_first), "fragMultiPod")


Choose = Callable[[Outlook, Draft], Iterator[Held]]


def _chosen(outlook: Outlook, choose: Choose) -> list[Held]:
    """Return up to `limit` victims, each taken out before the next is chosen."""
    victims: list[Held] = []
    with drafting(outlook) as draft:
        for held in choose(outlook, draft):
            if len(victims) == outlook.limit:
                break
            draft.take_out(held)
            victims.append(held)
    return victims


def _least_similar(outlook: Outlook, draft: Draft) -> Iterator[Held]:
    capacity = outlook.world.capacity
    if not capacity.counts_cpu:
        return
    short = [
        node
        for node in range(len(capacity.nodes))
        if capacity.free_cpu[node] < CPU_BAR and capacity.largest[node] > GPU_BAR
    ]
    names = [node.name for node in capacity.nodes]
    for node in sorted(short, key=lambda n: (-capacity.free_total[n], names[n])):
        similar = [
            (_similarity(outlook, held, node), held.job.job_id, held)
            for held in draft.residents(node)
            if outlook.movable(held)
        ]
        similar = [entry for entry in similar if 0 <= entry[0] < 1]
        if similar:
            yield min(similar, key=lambda entry: entry[:2])[2]


def _similarity(outlook: Outlook, held: Held, node: int) -> float:
    """Return the cosine between a job's (CPU, GPU) here and what it would leave."""
    capacity, request = outlook.world.capacity, held.job.request
    workers = sum(placement.node == node for placement in held.placements)
    cpu = workers * request.cpu_milli
    gpu = workers * request.gpu_milli * request.num_gpus
    left = (int(capacity.free_cpu[node]) + cpu, int(capacity.free_total[node]) + gpu)
    length = math.hypot(cpu, gpu) * math.hypot(*left)
    return (left[0] * cpu + left[1] * gpu) / length if length else math.nan


def _one_each(outlook: Outlook, draft: Draft) -> Iterator[Held]:
    amount = outlook.world.fragmentation.amount
    for node in sorted(range(len(amount)), key=lambda n: -amount[n]):
        victim = _best_victim(outlook, draft, node)
        if victim is not None:
            yield victim


def _worst_first(outlook: Outlook, draft: Draft) -> Iterator[Held]:
    amount = outlook.world.fragmentation.amount
    heap = [(-int(lost), node) for node, lost in enumerate(amount)]
    heapq.heapify(heap)
    while heap:
        _, node = heapq.heappop(heap)
        victim = _best_victim(outlook, draft, node)
        if victim is not None:
            yield victim
            heapq.heappush(heap, (-int(amount[node]), node))


def _best_victim(outlook: Outlook, draft: Draft, node: int) -> Held | None:
    """Return the job whose leaving lowers F of the node most, by 1 milli at least."""
    fragmentation = outlook.world.fragmentation
    before = int(fragmentation.amount[node])
    best, victim = 0, None
    for held in draft.residents(node):
        if not outlook.movable(held):
            continue
        with outlook.world.capacity.trial() as shift:
            for placement in draft.where(held):
                shift(held.job.request, placement, -1)
            after = int(fragmentation.amount[node])
        gain = int((before - after) / fragmentation.weight)
        if gain > best:
            best, victim = gain, held
    return victim
