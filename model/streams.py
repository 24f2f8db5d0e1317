"""One random stream per source, all spawned from one seed.

Drawing more from one source never shifts another: a trace stays the same whatever the
scheduler draws.
"""

import numpy as np

STREAMS = (
    "mix", "durations", "arrivals", "users", "estimates", "scheduler", "gangs",
    "inflation", "node order", "deadlines", "classes", "failures",
)  # fmt: skip


def stream(seed: int, name: str) -> np.random.Generator:
    """Return the random stream of one source; *name* is one of `STREAMS`."""
    child = np.random.SeedSequence(seed, spawn_key=(STREAMS.index(name),))
    return np.random.default_rng(child)
