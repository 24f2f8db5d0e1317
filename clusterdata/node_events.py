"""When nodes join, drain, leave and return: CSV of time (s), node (name), event."""

from collections.abc import Sequence

from clusterdata.formats.canonical import LONGEST
from clusterdata.table import Table
from model.errors import suggestion
from model.node import ORDERS, Node, NodeChange


def read_node_events(table: Table, nodes: Sequence[Node]) -> list[NodeChange]:
    """Return the events in the order of the file.

    Raises
    ------
    TraceError
        If a column is missing, a node is unknown or an event is none of `ORDERS`.
    """
    table.check_columns(("time", "node", "event"), ())
    index = {node.name: place for place, node in enumerate(nodes)}
    events = []
    rows = zip(
        table.numbers("time", high=LONGEST).tolist(),
        table.text("node"),
        table.text("event"),
        strict=True,
    )
    for row, (time, name, order) in enumerate(rows):
        if name not in index:
            near = suggestion(name, index)
            raise table.error(row, "node", f"a node of this cluster{near}")
        if order not in ORDERS:
            raise table.error(row, "event", f"one of {', '.join(ORDERS)}")
        events.append(NodeChange(time, index[name], order))
    return events
