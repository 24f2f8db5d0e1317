"""The cheapest room for a job, proven: for checking planners on small clusters.

An integer program with a binary for every job and device: a job stays where it is at no
cost, or is placed anew at the price of a move. CPU, memory and gangs are left out.
HiGHS solves it; the time grows fast with jobs x devices, so a hundred of these is much.
"""

from itertools import count

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from model.job import WHOLE_GPU, Job
from schedulers.planners.draft import Outlook

Row = dict[int, float]  # coefficient of each variable


def cheapest_room(outlook: Outlook, job: Job) -> float | None:
    """Return the least GPU-seconds at which the job could start, None if it cannot."""
    capacity = outlook.world.capacity
    devices = [(int(n), int(g)) for n, g in np.argwhere(capacity.exists)]
    number, cost = count(), list[float]()
    equal: list[tuple[Row, float]] = []
    room: dict[tuple[int, int], Row] = {device: {} for device in devices}
    held = [(entry.job, entry) for entry in outlook.world.held]
    for asker, entry in [*held, (job, None)]:
        once: Row = {}
        if entry is not None:
            stays = next(number)
            cost.append(0.0)
            once[stays] = 1
            for node, gpus in entry.placements:
                for gpu in gpus:
                    room[node, gpu][stays] = asker.gpu_milli
            if not outlook.movable(entry):
                equal.append(({stays: 1}, 1))
        price = 0.0 if entry is None else outlook.lost(asker)
        for node in range(len(capacity.nodes)):
            goes = next(number)
            cost.append(price)
            once[goes] = 1
            parts: Row = {goes: -asker.num_gpus}
            for device in devices:
                if device[0] == node:
                    part = next(number)
                    cost.append(0.0)
                    parts[part] = 1
                    room[device][part] = asker.gpu_milli
            equal.append((parts, 0))
        equal.append((once, 1))
    return _solved(cost, equal, [(row, WHOLE_GPU) for row in room.values()])


def _solved(
    cost: list[float],
    equal: list[tuple[Row, float]],
    at_most: list[tuple[Row, float]],
) -> float | None:
    matrix = np.zeros((len(equal) + len(at_most), len(cost)))
    for place, (row, _) in enumerate([*equal, *at_most]):
        matrix[place, list(row)] = list(row.values())
    upper = np.array([limit for _, limit in [*equal, *at_most]], dtype=float)
    lower = np.array([limit for _, limit in equal] + [-np.inf] * len(at_most))
    result = milp(
        np.array(cost),
        constraints=LinearConstraint(matrix, lower, upper),
        integrality=np.ones(len(cost), dtype=np.int64),
        bounds=Bounds(0, 1),
    )
    return float(result.fun) if result.status == 0 else None
