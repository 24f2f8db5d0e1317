"""The table that a run prints: schedulers beside each other and beside the bound."""

from collections.abc import Sequence
from typing import Any, TypeGuard

from analysis.bounds import gap_closed

REFERENCE = "FGD"  # whose distance to the bound is the gap
HEADS = (
    "scheduler", "mean delay s", "p99 delay s", "mean JCT s", "allocated", "fragmented",
    "stranded", "moves", "gap closed", "jobs/s",
)  # fmt: skip


def compare_runs(
    summaries: Sequence[dict[str, Any]], timings: Sequence[dict[str, Any]]
) -> str:
    """Return a table with one line per run, the bound last if there is one.

    Parameters
    ----------
    summaries, timings : summary.json and timing.json of runs of the same trace.
    """
    delays = {
        summary["scheduler"]: summary["mean_queueing_delay"] for summary in summaries
    }
    bounds = [summary["pooled_mean_queueing_delay"] for summary in summaries]
    pooled = next(filter(_known, bounds), None)
    rows: list[tuple[str, ...]] = [HEADS]
    for summary, timing in zip(summaries, timings, strict=True):
        closed = gap_text(summary["mean_queueing_delay"], delays.get(REFERENCE), pooled)
        rows.append((*_measures(summary), closed, number(timing["jobs_per_second"])))
    if _known(pooled):
        blank = ["-"] * (len(HEADS) - 4)
        rows.append(("pooled bound", number(pooled), *blank, "1.000", "-"))
    return align(rows)


def about(summary: dict[str, Any], config: dict[str, Any]) -> str:
    """Return one line on what was simulated, from summary.json and config.json."""
    gpus, load = config["capacity"]["gpu_milli"] // 1000, summary["offered_load"]
    offered = f"offered load {load:.2f}, " if _known(load) else ""
    return (
        f"{summary['jobs']:,} jobs ({summary['refused']:,} refused) on "
        f"{config['nodes']:,} nodes, {gpus:,} GPUs, {offered}{summary['queue']} queue"
    )


def _measures(summary: dict[str, Any]) -> tuple[str, ...]:
    return (
        summary["scheduler"],
        number(summary["mean_queueing_delay"]),
        number(summary["p99_queueing_delay"]),
        number(summary["mean_jct"]),
        _percent(summary["allocation_ratio"]),
        _percent(summary["fragmentation_ratio"]),
        _percent(summary["stranded_ratio"]),
        str(summary["moves"]),
    )


def gap_text(delay: float | None, reference: float | None, pooled: float | None) -> str:
    """Return the gap closed as text; - if one of the delays is not known."""
    if not (_known(delay) and _known(reference) and _known(pooled)):
        return "-"
    closed = gap_closed(delay, reference, pooled)
    return f"{closed:.3f}" if _known(closed) else "-"


def align(rows: Sequence[tuple[str, ...]]) -> str:
    """Return rows as lines: the first column to the left, others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [first.ljust(widths[0])]
        cells += [
            cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def number(value: float | None) -> str:
    """Return three significant digits, or whole numbers with separators; - if unknown.

    >>> number(12345.6), number(0.012345), number(float("nan"))
    ('12,346', '0.0123', '-')
    """
    if not _known(value):
        return "-"
    if abs(value) >= 1e12:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def counted(number: int, noun: str) -> str:
    """Return ``1 seed``, ``2 seeds``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _percent(value: float | None) -> str:
    return f"{100 * value:.1f} %" if _known(value) else "-"


def _known(value: float | None) -> TypeGuard[float]:
    return value is not None and value == value
