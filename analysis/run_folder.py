"""A run folder: written whole or not at all, read back as tables."""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.metrics import summarize
from model.cells import as_cells, from_cells
from model.errors import UserError
from model.result import Result

ORIGIN = ("settings", "trace_sha256", "files_sha256")  # what makes two runs the same
TEXT_COLUMNS = ("job_id", "gpu_type", "user", "job_class", "nodes", "gpus", "reason",
                "restarts")  # fmt: skip
TABLES, VALUES = ("jobs", "cluster", "moves"), ("config", "summary", "timing")
PARTIAL = ".partial"  # end of the names of folders and files that are being written
PART = 20_000  # rows of a table that are written at a time
OURS = {*(f"{name}.csv" for name in (*TABLES, "learning", "journal")),
        *(f"{name}.json" for name in VALUES), "agent.safetensors",
        "tensorboard"}  # in an unfinished run  # fmt: skip
NEEDED = {"jobs": ("status", "submit_time", "start_time", "end_time", "nodes"),
          "cluster": ("time", "allocated"), "moves": ("time",), "config": ("settings",),
          "summary": ("scheduler",)}  # columns and values  # fmt: skip
# pandas 3 reads floats exactly by default and deprecates asking for it
EXACT: Any = {} if pd.__version__ >= "3" else {"float_precision": "round_trip"}


@dataclass(frozen=True)
class Run:
    """What one run left behind."""

    path: Path
    config: dict[str, Any]
    jobs: pd.DataFrame
    cluster: pd.DataFrame
    moves: pd.DataFrame
    summary: dict[str, Any]
    timing: dict[str, Any]
    learning: pd.DataFrame | None = None  # a row for each batch learned from
    checkpoint: bytes = b""  # what was learned; of a run that has not been read back
    label: str = ""  # in figures and tables, if not the scheduler's name

    @property
    def title(self) -> str:
        """What the run is called in figures and tables."""
        return self.label or str(self.summary["scheduler"])


def run_of(
    path: Path, config: dict[str, Any], result: Result, timing: dict[str, Any]
) -> Run:
    """Return a result as a run, with all measures; *path* is where it belongs."""
    jobs, moves = result.jobs_frame(), result.moves_frame()
    summary = summarize(jobs, result.samples, moves, config)
    summary |= result.measures | {"interrupted": result.interrupted}
    learned = result.learned or (None, b"")
    return Run(path, config, jobs, result.samples, moves, summary, timing, *learned)


