"""One scheduler against the best of its rivals, cell by cell, paired by seed.

python -m analysis.headline COMPARISON.csv... --of DRR+resched --measure stranded_ratio

Reads what ``run.py compare`` has written. Rivals are all other variants in the files,
or those that ``--rivals`` names; the best is the one with the best mean in the cell.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from analysis.comparison import (
    CELL,
    MEASURES,
    Measure,
    interval,
    paired_difference,
    with_gaps,
)
from analysis.tables import number
from model.errors import UserError, complain, suggestion


class Duel(NamedTuple):
    """A scheduler and its best rival in one cell."""

    cell: tuple[str, int, float]  # trace, nodes, s between arrivals
    mean: float
    rival: str
    rivals_mean: float
    difference: float  # mean of scheduler - rival, seed by seed
    half: float  # of its 95 % interval

    def verdict(self, better: int) -> str:
        """Return better, worse or even, as the interval has it."""
        if abs(self.difference) <= self.half or self.half != self.half:
            return "even"
        return "better" if self.difference * better > 0 else "worse"


def duels(
    rows: pd.DataFrame, scheduler: str, rivals: Sequence[str], measure: Measure
) -> list[Duel]:
    """Return a duel for each cell.

    Raises
    ------
    UserError
        If a name is not in the rows.
    """
    there = [str(name) for name in rows["scheduler"].unique()]
    for name in (scheduler, *rivals):
        if name not in there:
            raise UserError(f"no runs of {name}{suggestion(name, there)}")
    others = [name for name in rivals or there if name != scheduler]
    if not others:
        raise UserError(f"no rival of {scheduler} is there")
    twice = rows.duplicated([*CELL, "seed", "scheduler"])
    if twice.any():
        row = rows[twice].iloc[0]
        raise UserError(f"{row['scheduler']}, seed {row['seed']} is there twice")
    found = []
    for cell, part in with_gaps(rows).groupby(CELL, sort=False):
        table = part.pivot(index="seed", columns="scheduler", values=measure.column)
        means = table[others].mean() * measure.better
        if means.isna().all() or scheduler not in table:
            raise UserError(
                f"{cell[1]} nodes, {cell[0]}: {measure.column} is not known"
            )
        best = str(means.idxmax())
        difference, half = paired_difference(table, scheduler, best)
        mean, rivals_mean = table[scheduler].mean(), table[best].mean()
        trace, nodes, gap = str(cell[0]), int(str(cell[1])), float(str(cell[2]))
        key = (trace, nodes, gap)
        found.append(Duel(key, mean, best, rivals_mean, difference, half))
    return found


def as_markdown(found: Sequence[Duel], scheduler: str, measure: Measure) -> str:
    """Return the duels as a table, and a line that counts them."""
    unit = f", {measure.unit}" if measure.unit else ""
    scale = 100 if measure.unit == "%" else 1
    lines = [
        f"| nodes, trace | {scheduler}: {measure.heading}{unit} | best rival | its | "
        f"difference | |",
        "| --- | ---: | --- | ---: | ---: | --- |",
    ]
    verdicts = []
    for duel in found:
        trace, nodes, _ = duel.cell
        verdicts.append(duel.verdict(measure.better))
        lines.append(
            f"| {nodes}, {trace} | {number(scale * duel.mean)} | {duel.rival} | "
            f"{number(scale * duel.rivals_mean)} | {number(scale * duel.difference)} ± "
            f"{number(scale * duel.half)} | {verdicts[-1]} |"
        )
    mean = interval(pd.Series([scale * duel.mean for duel in found]))[0]
    counts = ", ".join(
        f"{verdicts.count(word)} {word}" for word in dict.fromkeys(verdicts)
    )
    lines.append(f"\nMean over the cells: {number(mean)}; {counts}.")
    return "\n".join(lines)


def main() -> int:
    """Print the duels of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, help="comparison.csv")
    parser.add_argument("--of", default="DRR+resched", help="the scheduler")
    parser.add_argument("--rivals", default="", help="with commas; default: all others")
    known = {measure.column: measure for measure in MEASURES if measure.better}
    parser.add_argument("--measure", choices=[*known], default="mean_queueing_delay")
    asked = parser.parse_args()
    try:
        rows = pd.concat([pd.read_csv(path) for path in asked.files])
        rivals = [name for name in asked.rivals.split(",") if name]
        measure = known[asked.measure]
        text = as_markdown(duels(rows, asked.of, rivals, measure), asked.of, measure)
    except (UserError, OSError, ValueError, KeyError) as error:
        return complain(UserError(error))
    sys.stdout.write(f"{text}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
