"""The table that a run prints: schedulers beside each other and beside the bound."""

from collections.abc import Sequence
from typing import Any, TypeGuard

from analysis.bounds import gap_closed

REFERENCE = "FGD"  # whose distance to the bound is the gap


def compare_runs(
    summaries: Sequence[dict[str, Any]], timings: Sequence[dict[str, Any]]
) -> str:
    """Return a table with one line per run, the bound last.

    Parameters
    ----------
    summaries, timings : summary.json and timing.json of runs of the same trace.
    """
    heads = (
        "scheduler", "mean delay s", "p99 delay s", "mean JCT s", "allocated",
        "fragmented", "stranded", "moves", "gap closed", "jobs/s",
    )  # fmt: skip
    rows: list[tuple[str, ...]] = [heads]
    pooled = summaries[0]["pooled_mean_queueing_delay"]
    reference = [
        summary["mean_queueing_delay"]
        for summary in summaries
        if summary["scheduler"] == REFERENCE
    ]
    for summary, timing in zip(summaries, timings, strict=True):
        delay = summary["mean_queueing_delay"]
        known = reference and _known(delay) and _known(pooled)
        closed = gap_closed(delay, reference[0], pooled) if known else None
        rows.append(
            (
                summary["scheduler"],
                _number(delay),
                _number(summary["p99_queueing_delay"]),
                _number(summary["mean_jct"]),
                _percent(summary["allocation_ratio"]),
                _percent(summary["fragmentation_ratio"]),
                _percent(summary["stranded_ratio"]),
                str(summary["moves"]),
                f"{closed:.3f}" if _known(closed) else "-",
                _number(timing["jobs_per_second"]),
            )
        )
    if _known(pooled):
        blank = ["-"] * (len(heads) - 4)
        rows.append(("pooled bound", _number(pooled), *blank, "1.000", "-"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place == 0 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def _number(value: float | None) -> str:
    if not _known(value):
        return "-"
    if abs(value) >= 1e12:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _percent(value: float | None) -> str:
    return f"{100 * value:.1f} %" if _known(value) else "-"


def _known(value: float | None) -> TypeGuard[float]:
    return value is not None and value == value
