"""DRR's actor and critic in torch: what `inference.py` computes, with gradients."""

import numpy as np
import torch
from torch import Tensor, nn

from schedulers.drr.inference import LARGEST
from schedulers.drr.kernel import BIG
from schedulers.drr.policy import QUERY, SHAPES, Parameters


class Network(nn.Module):
    """Actor and critic.

    Parameters
    ----------
    parameters : where to start from.
    attends : whether the context attends to the nodes, or takes their mean.
    """

    def __init__(self, parameters: Parameters, attends: bool = True) -> None:
        super().__init__()
        self.attends = attends
        self.kappa = nn.Parameter(torch.zeros(1))
        self.device, self.node = _layer("device"), _layer("node")
        self.query, self.key = _layer("query"), _layer("key")
        self.actor, self.actor_out = _layer("actor"), _layer("actor_out")
        self.critic, self.critic_out = _layer("critic"), _layer("critic_out")
        self.put(parameters)

    def put(self, parameters: Parameters) -> None:
        """Take over parameters."""
        self.load_state_dict(
            {name: torch.from_numpy(np.array(v)) for name, v in parameters.items()}
        )

    def parameters_of(self) -> Parameters:
        """Return copies of all parameters."""
        return {
            name: value.detach().numpy().copy()
            for name, value in self.state_dict().items()
        }

    def forward(
        self, devices: Tensor, context: Tensor, scores: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return logits, (batch, nodes), -inf where there is no room, and values.

        Values, (batch,), do not train the layers they share with the actor.

        Parameters
        ----------
        devices : (batch, nodes, gpus, 7)
        context : (batch, 9)
        scores : (batch, nodes), `BIG` where there is no room.
        """
        room = scores < BIG
        score = scores.clamp(-LARGEST, LARGEST).float()
        seen = torch.relu(self.device(devices))  # (batch, nodes, gpus, 16)
        pooled = torch.cat([seen.mean(2), seen.amax(2), (score * room)[..., None]], -1)
        around = context[:, None].expand(-1, devices.shape[1], -1)
        node = torch.relu(self.node(torch.cat([pooled, around], -1)))
        cluster = self._cluster(node, context)  # (batch, 32)
        over = cluster[:, None].expand_as(node)
        hidden = torch.relu(self.actor(torch.cat([node, over, around], -1)))
        logits = self.actor_out(hidden)[..., 0] - self.kappa * score
        judged = torch.cat([cluster.detach(), context], -1)
        values = self.critic_out(torch.relu(self.critic(judged)))[:, 0]
        return logits.masked_fill(~room, -torch.inf), values

    def _cluster(self, node: Tensor, context: Tensor) -> Tensor:
        if not self.attends:
            return node.mean(1)
        match = (self.key(node) * self.query(context)[:, None]).sum(-1)
        share = torch.softmax(match / QUERY**0.5, -1)
        return (share[..., None] * node).sum(1)


def _layer(name: str) -> nn.Linear:
    wide, narrow = SHAPES[f"{name}.weight"]
    return nn.Linear(narrow, wide, f"{name}.bias" in SHAPES)
