"""A cluster as it is: who runs where, and who waits."""

from typing import NamedTuple

from model.job import Job, Placements
from model.node import Node

DAY = 86_400.0  # s; what a job is expected to run on if nothing is known


class Snapshot(NamedTuple):
    """A cluster at one moment.

    Attributes
    ----------
    nodes : the cluster.
    running : (job, a placement for each worker) of each job that runs.
    waiting : the jobs that wait, first in line first.
    closed : indices of nodes that take no jobs.
    """

    nodes: tuple[Node, ...]
    running: list[tuple[Job, Placements]]
    waiting: list[Job]
    closed: tuple[int, ...] = ()
