"""What a simulation returns, before anything is written."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

import pandas as pd

from model.job import Job, JobRecord, Placements, Restart

KINDS: Any = dict.fromkeys(
    ("deadline", "estimated_duration", "start_time", "end_time"), float
)  # of columns that may be empty


class Move(NamedTuple):
    """One migration, or one eviction (then *destination* is empty)."""

    time: float  # s since the trace began
    job_id: str
    source: Placements
    destination: Placements
    reason: str
    cost: float  # s without progress


class Learned(NamedTuple):
    """What a learning scheduler leaves: a row for each batch, and its parameters."""

    batches: pd.DataFrame
    checkpoint: bytes  # a safetensors file


@dataclass(frozen=True, slots=True)
class Result:
    """Everything that happened in one run.

    Attributes
    ----------
    records : one per job of the trace, in the order of submission.
    samples : one row per change of the cluster; `processes.monitor.COLUMNS`.
    moves : in the order of time.
    decision_seconds : wall-clock seconds of each scheduling decision.
    wall_seconds : wall-clock seconds of the whole run.
    interrupted : whether Ctrl-C ended it early.
    measures : what the scheduler alone can tell, by name.
    learned : what it has learned, if it learns.
    """

    records: list[JobRecord]
    samples: pd.DataFrame
    moves: list[Move]
    decision_seconds: "array[float]"
    wall_seconds: float
    interrupted: bool = False
    measures: dict[str, float] = field(default_factory=dict)
    learned: Learned | None = None

    def whole(self) -> "Result":
        """Return itself; raises KeyboardInterrupt if Ctrl-C ended the run early."""
        if self.interrupted:
            raise KeyboardInterrupt
        return self

    def jobs_frame(self) -> pd.DataFrame:
        """Return one row per job: the trace's columns, then what became of it.

        ``nodes`` has the node index of each worker, as ``3;5``; ``gpus`` the device
        indices of each worker, as ``0+1;7``; ``restarts`` when and where it ran again
        after an eviction, as ``12.5@3:0+1|80.0@4:2``.
        """
        names = [column.name for column in fields(Job) if column.init]
        reads: dict[str, Callable[[JobRecord], Any]] = {
            **{name: attrgetter(f"job.{name}") for name in names},
            "status": attrgetter("status"),
            "reason": attrgetter("reason"),
            "start_time": attrgetter("start_time"),
            "end_time": attrgetter("end_time"),
            "nodes": lambda record: nodes_text(record.placements),
            "gpus": lambda record: gpus_text(record.placements),
            "moves": attrgetter("moves"),
            "pending_seconds": attrgetter("pending_seconds"),
            "lost_seconds": attrgetter("lost_seconds"),
            "restarts": lambda record: restarts_text(record.restarts),
        }
        columns = {  # one after the other, since lists take memory
            name: pd.Series([*map(read, self.records)], dtype=KINDS.get(name))
            for name, read in reads.items()
        }
        return pd.DataFrame(columns, copy=False)

    def moves_frame(self) -> pd.DataFrame:
        """Return one row per move; places as ``node:gpu+gpu`` of each worker."""
        rows = [
            move._replace(
                source=places_text(move.source),  # type: ignore[arg-type]
                destination=places_text(move.destination),  # type: ignore[arg-type]
            )
            for move in self.moves
        ]
        columns = ["time", "job_id", "from", "to", "reason", "cost"]
        return pd.DataFrame(rows, columns=columns)


def restarts_text(restarts: Sequence[Restart]) -> str:
    """Return when and where a job ran again: ``12.5@3:0+1|80.0@4:2``."""
    return "|".join(f"{time!r}@{places_text(places)}" for time, places in restarts)


@lru_cache(maxsize=2**16)
def nodes_text(placements: Placements) -> str:
    """Return the nodes of the workers: ``3;5``."""
    return ";".join(str(placement.node) for placement in placements)


@lru_cache(maxsize=2**16)
def gpus_text(placements: Placements) -> str:
    """Return the devices of the workers: ``0+1;7``."""
    return ";".join("+".join(map(str, placement.gpus)) for placement in placements)


def places_text(placements: Placements) -> str:
    """Return where the workers are: ``3:0+1;5:7``."""
    return ";".join(
        f"{placement.node}:{'+'.join(map(str, placement.gpus))}"
        for placement in placements
    )
