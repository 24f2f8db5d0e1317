"""The page of a report: its frame, its table of measures, its list of settings."""

from collections.abc import Sequence
from html import escape
from typing import Any

from analysis.run_folder import Run
from analysis.tables import REFERENCE, gap_text, number

COLUMNS = (
    ("mean_queueing_delay", "mean delay, s", 1),
    ("p99_queueing_delay", "p99 delay, s", 1),
    ("mean_jct", "mean JCT, s", 1),
    ("allocation_ratio", "allocated, %", 100),
    ("fragmentation_ratio", "fragmented, % of free", 100),
    ("stranded_ratio", "stranded, %", 100),
    ("deadlines_met", "deadlines met, %", 100),
    ("moves_per_job", "moves per job", 1),
    ("moved_share", "lost to moves, %", 100),
    ("jain_index", "Jain's index", 1),
)

ORIGIN = ("trace", "trace_sha256", "python", "platform", "versions")

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --ink: #1c1c1c; --paper: #fdfdfc; --line: #d8d8d4; }}
@media (prefers-color-scheme: dark) {{
  :root {{ --ink: #e4e4e0; --paper: #161718; --line: #3a3b3c; }}
  figure svg {{ filter: brightness(1.15); }}
}}
body {{ color: var(--ink); background: var(--paper); margin: 0 auto; padding: 1rem;
  max-width: 78rem; font: 16px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 1.5rem; margin: .5rem 0 0; overflow-wrap: anywhere; }}
h2 {{ font-size: 1.1rem; margin: 0; }}
main {{ display: grid; gap: 2rem; margin: 2rem 0;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr)); }}
figure {{ margin: 0; min-width: 0; }}
figcaption {{ font-size: .9rem; margin-bottom: .5rem; }}
svg {{ width: 100%; height: auto; display: block; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; }}
th, td {{ padding: .25rem .7rem; text-align: right; vertical-align: top;
  border-bottom: 1px solid var(--line); }}
th:first-child, td:first-child {{ text-align: left; }}
.settings td {{ text-align: left; overflow-wrap: anywhere; max-width: 22rem; }}
summary {{ cursor: pointer; font-weight: 600; }}
@media print {{ main {{ display: block; }} figure {{ break-inside: avoid; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{about}</p>
<div class="wide">{table}</div>
<p>Delays are those of the jobs after the warm-up. <em>Gap closed</em> = (delay of FGD -
delay) / (delay of FGD - delay on the pooled cluster): 0 is no better than FGD, 1 means
that fragmentation costs nothing.</p>
<main>
{figures}
</main>
<details><summary>Settings and provenance</summary>
<div class="wide">{settings}</div></details>
</body>
</html>
"""


def table_of(runs: Sequence[Run]) -> str:
    """Return the measures of the runs as a table, the bound last."""
    shown = [column for column in COLUMNS if any(_has(run, column[0]) for run in runs)]
    delays = {run.title: run.summary[COLUMNS[0][0]] for run in runs}
    pooled = next((run.summary["pooled_mean_queueing_delay"] for run in runs
                   if _has(run, "pooled_mean_queueing_delay")), None)  # fmt: skip
    head = ["scheduler", *(name for _, name, _ in shown), "gap closed"]
    rows = []
    for run in runs:
        values = [run.summary.get(key) for key, _, _ in shown]
        cells = [
            number(None if value is None else value * scale)
            for value, (_, _, scale) in zip(values, shown, strict=True)
        ]
        own = run.summary["mean_queueing_delay"]
        closed = gap_text(own, delays.get(REFERENCE), pooled)
        rows.append([run.title, *cells, closed])
    if pooled is not None:
        rows.append(
            ["pooled bound", number(pooled), *["-"] * (len(shown) - 1), "1.000"]
        )
    return as_table(head, rows)


def rows_of_settings(runs: Sequence[Run]) -> str:
    """Return all settings and where the results come from, one column for each run."""
    settings = [run.config["settings"] for run in runs]
    rows = [[name, *(_text(s.get(name)) for s in settings)] for name in settings[0]]
    rows += [[name, *(_text(run.config.get(name)) for run in runs)] for name in ORIGIN]
    heads = ["", *(run.title for run in runs)]
    return as_table(heads, rows, "settings")


def as_table(
    head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "measures"
) -> str:
    """Return an HTML table; all text is escaped."""
    lines = ["".join(f"<th>{escape(cell)}</th>" for cell in head)]
    lines += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows]
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f'<table class="{kind}">\n{body}\n</table>'


def _has(run: Run, key: str) -> bool:
    value = run.summary.get(key)
    return value is not None and value == value


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {text}" for name, text in value.items())
    return "" if value is None else str(value)
