"""DRR's published rescheduling: little-used nodes are emptied onto better-used ones.

Every round up to `re_num` nodes whose allocation is above 0 and below
`util_threshold`, lowest first, give all their GPU jobs to nodes that are used as much
or more; the running scheduler chooses which. A node of which any job finds no place, or
may not be moved, stays as it is; CPU-only jobs are left where they are. SoCC 2025
(10.1145/3772052.3772242), as its command line tells.
"""

import numpy as np

from model.job import WHOLE_GPU
from schedulers.decision import PlannedMove
from schedulers.planners.draft import Draft, Outlook, drafting


def empty_nodes(outlook: Outlook) -> list[PlannedMove]:
    """Return the moves that empty the least used nodes."""
    capacity = outlook.world.capacity
    full = np.maximum(WHOLE_GPU * capacity.num_gpus, 1)
    allocation = 1 - capacity.free_total / full  # (nodes,)
    used = capacity.open & (capacity.num_gpus > 0) & (allocation > 0)
    low = (used & (allocation < outlook.settings.util_threshold)).nonzero()[0]
    emptied = 0
    with drafting(outlook) as draft:
        for node in low[allocation[low].argsort(kind="stable")].tolist():
            if emptied == outlook.limit:
                break
            worse = (allocation < allocation[node]) | capacity.idle
            worse[node] = True
            emptied += _empty(outlook, draft, node, worse.nonzero()[0].tolist())
        return draft.moves("little used")


def _empty(outlook: Outlook, draft: Draft, node: int, worse: list[int]) -> bool:
    """Move all jobs off a node, none to a worse one; undo if one stays."""
    residents = [held for held in draft.residents(node) if held.job.num_gpus]
    if not all(map(outlook.movable, residents)):
        return False
    mark = draft.mark()
    for held in residents:
        draft.take_out(held)
    with outlook.world.capacity.closed(worse):
        for held in sorted(residents, key=lambda held: -held.job.total_milli):
            placements = outlook.home(held)
            if placements is None:
                break
            draft.put(held, placements)
        else:
            return bool(residents)
    draft.undo(mark)
    return False
