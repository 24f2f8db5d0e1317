"""DRR's policy in plain NumPy: the parameters of its network, and what they say.

    device   7 numbers -> 16                     shared by all devices
    node     mean and largest of its devices, the teacher's score, the context -> 32
    cluster  attention of the context over the nodes (off: their mean) -> 32
    actor    node, cluster, context -> 32 -> 1   for each node, plus kappa x (- score)
    critic   cluster, context -> 32 -> 1

Nothing depends on the number or the order of nodes, nor on the order of a node's
devices, so one set of parameters serves clusters of any size. `network.py` computes the
same in torch, and learns; a test holds the two together.
"""

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from schedulers.drr.kernel import BIG
from schedulers.drr.observation import CONTEXT, SEVEN, Observation

DEVICE, HIDDEN, QUERY = 16, 32, 16
LARGEST = 8.0  # teacher's score, beyond which the network does not tell them apart
KAPPA = 10.0  # weight of the teacher's score in a network that starts from it

SHAPES: dict[str, tuple[int, ...]] = {
    "kappa": (1,),
    "device.weight": (DEVICE, SEVEN),
    "device.bias": (DEVICE,),
    "node.weight": (HIDDEN, 2 * DEVICE + 1 + CONTEXT),
    "node.bias": (HIDDEN,),
    "query.weight": (QUERY, CONTEXT),
    "query.bias": (QUERY,),
    "key.weight": (QUERY, HIDDEN),
    "actor.weight": (HIDDEN, 2 * HIDDEN + CONTEXT),
    "actor.bias": (HIDDEN,),
    "actor_out.weight": (1, HIDDEN),
    "critic.weight": (HIDDEN, HIDDEN + CONTEXT),
    "critic.bias": (HIDDEN,),
    "critic_out.weight": (1, HIDDEN),
    "critic_out.bias": (1,),
}

Parameters = Mapping[str, NDArray[np.float32]]


def fresh(rng: np.random.Generator, kappa: float = KAPPA) -> Parameters:
    """Return untrained parameters, under which the policy is kappa x (- score)."""
    made = {}
    for name, shape in SHAPES.items():
        wide = 1 / np.sqrt(shape[-1])
        made[name] = rng.uniform(-wide, wide, shape).astype(np.float32)
    made["actor_out.weight"][:] = 0
    made["kappa"][:] = kappa
    return made


def logits(
    weights: Parameters, seen: Observation, attends: bool = True
) -> NDArray[np.float32]:
    """Return the logits of all nodes, (nodes,), -inf where there is no room."""
    room = seen.scores < BIG
    score = np.clip(seen.scores, -LARGEST, LARGEST).astype(np.float32)
    node = _nodes(weights, seen, score * room)
    if attends:
        share = _shares(weights, node, seen.context)
        cluster = share @ node / share.sum()
    else:
        cluster = node.mean(axis=0)
    split = weights["actor.weight"]
    over = split[:, HIDDEN:] @ np.concatenate([cluster, seen.context])
    hidden = _relu(node @ split[:, :HIDDEN].T + over + weights["actor.bias"])
    found = hidden @ weights["actor_out.weight"][0] - weights["kappa"][0] * score
    return cast(NDArray[np.float32], np.where(room, found, -np.inf))


def attention(weights: Parameters, seen: Observation) -> NDArray[np.float32]:
    """Return how much each node counts in what the policy sees of the cluster.

    Returns
    -------
    (nodes,) float32
        Of the nodes that were seen; sums to 1.
    """
    score = np.clip(seen.scores, -LARGEST, LARGEST).astype(np.float32)
    node = _nodes(weights, seen, score * (seen.scores < BIG))
    share = _shares(weights, node, seen.context)
    return cast(NDArray[np.float32], share / share.sum())


def _nodes(weights: Parameters, seen: Observation, score: Any) -> Any:
    """Return what is known of each node, (nodes, 32)."""
    by_gpu = np.ascontiguousarray(seen.devices.swapaxes(0, 1))  # quicker to pool
    devices = _relu(_linear(weights, "device", by_gpu.reshape(-1, SEVEN)))
    devices = devices.reshape(*by_gpu.shape[:2], DEVICE)  # (gpus, nodes, 16)
    pooled = [devices.mean(axis=0), devices.max(axis=0), score[:, None]]
    around = np.broadcast_to(seen.context, (len(score), CONTEXT))
    return _relu(_linear(weights, "node", np.concatenate([*pooled, around], axis=1)))


def _shares(weights: Parameters, node: Any, context: Any) -> Any:
    """Return the attention of the context to each node, not yet normal, (nodes,)."""
    query = _linear(weights, "query", context)
    match = node @ (weights["key.weight"].T @ query) / np.float32(QUERY**0.5)
    return np.exp(match - match.max())


def _linear(weights: Parameters, name: str, values: Any) -> Any:
    return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _relu(values: Any) -> Any:
    return np.maximum(values, 0)
