"""The one queue of jobs that wait to be placed."""

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator
from operator import attrgetter
from typing import Any

from model.job import Job, Request

Order = Callable[[Job], Any]  # what jobs are compared by; smaller goes first
Kind = tuple[Request, int]  # what each worker asks, and how many workers
Entry = tuple[Any, int, Job]  # (order, arrival, job)


def kind_of(job: Job) -> Kind:
    """Return what decides where a job fits: jobs of one kind fit alike."""
    return (job.request, job.num_workers)


by_submission: Order = attrgetter("submit_time")
by_estimate: Order = attrgetter("estimate", "submit_time")


class PendingQueue:
    """Pending jobs in the order of their discipline; ties by arrival.

    A job that returns after an eviction takes its old place among its equals.

    Attributes
    ----------
    entries : (order, arrival, job) of each waiting job, first in line first.
    milli : milli-GPU that they ask for together.
    arrivals : how many jobs have ever come.

    Examples
    --------
    >>> queue = PendingQueue(by_estimate)
    >>> queue.add(Job("long", 0, 50)), queue.add(Job("short", 1, 5))
    (0, 1)
    >>> [job.job_id for job in queue], queue.head.job_id
    (['short', 'long'], 'short')
    """

    def __init__(self, order: Order = by_submission) -> None:
        self._order = order
        self.entries: list[Entry] = []
        self.milli = 0
        self._kinds: dict[Kind, list[Entry]] | None = None  # kept from first use on
        self.arrivals = 0

    def __len__(self) -> int:
        """Return how many jobs wait."""
        return len(self.entries)

    def __iter__(self) -> Iterator[Job]:
        """Iterate over the jobs, first in line first."""
        return (entry[2] for entry in self.entries)

    @property
    def head(self) -> Job:
        """The first job in line."""
        return self.entries[0][2]

    def add(self, job: Job, arrival: int | None = None) -> int:
        """Queue a job; return its arrival number, which restores its place later."""
        if arrival is None:
            arrival = self.arrivals
            self.arrivals += 1
        entry = (self._order(job), arrival, job)
        insort(self.entries, entry)
        self.milli += job.total_milli
        if self._kinds is not None:
            insort(self._kinds.setdefault(kind_of(job), []), entry)
        return arrival

    def remove(self, job: Job) -> None:
        """Take a job out of the line."""
        entries = self.entries
        entries.pop(0 if entries[0][2] is job else self._place(entries, job))
        self.milli -= job.total_milli
        if self._kinds is not None:
            kind = self._kinds[kind_of(job)]
            del kind[self._place(kind, job)]
            if not kind:
                del self._kinds[kind_of(job)]

    def _place(self, entries: list[Entry], job: Job) -> int:
        """Return the index of a job among entries."""
        place = bisect_left(entries, (self._order(job),))
        while entries[place][2] is not job:
            place += 1
        return place

    def kinds(self) -> list[Kind]:
        """Return the kinds of job that wait, in the order of their first jobs."""
        index = self._by_kind()
        return sorted(index, key=lambda kind: index[kind][0])

    def of_kind(self, kind: Kind) -> list[Entry]:
        """Return the entries of the jobs of one kind, first in line first."""
        return self._by_kind()[kind]

    def _by_kind(self) -> dict[Kind, list[Entry]]:
        if self._kinds is None:
            self._kinds = {}
            for entry in self.entries:
                self._kinds.setdefault(kind_of(entry[2]), []).append(entry)
        return self._kinds
