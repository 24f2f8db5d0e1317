"""What a run costs, fitted to what was measured: power laws in nodes and jobs.

    us per job = base x (nodes / 64)^a x (jobs / 100,000)^b

Memory grows with jobs alone, in a straight line. Exponents are slopes of least squares
in logarithms, over all sizes of a section from 64 nodes, or 10,000 jobs, on.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

REFERENCE = {"nodes": 64.0, "jobs": 1e5}


class CostModel(NamedTuple):
    """Fitted exponents, and us per job at 64 nodes and 100,000 jobs."""

    base: float
    nodes: float
    jobs: float

    def seconds(self, jobs: float, nodes: float) -> float:
        """Return the CPU seconds of a whole run."""
        growth = (nodes / REFERENCE["nodes"]) ** self.nodes
        growth *= (jobs / REFERENCE["jobs"]) ** self.jobs
        return self.base * growth * jobs / 1e6


def fit(table: pd.DataFrame, case: str = "FGD") -> CostModel:
    """Return the model of one scheduler.

    Parameters
    ----------
    table : benchmarks.csv with the sections *nodes* and *jobs*.

    Examples
    --------
    Twice the cost per job at sixteen times the nodes, the same for any number of jobs:

    >>> rows = [("nodes", "FGD", 64, 50), ("nodes", "FGD", 1024, 100)]
    >>> rows += [("jobs", "FGD", 1e4, 50), ("jobs", "FGD", 1e6, 50)]
    >>> model = fit(pd.DataFrame(rows, columns=["section", "case", "x", "value"]))
    >>> [round(float(value), 3) for value in model]
    [50.0, 0.25, 0.0]
    """
    lines = {}
    for section, least in (("nodes", 64), ("jobs", 10_000)):
        of = (table["section"] == section) & (table["case"] == case)
        rows = table[of & (table["x"] >= least)]
        x = np.log(rows["x"].to_numpy(float) / REFERENCE[section])
        lines[section] = np.polyfit(x, np.log(rows["value"].to_numpy(float)), 1)
    base = float(np.exp(lines["jobs"][1]))
    return CostModel(base, float(lines["nodes"][0]), float(lines["jobs"][0]))


def told(model: CostModel) -> str:
    """Return the model and what it predicts, as text."""
    lines = [
        f"us per job = {model.base:.0f} x (nodes / 64)^{model.nodes:.3f} "
        f"x (jobs / 100,000)^{model.jobs:.3f}"
    ]
    for jobs, nodes in ((1e6, 813), (1e7, 813), (1e7, 12_500)):
        minutes = model.seconds(jobs, nodes) / 60
        lines.append(f"{jobs:,.0f} jobs on {8 * nodes:,} GPUs: {minutes:,.1f} minutes")
    return "\n".join(lines)