def write_run(run: Run) -> None:
    """Write a run's files to a temporary folder, then rename it to where it belongs.

    A run already there must have passed `check_place`, which is to be called before
    the simulation, and is replaced.

    Raises
    ------
    UserError
        If the folder cannot be written.
    """
    path = run.path
    partial = path.with_name(path.name + PARTIAL)
    try:
        shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
        partial.mkdir(parents=True)
        for name in TABLES:
            with (partial / f"{name}.csv").open("w", newline="") as file:
                file.writelines(csv_parts(getattr(run, name)))
        for name in VALUES:
            (partial / f"{name}.json").write_text(to_json(getattr(run, name)))
        if run.learning is not None:
            with (partial / "learning.csv").open("w", newline="") as file:
                file.writelines(csv_parts(run.learning))
            (partial / "agent.safetensors").write_bytes(run.checkpoint)
        shutil.rmtree(path, ignore_errors=True)
        partial.rename(path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error


def check_place(path: Path, config: dict[str, Any]) -> Path:
    """Make sure that a run may be written to *path* and loses nothing there.

    Returns the folder, marked as partial, that holds what is written until the end.

    Raises
    ------
    UserError
        If something else is there, even a run with other settings, or if the folder
        cannot be made.
    """
    partial = path.with_name(path.name + PARTIAL)
    if partial.is_dir() and any(one.name not in OURS for one in partial.iterdir()):
        raise UserError(f"{partial} holds something else than an unfinished run")
    if path.exists():
        try:
            there = read_config(path)
        except (UserError, ValueError):
            raise UserError(f"{path} is there and is no run of ours") from None
        if any(there.get(name) != config[name] for name in ORIGIN):
            raise UserError(
                f"{path} holds a run with other settings or another trace; "
                f"choose a --name"
            )
    return check_folder(partial)


def check_folder(folder: Path) -> Path:
    """Make a folder to write to, before there is anything to write; return it.

    Raises
    ------
    UserError
        If that cannot be.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from error
    return folder


def read_config(folder: Path) -> dict[str, Any]:
    """Return config.json of a run, or raise as `read_run` does."""
    names = [f"{name}.json" for name in VALUES] + [f"{name}.csv" for name in TABLES]
    for name in names:
        if not (folder / name).is_file():
            raise UserError(f"{folder} is no complete run: {folder / name}")
    config = json.loads((folder / "config.json").read_text())
    if not isinstance(config, dict):
        raise UserError(f"{folder}: config.json holds no settings")
    return config


def read_run(path: str | Path) -> Run:
    """Return a run that `write_run` has written.

    Raises
    ------
    UserError
        If the folder is not a complete run.
    """
    try:
        return _read_run(Path(path))
    except UserError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        what = f"{type(error).__name__}: {error}"[:200]
        raise UserError(f"{path} is damaged, or no run of ours ({what})") from error


def _read_run(folder: Path) -> Run:
    config = read_config(folder)
    summary, timing = (
        json.loads((folder / f"{name}.json").read_text()) for name in VALUES[1:]
    )
    jobs, cluster, moves = (
        pd.read_csv(
            folder / f"{name}.csv",
            dtype=dict.fromkeys(TEXT_COLUMNS, str),
            keep_default_na=False,  # a user may be called NA
            na_values=[""],
            **EXACT,
        )
        for name in TABLES
    )
    for name, missing in (("restarts", ""), ("lost_seconds", 0.0)):
        if name not in jobs:  # a run of an earlier version
            jobs[name] = missing
    for frame in (jobs, moves):
        for name in frame.columns.intersection(TEXT_COLUMNS):
            frame[name] = pd.Series(from_cells(frame[name]), dtype=object)
    path = folder / "learning.csv"
    learning = pd.read_csv(path, **EXACT) if path.is_file() else None
    run = Run(folder, config, jobs, cluster, moves, summary, timing, learning)
    lacking = [
        f"{part} {name}"
        for part, names in NEEDED.items()
        for name in names
        if name not in getattr(run, part)
    ]
    if lacking:
        raise KeyError(", ".join(lacking))
    return run


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write a table as `write_text` does."""
    write_text(as_csv(frame), path)


def as_csv(frame: pd.DataFrame) -> str:
    """Return a table as CSV; text that a spreadsheet would run is kept from it."""
    return "".join(csv_parts(frame))


def csv_parts(frame: pd.DataFrame) -> Iterator[str]:
    """Yield the same in parts, so that a long table takes little memory."""
    texts = frame.select_dtypes(exclude=["number", "bool"]).columns
    for start in range(0, max(1, len(frame)), PART):
        part = frame.iloc[start : start + PART].copy()
        for name in texts:
            part[name] = as_cells(part[name])
        yield part.to_csv(index=False, header=start == 0, lineterminator="\n")


def write_text(text: str, path: Path) -> None:
    """Write a text as `write_bytes` does."""
    write_bytes(text.encode(), path)


def write_bytes(content: bytes, path: Path) -> None:
    """Write a file whole or not at all; the folder is made.

    Raises
    ------
    UserError
        If the file cannot be written.
    """
    partial = path.with_name(f"{path.name}.{os.getpid()}{PARTIAL}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(content)
        partial.replace(path)
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}") from error


def to_json(values: dict[str, Any]) -> str:
    """Return readable JSON, the same bytes for the same values; nan becomes null."""
    plain = {
        name: None if isinstance(value, float) and value != value else value
        for name, value in values.items()
    }
    return json.dumps(plain, indent=2, allow_nan=False) + "\n"


def measures_of(text: str) -> dict[str, Any]:
    """Return measures that `to_json` has written; what had no value is nan again."""
    values: dict[str, Any] = json.loads(text)
    return {
        name: float("nan") if value is None else value for name, value in values.items()
    }
