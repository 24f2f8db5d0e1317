"""Tables of comparisons, by hand."""

import pandas as pd


def rows(**delays):
    """One cell; each scheduler's delays by seed; the pool's delay is 10."""
    return pd.DataFrame(
        [
            {
                "scheduler": name, "trace": "t", "nodes": 1, "interarrival_time": 0.0,
                "seed": seed, "mean_queueing_delay": delay,
                "pooled_mean_queueing_delay": 10.0 if name == "FGD" else float("nan"),
            }
            for name, values in delays.items()
            for seed, delay in enumerate(values)
        ]
    )  # fmt: skip
