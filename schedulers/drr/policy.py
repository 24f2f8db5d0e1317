"""DRR's policy: the parameters of its network, and what they say.

    device   7 numbers -> 16                     shared by all devices
    node     mean and largest of its devices, the teacher's score, the context -> 32
    cluster  attention of the context over the nodes (off: their mean) -> 32
    actor    node, cluster, context -> 32 -> 1   for each node, plus kappa x (- score)
    critic   cluster, context -> 32 -> 1

Nothing depends on the number or the order of nodes, nor on the order of a node's
devices, so one set of parameters serves clusters of any size. `inference.py` computes
it for one decision, `network.py` the same in torch, and learns; a test holds the two
together.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from schedulers.drr.inference import Layers, Workspace, infer, workspace
from schedulers.drr.observation import CONTEXT, SEVEN, Observation

DEVICE, HIDDEN, QUERY = 16, 32, 16
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

NAMES = (  # of the parameters that a decision needs, in the order of `Layers`
    "device.weight", "device.bias", "node.weight", "node.bias", "query.weight",
    "query.bias", "key.weight", "actor.weight", "actor.bias", "actor_out.weight",
    "kappa",
)  # fmt: skip

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
    return _pass(weights, seen, attends)[0]


def attention(weights: Parameters, seen: Observation) -> NDArray[np.float32]:
    """Return how much each node counts in what the policy sees of the cluster.

    Returns
    -------
    (nodes,) float32
        Of the nodes that were seen; sums to 1.
    """
    return _pass(weights, seen, True)[1].share


def _pass(
    weights: Parameters, seen: Observation, attends: bool
) -> tuple[NDArray[np.float32], Workspace]:
    layers = Layers(*(weights[name] for name in NAMES))
    nodes, gpus, _ = seen.devices.shape
    room, found = workspace(layers, nodes, gpus), np.empty(nodes, np.float32)
    infer(layers, seen.devices, seen.context, seen.scores, attends, room, found)
    return found, room
