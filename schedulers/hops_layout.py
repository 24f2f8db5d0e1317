"""Lays a plan of Hops out on nodes and devices.

Whole-GPU jobs largest first, each on the node with the fewest idle devices that fit;
jobs to be spread over the fewest nodes; shares by their patterns, broken devices first.
What CPU, memory or GPU type keep out is left in the queue.
"""

from collections import defaultdict
from collections.abc import Sequence

from model.capacity import Capacity, Shift
from model.job import WHOLE_GPU, Job, Placement, Request, reshaped
from schedulers.decision import Decision
from schedulers.hops_ilp import Item, Plan


class Layout:
    """Places the picked jobs one by one, for the length of a trial."""

    def __init__(self, capacity: Capacity, shift: Shift, step: int) -> None:
        self._capacity = capacity
        self._shift = shift
        self._step = step  # milli-GPU to which shares and residuals are rounded
        self._slots: dict[int, list[Placement]] = defaultdict(list)  # by share

    def decide(
        self, jobs: Sequence[Job], items: Sequence[Item], plan: Plan
    ) -> list[Decision]:
        """Return the decisions that the plan means."""
        whole = [index for index in plan.together if items[index].size]
        whole.sort(key=lambda index: -items[index].size)
        decided = [self._together(jobs[index]) for index in whole]
        decided += [self._spread(jobs[index], items[index]) for index in plan.spread]
        self._open_slots(plan)
        shares = [index for index in plan.together if items[index].share]
        decided += [self._share(jobs[index], items[index].share) for index in shares]
        return [decision for decision in decided if decision]

    def _together(self, job: Job) -> Decision | None:
        """Place each worker on the tightest node that fits."""
        placements: list[Placement] = []
        for _ in range(job.num_workers):
            fits = self._capacity.fits(job.request).nonzero()[0]
            if not len(fits):
                self._give_up(job, placements)
                return None
            node = int(fits[self._capacity.whole[fits].argmin()])
            self._take(job.request, self._devices(node, job.num_gpus), placements)
        return Decision(job, tuple(placements))

    def _spread(self, job: Job, item: Item) -> Decision | None:
        """Place one GPU after the other, the emptiest nodes first."""
        form = reshaped(job, 1, job.num_gpus)
        placements: list[Placement] = []
        while len(placements) < form.num_workers:
            fits = self._capacity.fits(form.request).nonzero()[0]
            fits = fits[self._capacity.whole[fits] > 0]
            if not len(fits):
                self._give_up(form, placements)
                return None
            node = int(fits[self._capacity.whole[fits].argmax()])
            missing = form.num_workers - len(placements)
            most = min(missing, int(self._capacity.whole[node]))
            for _ in range(most):
                device = self._devices(node, 1)
                if self._capacity.has_room(form.request, device):
                    self._take(form.request, device, placements)
        nodes = {placement.node for placement in placements}
        if len(nodes) == 1:  # it came to sit together after all
            gpus = tuple(gpu for placement in placements for gpu in placement.gpus)
            return Decision(job, (Placement(nodes.pop(), gpus),))
        return Decision(job, tuple(placements), form, 1 / item.gain)

    def _open_slots(self, plan: Plan) -> None:
        """Name the devices that follow each pattern, and so the places of shares."""
        pools = {residual: self._pool(residual) for residual, _, _ in plan.patterns}
        for residual, pattern, number in plan.patterns:
            for device in pools[residual][:number]:
                for share in pattern:
                    self._slots[share].append(device)
            del pools[residual][:number]

    def _pool(self, residual: int) -> list[Placement]:
        """Return the devices with so much free, on nodes with few idle ones first."""
        capacity = self._capacity
        free = capacity.free // self._step * self._step
        if residual == WHOLE_GPU:
            free = capacity.free
        nodes, gpus = (free == residual).nonzero()
        order = capacity.whole[nodes].argsort(kind="stable")
        return [
            Placement(node, (gpu,))
            for node, gpu in zip(
                nodes[order].tolist(), gpus[order].tolist(), strict=True
            )
            if capacity.open[node]
        ]

    def _share(self, job: Job, share: int) -> Decision | None:
        """Place each worker into a slot of its share."""
        placements: list[Placement] = []
        slots = self._slots[share]
        while len(placements) < job.num_workers:
            able = [
                slot for slot in slots if self._capacity.has_room(job.request, slot)
            ]
            if not able:
                self._give_up(job, placements)
                return None
            slots.remove(able[0])
            self._take(job.request, able[0], placements)
        return Decision(job, tuple(placements))

    def _devices(self, node: int, number: int) -> Placement:
        row = self._capacity.rows[node]
        idle = [gpu for gpu, free in enumerate(row) if free == WHOLE_GPU]
        return Placement(node, tuple(idle[:number]))

    def _take(
        self, request: Request, placement: Placement, placements: list[Placement]
    ) -> None:
        self._shift(request, placement, 1)
        placements.append(placement)

    def _give_up(self, job: Job, placements: Sequence[Placement]) -> None:
        for placement in placements:
            self._shift(job.request, placement, -1)
