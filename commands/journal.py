"""How far a run has come, on disk: so that a killed one can be resumed and verified.

SimPy's processes are generators, which cannot be saved. A resumed run is therefore
replayed from its start, which is deterministic, and takes as long as it took before. A
journal in its ``.partial`` folder has a fingerprint of everything until some instants;
the replay must pass through the same ones. So the result of a resumed run is that of an
uninterrupted one, byte for byte, or an error that says that something has changed.
"""

import hashlib
import os
import re
from pathlib import Path
from struct import Struct
from time import monotonic
from typing import NamedTuple

from model.errors import UserError
from processes.simulation import Simulation

FILE = "journal.csv"
HEADER = "passes,time,fingerprint\n"
OFTEN = 500  # scheduling passes, after which the clock is looked at
STATE = Struct("dqqq")  # time, jobs that wait, milli-GPU held, moves
UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


class Entry(NamedTuple):
    """A fingerprint of a run until some scheduling pass."""

    passes: int
    time: str
    fingerprint: str


def read_seconds(text: str) -> float:
    """Return the seconds of ``600``, ``30s``, ``10m`` or ``2h``.

    >>> read_seconds("10m"), read_seconds("0.5")
    (600.0, 0.5)

    Raises
    ------
    UserError
        If it is none of these.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if match is None:
        raise UserError(f"--checkpoint-every {text}: must be as 600, 30s, 10m or 2h")
    return float(match[1]) * UNITS[match[2]]


class Journal:
    """Writes the fingerprints of a run, after checking those of the run it resumes.

    Parameters
    ----------
    folder : of the partial run; must be there.
    every : wall-clock seconds between entries.
    resume : whether to check what is there; else it is overwritten.
    """

    def __init__(
        self, folder: Path, simulation: Simulation, every: float, resume: bool
    ) -> None:
        self._path = folder / FILE
        self._simulation = simulation
        self._every = every
        self._passes = 0
        self._digest = hashlib.sha256()
        self._last = monotonic()
        there = _entries(self._path) if resume else []
        self._expected = {entry.passes: entry for entry in there}
        self.verified = 0
        text = HEADER + "".join(",".join(map(str, entry)) + "\n" for entry in there)
        self._write(text, "w")
        simulation.dispatcher.after_pass.append(self.note)

    def note(self, now: float) -> None:
        """Take a scheduling pass into the fingerprint; check or write it now and then.

        Raises
        ------
        UserError
            If the run that is resumed was another one.
        """
        simulation = self._simulation
        state = (
            len(simulation.dispatcher.pending),
            simulation.cluster.capacity.allocated,
            len(simulation.mover.moves),
        )
        self._digest.update(STATE.pack(now, *state))
        self._passes += 1
        expected = self._expected.pop(self._passes, None)
        if expected is not None:
            if expected != self._entry(now):
                raise UserError(
                    f"{self._path}: the run is not what it was at {expected.time} s: "
                    f"the code, the trace or the machine has changed; start it anew, "
                    f"without --resume"
                )
            self.verified += 1
            self._last = monotonic()
        elif self._passes % OFTEN == 0 and monotonic() - self._last >= self._every:
            self._write(",".join(map(str, self._entry(now))) + "\n", "a")
            self._last = monotonic()

    def _entry(self, now: float) -> Entry:
        return Entry(self._passes, repr(now), self._digest.hexdigest())

    def _write(self, text: str, mode: str) -> None:
        try:
            with self._path.open(mode) as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(f"cannot write {self._path}: {error.strerror}") from None

    def remove(self) -> None:
        """Take the journal away: the run is complete."""
        self._path.unlink(missing_ok=True)


def _entries(path: Path) -> list[Entry]:
    """Return the entries that were written whole; the last may have been cut."""
    if not path.is_file():
        raise UserError(f"--resume: {path.parent} has no run that could go on")
    entries = []
    for line in path.read_text(errors="replace").split("\n")[1:-1]:
        parts = line.split(",")
        if len(parts) == 3 and parts[0].isdigit() and len(parts[2]) == 64:
            entries.append(Entry(int(parts[0]), parts[1], parts[2]))
    return entries
