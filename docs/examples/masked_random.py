"""The simplest agent: any node that has room.

python docs/examples/masked_random.py
"""

import sys

import gymnasium
import numpy as np


def play(seed: int, **fields: object) -> float:
    """Return the total reward of an episode: minus the hours that jobs waited."""
    env = gymnasium.make("commands.environment:Defrag-v0", **fields)
    rng, total, ended = np.random.default_rng(seed), 0.0, False
    _, info = env.reset(seed=seed)
    while not ended:
        node = rng.choice(np.flatnonzero(info["action_mask"]))
        _, reward, ended, _, info = env.step(node)
        total += float(reward)
    return total


if __name__ == "__main__":
    sys.stdout.write(f"{play(0, num_node=8, num_jobs=400):.1f} h\n")
