"""The settings of an earlier run, from its config.json."""

import json
from pathlib import Path
from typing import Any

from clusterdata.workload import checksum_of
from model.config import described_options
from model.errors import UserError, suggestion


def recorded_settings(path: Path) -> dict[str, Any]:
    """Return the settings of a config.json, whose trace must still be the same.

    Raises
    ------
    UserError
        If it is none, has unknown settings, or its trace has changed.
    """
    try:
        config = json.loads(path.read_text())
        recorded, checksum = dict(config["settings"]), config["trace_sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"--config {path}: is no config.json of a run ({error})"
        ) from None
    known = {option.name: option for option in described_options()}
    for name, value in recorded.items():
        if name not in known:
            raise UserError(
                f"--config {path}: unknown setting {name!r}{suggestion(name, known)}"
            )
        if not isinstance(value, (known[name].kind, int)):
            raise UserError(
                f"--config {path}: {name} {value!r} is no {known[name].kind}"
            )
    trace = Path(str(recorded.get("trace", "")))
    if trace.exists() and checksum_of(trace) != checksum:
        raise UserError(f"--config {path}: {trace} is not the file it was")
    return recorded
