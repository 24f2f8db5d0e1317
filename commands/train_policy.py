"""The stage of `train` that trains DRR's network, round by round."""

import argparse
import io
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from analysis.run_folder import write_bytes, write_text
from clusterdata.workload import load_workload
from commands.curriculum import TRAINING, VALIDATION, cells_of, of_cell
from commands.parallel import each
from model.config import Settings
from model.errors import UserError
from processes.simulation import Simulation
from schedulers.drr.checkpoint import initial, saved
from schedulers.drr.experience import Transition
from schedulers.drr.scheduler import DRR

Outcome = TypeVar("Outcome")
KEPT = 400  # decisions of one episode that are learned from, at most
ERRORS = (0.0, 0.0, 1.0)  # of the duration estimates; one of these for each episode


class Episode(NamedTuple):
    """One simulation to learn from, or to judge by."""

    settings: Settings
    parameters: str  # a file


def train_policy(settings: Settings, options: argparse.Namespace, out: Path) -> int:
    """Train the network round by round; keep the one that validates best."""
    training = Training(settings, options, out)
    if options.resume:
        training.resume()
    elif training.state.exists():
        raise UserError(f"{out} holds a training; choose a --name, or --resume")
    while training.round < options.rounds:
        training.judge()
        training.advance()
    training.judge()
    sys.stdout.write(f"results: {training.best}\n")
    return 0


class Training:
    """A training under way; `latest`, `best` and `rounds.json` say where it is."""

    def __init__(
        self, settings: Settings, options: argparse.Namespace, out: Path
    ) -> None:
        from schedulers.drr.network import Network
        from schedulers.drr.training import Apprentice

        rng = np.random.default_rng(settings.seed)
        parameters = initial(settings.init_from, rng)
        self._apprentice = Apprentice(Network(parameters, settings.use_attn))
        self._settings, self._options, self._out = settings, options, out
        self._cells = cells_of(options.sizes)
        self._rows: list[dict[str, Any]] = []
        self.latest = out / "latest.safetensors"
        self.best = out / "best.safetensors"
        self.state = out / "state.pt"
        self.round = 0

    def judge(self) -> None:
        """Measure the policy alone, without look ahead, on the validation seeds."""
        parameters = self._apprentice.network.parameters_of()
        write_bytes(saved(parameters, {"round": self.round}), self.latest)
        alone = replace(self._settings, look_ahead=0)
        episodes = [
            Episode(of_cell(alone, cell, seed), str(self.latest))
            for cell in self._cells
            for seed in VALIDATION[: self._options.validation]
        ]
        label = f"judging {self.round}"
        delays = [*self._each(mean_delay, episodes, label)]
        first = self._rows[0]["delays"] if self._rows else delays
        share = share_of(delays, first, len(self._cells))
        self._rows.append({"round": self.round, "share_of_first": share})
        self._rows[-1]["delays"] = [round(delay, 1) for delay in delays]
        if share <= min(row["share_of_first"] for row in self._rows):
            about = {"command": self._command(), "rounds": self._rows}
            write_bytes(saved(parameters, about), self.best)
        self._write_rows()
        sys.stderr.write(f"round {self.round}: {share:.3f} of the first delay\n")

    def advance(self) -> None:
        """Simulate some episodes, and learn from them."""
        rng = np.random.default_rng([self._settings.seed, self.round])
        tasks = [
            Episode(self._draw(rng), str(self.latest))
            for _ in range(self._options.episodes)
        ]
        label = f"round {self.round}"
        episodes = list(self._each(experience, tasks, label))
        self._rows[-1]["loss"] = self._apprentice.learn(episodes, rng)
        self.round += 1
        self._keep()
        self._write_rows()

    def _each(
        self, work: Callable[[Episode], Outcome], tasks: Sequence[Episode], label: str
    ) -> Iterator[Outcome]:
        """Do the tasks where the options say; on other machines they need the file."""
        options = self._options
        return each(work, tasks, options.workers, label, options.address)

    def _draw(self, rng: np.random.Generator) -> Settings:
        """Return an episode of the curriculum: size, mix, seed, errors of estimates."""
        cell = self._cells[int(rng.integers(len(self._cells)))]
        error, seed = float(rng.choice(ERRORS)), int(rng.integers(TRAINING))
        return replace(of_cell(self._settings, cell, seed), duration_error=error)

    def _keep(self) -> None:
        """Write what a training needs to go on, in one file."""
        import torch

        content = {
            "network": self._apprentice.network.state_dict(),
            "optimiser": self._apprentice.optimiser.state_dict(),
            "rows": json.dumps(self._rows),
            "command": self._command(),
        }
        buffer = io.BytesIO()
        torch.save(content, buffer)
        write_bytes(buffer.getvalue(), self.state)

    def resume(self) -> None:
        """Take over where a training of this name stopped."""
        import torch

        if not self.state.is_file():
            raise UserError(f"--resume: {self._out} holds no training that could go on")
        content = torch.load(self.state, weights_only=True)
        if content["command"] != self._command():
            raise UserError(f"--resume: {self._out} is of {content['command']}")
        self._apprentice.network.load_state_dict(content["network"])
        self._apprentice.optimiser.load_state_dict(content["optimiser"])
        self._rows = json.loads(content["rows"])
        self.round = len(self._rows)

    def _write_rows(self) -> None:
        write_text(json.dumps(self._rows, indent=1) + "\n", self._out / "rounds.json")

    def _command(self) -> str:
        options, settings = self._options, self._settings
        command = (
            f"run.py train --stage policy --episodes {options.episodes} "
            f"--num-jobs {settings.num_jobs} --validation {options.validation} "
            f"--seed {settings.seed} --init-from {settings.init_from}"
        )
        if options.sizes:
            command += f" --sizes {options.sizes}"
        usual = Settings(scheduler=settings.scheduler, learn=settings.learn).as_dict()
        for name, value in settings.as_dict().items():
            if value != usual[name] and name not in ("num_jobs", "seed", "init_from"):
                command += f" --{name.replace('_', '-')} {value}"
        return command


def experience(episode: Episode) -> list[Transition]:
    """Simulate; return decisions that were looked ahead from, some at random."""
    told: list[Transition] = []
    simulation = prepared(episode)
    scheduler = simulation.scheduler
    assert isinstance(scheduler, DRR)
    scheduler.tell, scheduler.exact_every = told.append, 1
    simulation.run().whole()
    useful = [one for one in told if len(one.ways) and np.ptp(one.waits) > 0]
    rng = np.random.default_rng(episode.settings.seed)
    picked = sorted(rng.permutation(len(useful))[:KEPT].tolist())
    return [useful[index] for index in picked]


def mean_delay(episode: Episode) -> float:
    """Simulate; return the mean queueing delay after the warm-up, s."""
    frame = prepared(episode).run().whole().jobs_frame()
    frame = frame[int(episode.settings.warm_up * len(frame)) :]
    return float((frame["start_time"] - frame["submit_time"]).mean())


def prepared(episode: Episode) -> Simulation:
    """Return a simulation of DRR with the parameters of the episode."""
    settings = replace(episode.settings, init_from=episode.parameters)
    workload = load_workload(settings)
    return Simulation(settings, workload.jobs, workload.nodes, workload.changes)


def share_of(delays: Sequence[float], first: Sequence[float], cells: int) -> float:
    """Return the mean over the cells of the delay now / the delay at first."""
    now = np.array(delays).reshape(cells, -1).sum(axis=1)
    before = np.array(first).reshape(cells, -1).sum(axis=1)
    return float((now / np.maximum(before, 1.0)).mean())
