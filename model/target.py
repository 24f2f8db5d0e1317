"""The target workload M over which expected fragmentation is averaged.

Weng et al., "Beware of Fragmentation", USENIX ATC 2023, section 3.2, and the settings
of its published experiments.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from model.job import Job, Request


class Target(NamedTuple):
    """The target workload M: kinds of job and how many workers of each there are.

    Attributes
    ----------
    requests, weights : the kinds, most popular first.
    total : workers of the whole trace, of which M is the popular part.
    """

    requests: tuple[Request, ...]
    weights: tuple[int, ...]
    total: int = 0

    def kinds(self) -> Iterator[tuple[Request, int]]:
        """Iterate over the kinds and their weights."""
        return zip(self.requests, self.weights, strict=True)


def target_workload(jobs: Iterable[Job], popularity: float = 0.95) -> Target:
    """Return the most popular kinds of job that together make up *popularity* of them.

    Kinds differ in CPU, milli-GPU, number of GPUs and type, not in memory; every
    worker of a job counts. Ties in popularity go to the larger request.

    Parameters
    ----------
    jobs : the trace, whole.
    popularity : share of all workers to cover, 0 < popularity <= 1; FGD's
        experiments use 0.95.

    Raises
    ------
    ValueError
        If *popularity* is not in (0, 1].

    Examples
    --------
    >>> jobs = [Job("a", 0, 1), Job("b", 0, 1), Job("c", 0, 1, gpu_milli=500)]
    >>> target_workload(jobs, 0.6).weights  # two of three ask for a whole GPU
    (2,)
    """
    if not 0 < popularity <= 1:
        raise ValueError(f"popularity {popularity} must be above 0 and at most 1")
    seen: Counter[tuple[Request, int]] = Counter(
        (job.request, job.num_workers) for job in jobs
    )
    count: Counter[Request] = Counter()
    for (request, num_workers), times in seen.items():
        count[request._replace(memory_mib=0)] += num_workers * times
    ranked = sorted(count, key=lambda kind: (count[kind], _size(kind)), reverse=True)
    enough = popularity * count.total()
    kept: list[Request] = []
    covered = 0
    for request in ranked:
        if covered >= enough:
            break
        kept.append(request)
        covered += count[request]
    weights = tuple(count[request] for request in kept)
    return Target(tuple(kept), weights, count.total())


def _size(kind: Request) -> tuple[int, int, int, str]:
    return (kind.cpu_milli, kind.gpu_milli, kind.num_gpus, kind.gpu_type)
