"""A machine with GPUs, as the cluster's owner would describe it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

UNLIMITED = 2**53  # of CPU or memory, where nobody counts them


@dataclass(frozen=True, slots=True)
class Node:
    """One machine; raises ValueError if its numbers make no sense."""

    name: str
    num_gpus: int = 8
    cpu_milli: int = UNLIMITED  # milli-cores
    memory_mib: int = UNLIMITED  # MiB
    gpu_type: str = ""

    def __post_init__(self) -> None:
        """Check that nothing is negative."""
        for name in ("num_gpus", "cpu_milli", "memory_mib"):
            if getattr(self, name) < 0:
                value = getattr(self, name)
                raise ValueError(f"node {self.name}: {name} {value} must be at least 0")


JOIN, DRAIN, LEAVE, RETURN = "join", "drain", "leave", "return"
FAIL, REPAIRED = "fail", "repaired"
ORDERS = (JOIN, DRAIN, LEAVE, RETURN, FAIL, REPAIRED)


class NodeChange(NamedTuple):
    """An order to one node at some time."""

    time: float  # s since the trace began
    node: int  # index
    order: str  # one of `ORDERS`


def uniform_nodes(
    num_node: int,
    gpus_per_node: int,
    cpu_milli: int = UNLIMITED,
    memory_mib: int = UNLIMITED,
    gpu_types: Sequence[str] = ("",),
) -> tuple[Node, ...]:
    """Return *num_node* nodes that differ in name and, in turn, in GPU type."""
    return tuple(
        Node(
            f"node-{node:04d}",
            gpus_per_node,
            cpu_milli,
            memory_mib,
            gpu_types[node % len(gpu_types)],
        )
        for node in range(num_node)
    )
