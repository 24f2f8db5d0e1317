"""The network's forward pass for one decision, compiled.

The arrays are by feature first and node last, so that each innermost loop runs over all
nodes (or all devices of all nodes) with one weight, and sums are taken in one order on
every processor. A third of the time of the same in NumPy, whose many small calls cost
more than the arithmetic.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from schedulers.drr.compiled import compiled, inlined
from schedulers.drr.kernel import BIG
from schedulers.drr.state import Floats

Array = NDArray[np.float32]
LARGEST = 8.0  # teacher's score, beyond which the network does not tell them apart
ZERO, ONE = np.float32(0), np.float32(1)


class Layers(NamedTuple):
    """Parameters by layer, as `policy.SHAPES` has them; (outputs, inputs)."""

    device: Array
    device_bias: Array
    node: Array
    node_bias: Array
    query: Array
    query_bias: Array
    key: Array
    actor: Array
    actor_bias: Array
    actor_out: Array
    kappa: Array


class Workspace(NamedTuple):
    """Room for one pass: each layer's values, feature first.

    Attributes
    ----------
    seen, device : (7 or 16, gpus x nodes); device g of node n is at g x nodes + n.
    pooled, node, hidden : (33 or 32, nodes).
    cluster : (32,)
    share : (nodes,) how much each node counts in *cluster*; sums to 1.
    """

    seen: Array
    device: Array
    pooled: Array
    node: Array
    hidden: Array
    cluster: Array
    share: Array


def workspace(layers: Layers, nodes: int, gpus: int) -> Workspace:
    """Return room for a pass over so many nodes with so many devices each."""
    wide, seven = layers.device.shape
    deep = len(layers.node_bias)

    def room(*shape: int) -> Array:
        return np.empty(shape, np.float32)

    return Workspace(
        room(seven, gpus * nodes),
        room(wide, gpus * nodes),
        room(2 * wide + 1, nodes),
        room(deep, nodes),
        room(deep, nodes),
        room(deep),
        room(nodes),
    )


@compiled
def infer(
    layers: Layers,
    devices: Array,
    context: Array,
    scores: Floats,
    attends: bool,
    room: Workspace,
    logits: Array,
) -> None:
    """Fill in the logits, (nodes,), -inf where there is no room; and the workspace.

    Parameters
    ----------
    devices, context, scores : of an `Observation`.
    attends : whether the context attends to the nodes, or takes their mean.
    """
    _pool_devices(layers, devices, room)
    for node in range(len(scores)):
        room.pooled[-1, node] = _clipped(scores[node]) if scores[node] < BIG else ZERO
    split = len(room.pooled)
    for out in range(len(room.node)):
        _fill(
            room.node[out], _affine(layers.node, layers.node_bias, out, split, context)
        )
    _dense(layers.node, room.pooled, room.node)
    _rectify(room.node)
    if attends:
        _attend(layers, context, room)
    else:
        _fill(room.share, ONE / np.float32(len(scores)))
    for out in range(len(room.node)):
        room.cluster[out] = _dot(room.share, room.node[out])
    _act(layers, context, scores, room, logits)


@compiled
def _pool_devices(layers: Layers, devices: Array, room: Workspace) -> None:
    """Fill in the mean and the largest of each node's devices, rectified."""
    nodes, gpus, seven = devices.shape
    for node in range(nodes):
        for gpu in range(gpus):
            for index in range(seven):
                room.seen[index, gpu * nodes + node] = devices[node, gpu, index]
    wide, part = len(room.device), ONE / np.float32(gpus)
    for out in range(wide):
        _fill(room.device[out], layers.device_bias[out])
    _dense(layers.device, room.seen, room.device)
    _rectify(room.device)
    for out in range(wide):
        values, mean, most = room.device[out], room.pooled[out], room.pooled[wide + out]
        _fill(mean, ZERO)
        _fill(most, ZERO)
        for gpu in range(gpus):
            for node in range(nodes):
                mean[node] += values[gpu * nodes + node]
                most[node] = max(most[node], values[gpu * nodes + node])
        for node in range(nodes):
            mean[node] *= part


@compiled
def _attend(layers: Layers, context: Array, room: Workspace) -> None:
    """Fill in how much each node counts: softmax of key x query / sqrt(16)."""
    narrow, share = len(layers.query_bias), room.share
    _fill(share, ZERO)
    for index in range(narrow):
        query = _affine(layers.query, layers.query_bias, index, 0, context)
        query /= np.sqrt(np.float32(narrow))
        for deep in range(len(room.node)):
            _add(share, room.node[deep], query * layers.key[index, deep])
    most, total = share[0], ZERO
    for node in range(len(share)):
        most = max(most, share[node])
    for node in range(len(share)):
        share[node] = np.exp(share[node] - most)
        total += share[node]
    for node in range(len(share)):
        share[node] /= total


@compiled
def _act(
    layers: Layers, context: Array, scores: Floats, room: Workspace, logits: Array
) -> None:
    """Fill in the logits, from node, cluster and context."""
    deep = len(room.node)
    for out in range(deep):
        over = _affine(layers.actor, layers.actor_bias, out, 2 * deep, context)
        for index in range(deep):
            over += layers.actor[out, deep + index] * room.cluster[index]
        _fill(room.hidden[out], over)
    _dense(layers.actor, room.node, room.hidden)
    _rectify(room.hidden)
    for node in range(len(logits)):
        logits[node] = -layers.kappa[0] * _clipped(scores[node])
    for out in range(deep):
        _add(logits, room.hidden[out], layers.actor_out[0, out])
    for node in range(len(logits)):
        if scores[node] >= BIG:
            logits[node] = -np.inf


@inlined
def _clipped(score: float) -> Any:
    return np.float32(min(max(score, -LARGEST), LARGEST))


@inlined
def _affine(weight: Array, bias: Array, out: int, begin: int, values: Array) -> Any:
    """Return bias + weights x values for one output; the weights begin at a column."""
    total = bias[out]
    for index in range(len(values)):
        total += weight[out, begin + index] * values[index]
    return total


@inlined
def _dense(weight: Array, values: Array, to: Array) -> None:
    """Add weight x values, (inputs, n), to (outputs, n); by the first columns."""
    for out in range(len(to)):
        for index in range(len(values)):
            _add(to[out], values[index], weight[out, index])


@inlined
def _add(to: Array, values: Array, weight: Any) -> None:
    for place in range(len(to)):
        to[place] += values[place] * weight


@inlined
def _dot(left: Array, right: Array) -> Any:
    total = ZERO
    for place in range(len(left)):
        total += left[place] * right[place]
    return total


@inlined
def _fill(to: Array, value: Any) -> None:
    for place in range(len(to)):
        to[place] = value


@inlined
def _rectify(values: Array) -> None:
    for row in range(len(values)):
        for place in range(values.shape[1]):
            values[row, place] = max(values[row, place], ZERO)
