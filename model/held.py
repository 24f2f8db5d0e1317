"""Who holds what, and until when by the estimates that schedulers see."""

from collections.abc import Iterator

from model.job import Job, Placements


class Held:
    """A running job, where it runs, and when it should end.

    Attributes
    ----------
    placements : one for each worker; a migration changes them.
    expected_end : s since the trace began; may already have passed.
    """

    __slots__ = ("expected_end", "job", "placements")

    def __init__(self, job: Job, placements: Placements, expected_end: float) -> None:
        self.job = job
        self.placements = placements
        self.expected_end = expected_end


class HeldJobs:
    """The running jobs in the order of their coming; by node, once anyone asks.

    A job comes when it starts, and again when it is moved.

    `by_id` maps each job's id to its entry.

    >>> from model.job import Placement
    >>> held = HeldJobs()
    >>> held.add(Held(Job("a", 0, 5), (Placement(3, (0,)),), 5.0))
    >>> [entry.job.job_id for entry in held.on_node(3)], len(held)
    (['a'], 1)
    """

    def __init__(self) -> None:
        self.by_id: dict[str, Held] = {}
        self._by_node: dict[int, dict[str, Held]] = {}
        self._indexed = False

    def __len__(self) -> int:
        """Return how many jobs run."""
        return len(self.by_id)

    def __iter__(self) -> Iterator[Held]:
        """Iterate over the running jobs in the order of their coming."""
        return iter(self.by_id.values())

    def __contains__(self, job_id: object) -> bool:
        """Return whether the job runs."""
        return job_id in self.by_id

    def __getitem__(self, job_id: str) -> Held:
        """Return one running job."""
        return self.by_id[job_id]

    def on_node(self, node: int) -> list[Held]:
        """Return the jobs with a worker on the node, in the order of their coming."""
        if not self._indexed:
            self._indexed = True
            for held in self.by_id.values():
                self._index(held)
        return list(self._by_node.get(node, {}).values())

    def add(self, held: Held) -> None:
        """Note that a job runs."""
        self.by_id[held.job.job_id] = held
        if self._indexed:
            self._index(held)

    def remove(self, job_id: str) -> Held:
        """Note that a job runs no more; return what it held."""
        held = self.by_id.pop(job_id)
        if self._indexed:
            for placement in held.placements:
                self._by_node[placement.node].pop(job_id, None)
        return held

    def _index(self, held: Held) -> None:
        for placement in held.placements:
            self._by_node.setdefault(placement.node, {})[held.job.job_id] = held
