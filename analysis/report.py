"""One page on some runs of the same trace: report.html, and its figures as files.

The page needs no network and runs no script. Figures are SVG whose text and axes take
the colour of the page, so they can be read by day, by night and in print. Whatever
came from a trace or the command line is escaped.
"""

import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.figures import (
    BOUND,
    STYLE,
    draw_delay_by_size,
    draw_delay_cdf,
    draw_over_time,
    save_figure,
)
from analysis.job_figures import draw_headline, draw_users
from analysis.report_page import PAGE, rows_of_settings, table_of
from analysis.run_folder import Run, write_text
from analysis.tables import REFERENCE, about
from analysis.time_figures import (
    draw_clusters,
    draw_learning,
    draw_moves,
    draw_pooled_allocation,
)

INK = "#010203"  # stands for the colour of the page's text
SVG_STYLE: Any = {
    **STYLE,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "svg.fonttype": "none",
    "font.size": 10,
    "savefig.transparent": True,
}
SIZE = (5.2, 3.3)  # inches


class Chapter(NamedTuple):
    """A figure of the report, and what it shows."""

    name: str  # of its files
    title: str
    text: str
    figure: Figure


def write_report(
    runs: Sequence[Run], out: Path, kinds: Sequence[str] = ("pdf", "png")
) -> list[Path]:
    """Write the page, and beside it each figure as files; return all paths.

    Parameters
    ----------
    kinds : of files for each figure, in OUT-figures/NAME.KIND.

    Raises
    ------
    UserError
        If something cannot be written.
    """
    runs = labelled(runs)
    chapters = draw_chapters(runs)
    folder = out.parent / f"{out.stem}-figures"
    folder_files = []
    for chapter in chapters:
        for kind in kinds:
            path = folder / f"{chapter.name}.{kind}"
            folder_files.append(path)
            save_figure(chapter.figure, path)
    figures = "\n".join(_section(chapter) for chapter in chapters)
    page = PAGE.format(
        title=escape(f"Defrag: {runs[0].config['trace']}"),
        about=escape(
            f"{about(runs[0].summary, runs[0].config)}, seed {runs[0].summary['seed']}"
        ),
        table=table_of(runs),
        figures=figures,
        settings=rows_of_settings(runs),
    )
    write_text(page, out)
    return [out, *folder_files]


def labelled(runs: Sequence[Run]) -> list[Run]:
    """Return the runs under names of their own: their folders', if schedulers repeat.

    The first run of plain FGD keeps its name, as the gap is measured from it.
    """
    count = Counter(run.title for run in runs)
    plain = next((run for run in runs if _is_reference(run)), None)
    seen: set[str] = set()
    named = []
    for number, run in enumerate(runs, 1):
        label = run.title
        if count[label] > 1 and run is not plain:
            label = f"{label} ({run.path.name or number})"
        if label in seen:
            label = f"{label} ({number})"
        seen.add(label)
        named.append(replace(run, label=label))
    return named


def _is_reference(run: Run) -> bool:
    return run.title == REFERENCE and not run.config["settings"]["use_rescheduling"]


def draw_chapters(runs: Sequence[Run]) -> list[Chapter]:
    """Draw all figures that these runs have something to show for."""
    total = runs[0].config["capacity"]["gpu_milli"]

    def over_time(column: str, scale: float, label: str) -> Callable[[Axes], object]:
        return lambda axes: draw_over_time(axes, runs, column, scale, label)

    def allocation(axes: Axes) -> None:
        draw_pooled_allocation(axes, runs[0])
        over_time("allocated", 100 / total, "allocated GPUs (%)")(axes)
        axes.set_ylim(0, 100)

    chapters = [
        _drawn("headline", "How long jobs wait", "Mean queueing delay, beside "
               "what no placement and no migration could beat.",
               lambda axes: draw_headline(axes, runs), legend=False),
        _drawn("delays", "Who waits how long", "Share of jobs that wait no longer.",
               lambda axes: draw_delay_cdf(axes, runs)),
        _drawn("sizes", "Who pays", "Mean queueing delay by the GPUs of a job.",
               lambda axes: draw_delay_by_size(axes, runs)),
        _drawn("allocation", "How full the cluster is", "Share of the GPUs that is "
               "held; dashed, the cluster as one pool.", allocation),
        _drawn("fragmentation", "Fragmented GPUs", "Free capacity that a job of the "
               "mix could not use where it is (F of FGD).",
               over_time("fragmented", 1e-3, "fragmented GPUs")),
        _drawn("stranded", "Stranded GPUs", "Free GPUs beside a head of the queue that "
               "would fit into them, if they were in one place.",
               over_time("stranded", 1e-3, "stranded GPUs")),
        _drawn("queue", "The queue", "Jobs that wait.",
               over_time("pending", 1.0, "jobs in the queue")),
        _drawn("users", "How users fare", "Mean bounded slowdown of each user.",
               lambda axes: draw_users(axes, runs)),
    ]  # fmt: skip
    if any(len(run.moves) for run in runs):
        text = "Running jobs that were moved to give capacity back."
        chapters.append(
            _drawn("moves", "Migrations", text, lambda axes: draw_moves(axes, runs))
        )
    slugs: Counter[str] = Counter()
    for run in runs:
        slug = re.sub(r"\W+", "", run.title).lower()
        slugs[slug] += 1
        again = f"-{slugs[slug]}" if slugs[slug] > 1 else ""
        chapters += _of_one(run, slug + again)
    return chapters


def _of_one(run: Run, slug: str) -> list[Chapter]:
    """Draw what belongs to a single run: its cluster, and what was learned."""
    name, chapters = run.title, []
    if "node_gpus" in run.config and run.summary["finished"]:
        with mpl.rc_context(SVG_STYLE):
            figure = draw_clusters(run)
        text = "Share of each GPU that is held; framed nodes are idle."
        chapters.append(
            Chapter(f"cluster-{slug}", f"The cluster: {name}", text, figure)
        )
    learning = run.learning
    if learning is not None and len(learning):
        text = "What each batch of decisions did to the policy."
        chapters.append(
            _drawn(f"learning-{slug}", f"What was learned: {name}", text,
                   lambda axes: draw_learning(axes, learning), legend=False)
        )  # fmt: skip
    return chapters


def _drawn(
    name: str,
    title: str,
    text: str,
    draw: Callable[[Axes], object],
    legend: bool = True,
) -> Chapter:
    with mpl.rc_context(SVG_STYLE):
        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.subplots()
        draw(axes)
        axes.set_title("")
        if legend and axes.get_legend_handles_labels()[0]:
            if (inner := axes.get_legend()) is not None:
                inner.remove()
            figure.legend(loc="outside upper left", ncols=3, fontsize="small")
    return Chapter(name, title, text, figure)


def _section(chapter: Chapter) -> str:
    title, text = escape(chapter.title), escape(chapter.text)
    return (
        f'<figure id="{chapter.name}"><figcaption><h2>{title}</h2>{text}</figcaption>'
        f"{as_svg(chapter.figure, chapter.name, chapter.title)}</figure>"
    )


def as_svg(figure: Figure, name: str, title: str) -> str:
    """Return a figure as SVG to be put into a page; its ids are its own."""
    buffer = io.StringIO()
    with mpl.rc_context({**SVG_STYLE, "svg.hashsalt": name}):
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    for ink in (INK, BOUND):
        svg = svg.replace(ink, "currentColor")
    svg = re.sub(r'id="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(xlink:href="#|href="#|url\(#)([^")]+)', rf"\g<1>{name}-\2", svg)
    svg = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', "", svg, count=1)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
