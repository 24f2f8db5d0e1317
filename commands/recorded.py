"""The settings of an earlier run, from its config.json."""

import json
from pathlib import Path
from typing import Any

from clusterdata.generator import MIXES
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
        files = {"trace": checksum, **config.get("files_sha256", {})}
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
        if not known[name].takes(value):
            kind = known[name].kind.__name__
            raise UserError(f"--config {path}: {name} {value!r} must be {kind}")
    for name, digest in files.items():
        file = Path(str(recorded.get(name, "")))
        if name == "trace" and str(file) in MIXES:
            continue  # whatever else is called so
        if file.exists() and recorded.get(name) and checksum_of(file) != digest:
            raise UserError(f"--config {path}: {file} is not the file it was")
    return recorded
