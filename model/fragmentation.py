"""Expected fragmentation F_n(M): the free GPU that the next job cannot use.

Weng et al., "Beware of Fragmentation: Scheduling GPU-Sharing Workloads with
Fragmentation Gradient Descent", USENIX ATC 2023, section 3. A node's free GPU is a
fragment for a kind of job if the node cannot host that kind (too few devices, CPU
short, wrong type), or, on a node that can, if it lies on a device that is too small
for it. F is the mean over the kinds of a target workload, weighted by popularity.

Because a device's share of F depends only on its own free milli-GPU, on how many
devices of the node are fully free, and on which kinds the node's CPU and type
satisfy, F is a sum of table entries, and a placement changes only a few of them.
All entries are integers (weight x milli-GPU), so ties are ties on any machine.
"""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np

from model.capacity import Capacity, Ints, view
from model.job import WHOLE_GPU, accepts
from model.target import Target


class Fragmentation:
    """F of each node for a target workload, following the cluster node by node.

    A *profile* says which kinds a node's GPU type and free CPU satisfy. Under one, F
    is what each partly free device adds, plus what w fully free devices add together.

    Attributes
    ----------
    weight : int
        Jobs in the target workload; F in milli-GPU is an amount / *weight*.
    levels : sorted distinct CPU requests of the target; empty if CPU is not counted.
    partly : (profiles, 1001) int64
        weight x milli-GPU of fragment, by a device's free milli-GPU; 0 at 1000.
    wholly : (profiles, gpus + 1) int64
        The same of all fully free devices together, by their number.
    amount : (nodes,) int64
        weight x F_n; their sum is `total`.
    """

    def __init__(
        self, capacity: Capacity, target: Target, follows: bool = True
    ) -> None:
        self.capacity = capacity
        self.target = target
        self.weight = max(1, sum(target.weights))
        levels = {request.cpu_milli for request in target.requests}
        self.levels = sorted(levels) if capacity.counts_cpu else []
        self._levels = np.array(self.levels)
        types = [node.gpu_type for node in capacity.nodes]
        self._make_tables(target, sorted(set(types)), capacity.free.shape[1])
        rank = {gpu_type: index for index, gpu_type in enumerate(sorted(set(types)))}
        self.num_profiles = len(self.partly)
        self._first = [rank[gpu_type] * (len(self.levels) + 1) for gpu_type in types]
        self._first_profile = np.array(self._first)  # (nodes,) with no free CPU
        self.amount: Ints = np.zeros(len(types), dtype=np.int64)
        self._amount = view(self.amount)
        self.total = 0
        for node in range(len(types)):
            self.update(node)
        if follows:  # else the amounts stay; tables and profiles are always right
            capacity.watchers.append(self.update)

    def update(self, node: int) -> None:
        """Recompute one node after it changed."""
        profile = self.profile(node) if self.levels else self._first[node]
        row = self.capacity.rows[node]
        amount: int = self._wholly[profile][row.count(WHOLE_GPU)]
        amount += sum(map(self._partly[profile], row))
        if not (self.capacity.all_open or self.capacity.open[node]):
            amount = 0  # what nobody may use is not a fragment of it
        self.total += amount - self._amount[node]
        self._amount[node] = amount

    def profile(self, node: int) -> int:
        """Return the index of the kinds that a node's type and free CPU satisfy."""
        first = self._first[node]
        if not self.levels:
            return first
        return first + bisect_right(self.levels, int(self.capacity.free_cpu[node]))

    def profiles(self, nodes: Ints, cpu_milli: int = 0) -> Ints:
        """Return the profiles of nodes once so much CPU is taken, (nodes,)."""
        first: Ints = self._first_profile[nodes]
        if not self.levels:
            return first
        left = self.capacity.free_cpu[nodes] - cpu_milli
        profiles: Ints = first + self._levels.searchsorted(left, side="right")
        return profiles

    def amounts(self, nodes: Ints, profile: Ints) -> Ints:
        """Return weight x F_n of nodes as it were under other profiles, (nodes,)."""
        free, whole = self.capacity.free[nodes], self.capacity.whole[nodes]
        part = free + (profile * self.partly.shape[1])[:, None]  # (nodes, gpus)
        amounts: Ints = self.wholly.take(whole + profile * self.wholly.shape[1])
        amounts += np.add.reduce(self.partly.take(part), axis=1)
        return amounts

    def _make_tables(self, target: Target, types: Sequence[str], gpus: int) -> None:
        partly, wholly = [], []
        for gpu_type in types:
            for cpu in [-1, *self.levels] if self.levels else [None]:
                rows = _profile_rows(target, gpu_type, cpu, gpus)
                partly.append(rows[0])
                wholly.append(rows[1])
        self.partly, self.wholly = np.array(partly), np.array(wholly)
        self._partly = [row.__getitem__ for row in self.partly.tolist()]
        self._wholly: list[list[int]] = self.wholly.tolist()


def _profile_rows(
    target: Target, gpu_type: str, cpu: int | None, gpus: int
) -> tuple[Ints, Ints]:
    """Return the table rows of one profile: this type and this much free CPU."""
    milli = np.arange(WHOLE_GPU + 1)
    whole = np.arange(gpus + 1)
    partly, wholly = np.zeros_like(milli), np.zeros_like(whole)
    for request, weight in target.kinds():
        access = accepts(request.gpu_type, gpu_type)
        has_cpu = cpu is None or cpu >= request.cpu_milli
        if request.num_gpus == 0 or not access or not has_cpu:
            partly += weight * milli
            wholly += weight * whole * WHOLE_GPU
        elif request.num_gpus == 1:
            partly += weight * np.where(milli < request.gpu_milli, milli, 0)
        else:
            partly += weight * milli
            wholly += weight * np.where(whole < request.num_gpus, whole, 0) * WHOLE_GPU
    partly[WHOLE_GPU] = 0  # counted as whole
    return partly, wholly


def fragment_of(
    free: Sequence[int], target: Target, gpu_type: str = "", cpu: int | None = None
) -> float:
    """Return F of one node in milli-GPU, straight from the definition.

    Parameters
    ----------
    free : free milli-GPU of each device.
    target : the workload to average over.
    gpu_type : the node's; it decides which kinds have access.
    cpu : free milli-cores; None = not counted.

    Examples
    --------
    1000 + 400 milli free: half of all jobs want a whole GPU, for which the 400 is
    lost; the other half want 300, for which nothing is.

    >>> from model.job import Request
    >>> half = Target((Request(1, 1000), Request(1, 300)), (1, 1))
    >>> fragment_of([1000, 400], half)
    200.0
    """
    lost = 0
    for request, weight in target.kinds():
        usable = [milli for milli in free if milli >= request.gpu_milli]
        satisfied = (
            0 < request.num_gpus <= len(usable)
            and accepts(request.gpu_type, gpu_type)
            and (cpu is None or cpu >= request.cpu_milli)
        )
        lost += weight * (sum(free) - sum(usable) if satisfied else sum(free))
    return lost / sum(target.weights)
