"""Plans of elastic jobs, slot by slot: ElasticFlow's progressive filling.

Free GPUs are an array over slots of equal length; a plan is an array of the GPUs that a
job has in each. Gu et al., "ElasticFlow", ASPLOS 2023, section 4, and its simulator.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from model.capacity import Ints

Floats = NDArray[np.float64]
RESTART = 27.0  # s; starting a job anew, elsewhere, in ElasticFlow's simulator


def joining(devices: int) -> float:
    """Return the s that it costs to join so many GPUs, in ElasticFlow's simulator.

    >>> joining(1), joining(8)
    (4.0, 10.0)
    """
    return 2 + 2 * (1 + math.log2(max(1, devices)))


class Scaling(NamedTuple):
    """How one job may run.

    Attributes
    ----------
    levels : milli-GPU that it may have, ascending; powers of two of devices, or the
        one amount of a job that does not scale.
    speeds : work done in a second on each level, relative to what it asked for.
    """

    levels: tuple[int, ...]
    speeds: tuple[float, ...]

    def speed(self, milli: int) -> float:
        """Return the speed on a level, 0 on none."""
        return self.speeds[self.levels.index(milli)] if milli else 0.0


def filled(scaling: Scaling, most: int, free: Ints) -> tuple[Ints, Floats]:
    """Return the highest level up to *most* that fits each slot, and its speed.

    >>> x, speed = filled(Scaling((1, 2, 4), (1.0, 1.5, 2.0)), 4, np.array([1, 3, 0]))
    >>> x.tolist(), speed.tolist()
    ([1, 2, 0], [1.0, 1.5, 0.0])
    """
    levels = [0, *(level for level in scaling.levels if level <= most)]
    speeds = np.array([0.0, *scaling.speeds])
    place = np.searchsorted(levels, free, side="right") - 1
    return np.array(levels)[place], speeds[place]


def satisfactory_share(
    scaling: Scaling, work: float, slot: float, free: Ints
) -> Ints | None:
    """Return the plan with the lowest levels that does the work in these slots.

    The lowest level that suffices is used as late as possible, the one below before
    it, and nothing once the work is done.

    Parameters
    ----------
    work : s at the speed of what the job asked for.
    slot : s of one slot.
    free : (slots,) free milli-GPU until the deadline.

    Examples
    --------
    The paper's: one GPU is free, then four; 3 units of work.

    >>> curve = Scaling((1, 2, 4), (1.0, 1.5, 2.0))
    >>> satisfactory_share(curve, 3.0, 1.0, np.array([1, 4])).tolist()
    [1, 4]
    """
    if not len(free):
        return None if work > 0 else free
    before = np.zeros_like(free)
    before_done = np.zeros(len(free))
    for level in scaling.levels:
        plan, speed = filled(scaling, level, free)
        done = speed * slot
        if done.sum() >= work - 1e-9:
            # with the lower level in the first k slots and this one in the others
            late = done[::-1].cumsum()[::-1]
            early = np.concatenate([[0.0], before_done.cumsum()[:-1]])
            enough = (early + late >= work - 1e-9).nonzero()[0]
            switch = int(enough[-1]) if len(enough) else 0
            plan[:switch] = before[:switch]
            done[:switch] = before_done[:switch]
            over = np.concatenate([[0.0], done.cumsum()[:-1]]) >= work - 1e-9
            plan[over] = 0
            return plan
        before, before_done = plan, done
    return None


def next_level(scaling: Scaling, milli: int) -> int | None:
    """Return the level above, or None at the top."""
    above = [level for level in scaling.levels if level > milli]
    return above[0] if above else None
