"""Schedulers beside each other over paired seeds: means, confidence, winners.

Every scheduler meets the same jobs in each cell (trace, nodes, seed), so differences
are taken seed by seed. All intervals are 95 % Student t intervals over the seeds.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t as student

from analysis.bounds import gap_closed
from analysis.tables import REFERENCE, counted, number

CELL = ["trace", "nodes", "interarrival_time"]
BAR = "\\|"  # in a cell of Markdown
TEX = str.maketrans({char: "\\" + char for char in "&%$#_{}"})
CONFIDENCE = 0.95


class Measure(NamedTuple):
    """One column of the table."""

    column: str  # of summary.json or timing.json
    heading: str
    unit: str  # s, %, ms or nothing
    better: int  # -1: less is better, 1: more is, 0: neither


MEASURES = (
    Measure("mean_queueing_delay", "mean delay", "s", -1),
    Measure("p99_queueing_delay", "p99 delay", "s", -1),
    Measure("mean_jct", "mean JCT", "s", -1),
    Measure("allocation_ratio", "allocated", "%", 1),
    Measure("fragmentation_ratio", "fragmented", "%", -1),
    Measure("stranded_ratio", "stranded", "%", -1),
    Measure("deadlines_met", "deadlines met", "%", 1),
    Measure("moves_per_job", "moves per job", "", 0),
    Measure("moved_share", "lost to moves", "%", 0),
    Measure("gap_closed", "gap closed", "", 1),
    Measure("decision_ms_p50", "decision p50", "ms", 0),
)


def interval(values: "pd.Series[float]") -> tuple[float, float]:
    """Return the mean and the half width of its 95 % interval; nan for one value.

    >>> mean, half = interval(pd.Series([1.0, 2.0, 3.0]))
    >>> mean, round(half, 3)  # t = 4.303 with 2 degrees of freedom, sd / sqrt(3) = .577
    (2.0, 2.484)
    """
    known = values.dropna()
    if known.empty:
        return float("nan"), float("nan")
    if len(known) < 2:
        return float(known.mean()), float("nan")
    factor = student.ppf((1 + CONFIDENCE) / 2, len(known) - 1)
    return float(known.mean()), float(factor * known.std() / np.sqrt(len(known)))


def with_gaps(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with ``gap_closed`` against FGD in the same cell and seed.

    Parameters
    ----------
    rows : one per run: columns scheduler, trace, nodes, interarrival_time, seed and
        the measures of summary.json. The bound is that of FGD's own run.
    """
    keys = [*CELL, "seed"]
    names = ["mean_queueing_delay", "pooled_mean_queueing_delay"]
    fgd = rows[rows["scheduler"] == REFERENCE].set_index(keys)[names]
    fgd = fgd.reindex(pd.MultiIndex.from_frame(rows[keys]))
    gaps = [
        gap_closed(delay, of_fgd, pooled)
        for delay, of_fgd, pooled in zip(
            rows["mean_queueing_delay"], fgd[names[0]], fgd[names[1]], strict=True
        )
    ]
    return rows.assign(gap_closed=gaps)


class Line(NamedTuple):
    """One scheduler in one cell: each measure's mean and half width, and if it wins."""

    scheduler: str
    means: list[float]
    halves: list[float]
    wins: list[bool]


def compare(rows: pd.DataFrame) -> dict[tuple[object, ...], list[Line]]:
    """Return the lines of each cell, in the order of the schedulers' first rows.

    A scheduler wins a measure if the interval of its paired difference to every other
    one excludes zero on the right side.
    """
    return {
        tuple(cell): _lines(part)
        for cell, part in with_gaps(rows).groupby(CELL, sort=False)
    }


def _lines(part: pd.DataFrame) -> list[Line]:
    names = list(dict.fromkeys(part["scheduler"]))
    by_measure = [
        part.pivot(index="seed", columns="scheduler", values=m.column) for m in MEASURES
    ]
    lines = []
    for name in names:
        pairs = [interval(table[name]) for table in by_measure]
        wins = [
            _wins(table, name, measure.better)
            for table, measure in zip(by_measure, MEASURES, strict=True)
        ]
        lines.append(Line(name, [p[0] for p in pairs], [p[1] for p in pairs], wins))
    return lines


def _wins(table: pd.DataFrame, name: str, better: int) -> bool:
    others = [other for other in table.columns if other != name]
    if not (better and others):
        return False
    differences = [paired_difference(table, name, other) for other in others]
    return all(better * mean - half > 0 for mean, half in differences)


def paired_difference(
    table: pd.DataFrame, name: str, other: str
) -> tuple[float, float]:
    """Return mean and half width of the difference of two schedulers.

    *table* has a line for each seed and a column for each scheduler.
    """
    return interval(table[name] - table[other])


def cells_of(line: Line) -> list[str]:
    """Return a line's cells as text: mean ± half width, the winner with a star."""
    cells = [line.scheduler]
    columns = zip(MEASURES, line.means, line.halves, line.wins, strict=True)
    for measure, mean, half, wins in columns:
        scale = 100 if measure.unit == "%" else 1
        text = number(mean * scale)
        if measure.better and half == half:
            text += f" ± {number(half * scale)}"
        cells.append(text + (" *" if wins else ""))
    return cells


def headings() -> list[str]:
    """Return the heads of the columns."""
    heads = ["scheduler"]
    for measure in MEASURES:
        unit = f", {measure.unit}" if measure.unit else ""
        heads.append(f"{measure.heading}{unit}")
    return heads


def markdown(compared: dict[tuple[object, ...], list[Line]], seeds: int) -> str:
    """Return all cells as Markdown tables."""
    parts = []
    for (trace, nodes, gap), lines in compared.items():
        heads = headings()
        rows = [heads, ["---"] + ["---:"] * (len(heads) - 1)]
        rows += [cells_of(line) for line in lines]
        table = "\n".join(
            f"| {' | '.join(cell.replace('|', BAR) for cell in cells)} |"
            for cells in rows
        )
        parts.append(f"### {title(trace, nodes, gap, seeds)}\n\n{table}\n")
    return "\n".join(parts)


def latex(compared: dict[tuple[object, ...], list[Line]], seeds: int) -> str:
    """Return all cells as LaTeX tables (booktabs)."""
    parts = []
    for (trace, nodes, gap), lines in compared.items():
        heads = headings()
        rows = [_latex_row(cells_of(line)) for line in lines]
        parts.append(
            "\n".join(
                [
                    f"% {title(trace, nodes, gap, seeds)}",
                    rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}",
                    r"\toprule",
                    _latex_row(heads),
                    r"\midrule",
                    *rows,
                    r"\bottomrule",
                    r"\end{tabular}",
                ]
            )
        )
    return "\n\n".join(parts) + "\n"


def _latex_row(cells: list[str]) -> str:
    text = " & ".join(cell.translate(TEX) for cell in cells)
    return text.replace("±", r"$\pm$") + r" \\"


def title(trace: object, nodes: object, gap: object, seeds: int) -> str:
    """Return the title of one cell."""
    known = isinstance(gap, (int, float)) and gap
    between = f", {gap:g} s between arrivals" if known else ""
    return f"{trace}, {nodes} nodes{between}, {counted(seeds, 'seed')}"
