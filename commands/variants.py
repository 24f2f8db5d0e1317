"""Variants of schedulers on the command line: ``FGD+fgd_score=plain``."""

import re
from dataclasses import replace
from typing import Any

from model.command_line import reader
from model.config import Settings, check_recommended, described_options
from model.errors import UserError, suggestion
from schedulers.registry import scheduler_class

FIXED = ("scheduler", "seed", "trace")  # what the comparison itself varies
SHORT = {
    "resched": "use_rescheduling=True",
    "recommended": "rescheduler=recommended",
}


def read_variants(text: str, settings: Settings) -> list[tuple[str, Settings]]:
    """Return the label and the settings of each scheduler that *text* lists.

    >>> [label for label, _ in read_variants("fgd, FGD+resched", Settings())]
    ['FGD', 'FGD+resched']

    Raises
    ------
    UserError
        If a scheduler or an option is unknown, or a value is not allowed.
    """
    variants: dict[str, Settings] = {}
    for word in re.split(r",(?=\s*[^\s\d])", text):  # 40,60 is one value
        name, *changes = word.strip().split("+")
        name = scheduler_class(name).name
        label = "+".join([name, *changes])
        changed: dict[str, Any] = dict(_change(change) for change in changes)
        if changed.get("rescheduler", settings.rescheduler) == "recommended":
            check_recommended(changed)
        variants[label] = replace(settings, scheduler=name, **changed)
    return list(variants.items())


def _change(text: str) -> tuple[str, object]:
    name, equals, value = SHORT.get(text, text).partition("=")
    name = name.replace("-", "_")
    options = {option.name: option for option in described_options()}
    if name not in options or not equals or name in FIXED:
        near = suggestion(name, [*options, *SHORT])
        raise UserError(
            f"--schedulers: +{text} is no option=value of a scheduler{near}"
        )
    try:
        return name, reader(options[name].kind)(value)
    except Exception as error:
        kind = options[name].kind.__name__
        raise UserError(f"--schedulers: +{text}: {value!r} is no {kind}") from error
