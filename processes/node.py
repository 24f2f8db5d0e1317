"""One process per GPU node: it joins, drains, leaves and returns as it is told.

Orders reach a node through its mailbox, a SimPy Store. The operator's plan is one
sender, failures (`failures.py`) are another.
"""

from collections.abc import Callable, Generator, Sequence
from typing import Any, NamedTuple

from simpy import Event, Store

from model.cluster import Cluster
from model.node import FAIL, JOIN, LEAVE, REPAIRED, RETURN, NodeChange
from processes.instant import DISTURBANCE, Moment, Timeline


class Order(NamedTuple):
    """What a node is told, and by whom."""

    kind: str  # one of `ORDERS`
    sender: str


OPERATOR = "operator"


def run_node(
    node: int,
    orders: Store,
    cluster: Cluster,
    wake: Callable[[], None],
    evict: Callable[..., None],
    saved_every: float,
) -> Generator[Event, Any, None]:
    """Follow the orders: open to new jobs, closed to them, or gone at once.

    A node that drains lets its jobs end; one that leaves sends them back to the queue
    with the work they have done, one that fails only with that of their last
    checkpoints; all at the price of a migration when they run again. A node is open
    while nobody keeps it closed: one that is repaired after it was drained stays so.
    """
    closed_by = set() if cluster.capacity.open[node] else {OPERATOR}
    while True:
        order: Order = yield orders.get()
        if order.kind in (JOIN, RETURN, REPAIRED):
            closed_by.discard(order.sender)
        else:
            closed_by.add(order.sender)
        cluster.capacity.set_open(node, not closed_by)
        if order.kind in (LEAVE, FAIL):
            failed = order.kind == FAIL
            reason = f"node {node} {'failed' if failed else 'left'}"
            for held in cluster.held.on_node(node):
                evict(held, reason, saved_every=saved_every if failed else None)
        wake()


def operate(
    env: Timeline, changes: Sequence[NodeChange], mailboxes: Sequence[Store]
) -> Generator[Event, Any, None]:
    """Send each order at its time; earlier ones first, ties as listed."""
    for change in sorted(changes, key=lambda change: change.time):
        if change.time > env.now:
            yield Moment(env, change.time, DISTURBANCE)
        yield mailboxes[change.node].put(Order(change.order, OPERATOR))


def joins_later(changes: Sequence[NodeChange]) -> set[int]:
    """Return the nodes that are not there at first: their first order is to join."""
    first: dict[int, str] = {}
    for change in sorted(changes, key=lambda change: change.time):
        first.setdefault(change.node, change.order)
    return {node for node, order in first.items() if order == JOIN}
