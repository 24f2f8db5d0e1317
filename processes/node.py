"""One process per GPU node: it joins, drains, leaves and returns as it is told.

Orders reach a node through its mailbox, a SimPy Store. The operator's plan is one
sender; node failures are another kind of sender and need nothing new here.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any

from simpy import Event, Store

from model.cluster import Cluster
from model.held import Held
from model.node import JOIN, LEAVE, RETURN, NodeChange
from processes.instant import DISTURBANCE, Moment, Timeline


def run_node(
    node: int,
    orders: Store,
    cluster: Cluster,
    wake: Callable[[], None],
    evict: Callable[[Held, str], None],
) -> Generator[Event, Any, None]:
    """Follow the orders: open to new jobs, closed to them, or gone at once.

    A node that drains lets its jobs end; one that leaves sends them back to the queue
    with the work they have done, at the price of a migration when they run again.
    """
    while True:
        order = yield orders.get()
        cluster.capacity.set_open(node, order in (JOIN, RETURN))
        if order == LEAVE:
            for held in cluster.held.on_node(node):
                evict(held, f"node {node} left")
        wake()


def operate(
    env: Timeline, changes: Sequence[NodeChange], mailboxes: Sequence[Store]
) -> Generator[Event, Any, None]:
    """Send each order at its time; earlier ones first, ties as listed."""
    for change in sorted(changes, key=lambda change: change.time):
        if change.time > env.now:
            yield Moment(env, change.time, DISTURBANCE)
        yield mailboxes[change.node].put(change.order)


def joins_later(changes: Sequence[NodeChange]) -> set[int]:
    """Return the nodes that are not there at first: their first order is to join."""
    first: dict[int, str] = {}
    for change in sorted(changes, key=lambda change: change.time):
        first.setdefault(change.node, change.order)
    return {node for node, order in first.items() if order == JOIN}
