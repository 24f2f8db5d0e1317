"""What mkdocs writes by itself: the command line and the measures, from the code.

A page says ``<!-- generated: NAME -->`` where the text is to stand.
"""

import inspect
import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from analysis import bounds, metrics  # noqa: E402
from clusterdata.registry import FORMATS  # noqa: E402
from model import options  # noqa: E402
from model.config import Settings, described_options, flag  # noqa: E402
from processes.failures import Failures  # noqa: E402
from processes.rescheduler import Rescheduler  # noqa: E402
from schedulers.drr.scheduler import DRR  # noqa: E402
from schedulers.elasticflow import ElasticFlow  # noqa: E402
from schedulers.hops import Hops  # noqa: E402
from schedulers.registry import SCHEDULERS, scheduler_class  # noqa: E402

DEFAULTS = Settings()
GROUPS = [
    group
    for _, group in inspect.getmembers(options, inspect.isclass)
    if group.__name__.endswith("Options")
]
GROUPS.sort(key=lambda group: inspect.getsourcelines(group)[1])


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put what is generated into a page. See mkdocs, hooks."""
    made = {
        "settings": settings,
        "measures": measures,
        "formats": formats,
        "schedulers": schedulers,
        "example-scheduler": lambda: code("same_size.py"),
        "example-random": lambda: code("masked_random.py"),
        "example-ppo": lambda: code("ppo.py"),
    }
    for name, make in made.items():
        mark = f"<!-- generated: {name} -->"
        if mark in markdown:
            markdown = markdown.replace(mark, make())
    return markdown


def settings() -> str:
    """Return a table of each group of settings."""
    known = {option.name: option for option in described_options()}
    parts = []
    for group in GROUPS:
        names = [name for name in group.__annotations__ if name in known]
        rows = [_setting(known[name]) for name in names]
        head = "| option | default | meaning |\n| --- | --- | --- |"
        title = (inspect.getdoc(group) or "").rstrip(".")
        parts.append("\n".join([f"## {title}\n", head, *rows, ""]))
    return "\n".join(parts)


def _setting(option: Any) -> str:
    default = str(getattr(DEFAULTS, option.name))
    allowed = ""
    if option.allowed and isinstance(option.allowed[0], str):
        allowed = f": {', '.join(option.allowed)}"
    elif option.allowed:
        allowed = f" ({option.allowed[0]:g} to {option.allowed[1]:g})"
    text = f"{option.text}{allowed}".replace("|", "\\|")
    return f"| `{flag(option.name)}` | `{default or ' '}` | {text} |"


def measures() -> str:
    """Return the measures of summary.json, from the docstrings that define them."""
    parts = []
    of_runs = [
        function
        for name, function in inspect.getmembers(metrics, inspect.isfunction)
        if function.__module__ == metrics.__name__ and not name.startswith("_")
    ]
    of_runs.sort(key=lambda function: inspect.getsourcelines(function)[1])
    for function in (
        *of_runs, bounds.pooled_mean, Rescheduler.measures, DRR.measures,
        Failures.measures, ElasticFlow.measures, Hops.measures,
    ):  # fmt: skip
        doc = inspect.getdoc(function) or ""
        doc = re.sub(r",\n +", ", ", doc.split("Parameters\n")[0])
        found = re.findall(r"^([a-z0-9_, ]+) : ((?:.+\n?)(?:    .+\n?)*)", doc, re.M)
        rows = [f"| `{key}` | {' '.join(text.split())} |" for key, text in found]
        if rows:
            title = doc.split("\n")[0].rstrip(".").replace("Return ", "")
            title = title[0].upper() + title[1:]
            head = "| measure | meaning |\n| --- | --- |"
            parts.append("\n".join([f"## {title}\n", head, *rows, ""]))
    return "\n".join(parts)


def formats() -> str:
    """Return what each format is, as its loader says."""
    parts = []
    for known in FORMATS.values():
        module = sys.modules[known.read.__module__]
        about = (inspect.getdoc(module) or "").replace("``", "`")
        lines = [f"## `{known.name}`\n", "```text", about, "```", ""]
        for name, option in known.options.items():
            lines.append(f"* `{known.name}:{name}={option.default}`: {option.meaning}")
        parts.append("\n".join([*lines, ""]))
    return "\n".join(parts)


def schedulers() -> str:
    """Return one line for each scheduler."""
    rows = []
    for name in SCHEDULERS:
        kind = scheduler_class(name)
        first = (inspect.getdoc(kind) or "").split("\n\n")[0]
        rows.append(f"| `{name}` | {' '.join(first.split())} |")
    return "\n".join(["| name | what it does |", "| --- | --- |", *rows])


def code(name: str) -> str:
    """Return an example as a block of Python."""
    return f"```python\n{(ROOT / 'docs' / 'examples' / name).read_text()}```"
