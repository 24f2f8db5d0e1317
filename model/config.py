"""All settings of a simulation in one frozen dataclass, also the command line."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple, get_args, get_type_hints

from model.capacity import RESOURCES
from model.errors import UserError
from model.job import Job
from model.node import Node, uniform_nodes
from model.options import (
    ClusterOptions,
    DRROptions,
    FailureOptions,
    JobOptions,
    ReschedulingOptions,
    RunOptions,
    SchedulerOptions,
    WorldOptions,
)

FEATURES = 7  # numbers that DRR observes of each GPU
WIDE = 8  # GPUs beyond which a migration costs more
# what --rescheduler recommended means; tuned on seeds 100 to 119
RECOMMENDED = {
    "use_rescheduling": True,
    "reschedule_trigger": "blocked",
}
# PAI's GPU types and how many of its jobs ask for each
GPU_TYPES = {"MISC": 0.57, "T4": 0.36, "P100": 0.05, "V100": 0.02}


def check_recommended(given: Mapping[str, Any]) -> None:
    """Raise UserError if what was asked for is not what recommended means."""
    for name, value in RECOMMENDED.items():
        if given.get(name, value) not in (value, "both"):
            raise UserError(
                f"{flag(name)} {given[name]}: --rescheduler recommended means "
                f"{flag(name)} {value}; leave out one of them"
            )


@dataclass(frozen=True)
class Settings(
    DRROptions,
    FailureOptions,
    ReschedulingOptions,
    SchedulerOptions,
    WorldOptions,
    JobOptions,
    ClusterOptions,
    RunOptions,
):
    """Settings of one run; raises UserError if two of them contradict each other."""

    def __post_init__(self) -> None:
        """Check ranges and choices, each with what is allowed."""
        if self.rescheduler == "recommended":
            for name, value in RECOMMENDED.items():
                if getattr(self, name) == self.__dataclass_fields__[name].default:
                    object.__setattr__(self, name, value)
        for option in described_options():
            option.check(getattr(self, option.name))
        for resource in self.resource_names:
            if resource not in RESOURCES:
                raise UserError(
                    f"--resources {self.resources}: {resource!r} is none of "
                    f"{', '.join(RESOURCES)}"
                )
        if not self.duration_bounds[0] < self.duration_bounds[1]:
            raise UserError(f"--duration-range {self.duration_range}: LOW < HIGH")
        if not self.duration_bounds[0] > 0:
            raise UserError(f"--duration-range {self.duration_range}: LOW > 0")
        if self.load_factor is not None and not 0 < self.load_factor <= 1000:
            raise UserError(f"--target-load {self.target_load}: above 0, at most 1000")
        _ = self.migration_costs, self.slack_factors

    @property
    def schedulers(self) -> tuple[str, ...]:
        """Names of the schedulers to run."""
        return tuple(dict.fromkeys(name.strip() for name in self.scheduler.split(",")))

    @property
    def resource_names(self) -> tuple[str, ...]:
        """Which resources must fit; GPUs always."""
        return tuple(name.strip() for name in self.resources.split(","))

    @property
    def duration_bounds(self) -> tuple[float, float]:
        """Shortest and longest duration of generated jobs, s."""
        if self.duration_range == "off":
            return (4.0, 600_000.0)  # the range of the trace itself
        return self._pair("duration_range", self.duration_range.split("-"))

    @property
    def load_factor(self) -> float | None:
        """Offered load to scale generated durations to; None = leave them."""
        if self.target_load == "off":
            return None
        return self._numbers("target_load", [self.target_load])[0]

    @cached_property
    def migration_costs(self) -> tuple[float, float]:
        """Seconds a move costs a job of up to 8 GPUs, and a larger one."""
        return self._pair("migration_cost", self.migration_cost.split(","))

    @cached_property
    def exempt_names(self) -> frozenset[str]:
        """Jobs and users that are never moved."""
        return frozenset(word.strip() for word in self.exempt.split(",")) - {""}

    def exempts(self, job: Job) -> bool:
        """Return whether the job, or its user, is never moved."""
        names = self.exempt_names
        return bool(names) and (job.job_id in names or job.user in names)

    @property
    def slack_factors(self) -> tuple[float, ...]:
        """Deadline = submission + duration x one of these; empty = no deadlines."""
        if self.deadline_slack == "off":
            return ()
        return self._numbers("deadline_slack", self.deadline_slack.split(","), 100)

    def cost_of_move(self, num_gpus: int) -> float:
        """Return the seconds without progress that moving so many GPUs costs."""
        return self.migration_costs[num_gpus > WIDE]

    def _pair(self, name: str, parts: list[str]) -> tuple[float, float]:
        numbers = self._numbers(name, parts)
        return (numbers[0], numbers[-1])

    def _numbers(self, name: str, parts: list[str], most: int = 2) -> tuple[float, ...]:
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            numbers = []
        ok = 1 <= len(numbers) <= most and all(
            math.isfinite(number) and number >= 0 for number in numbers
        )
        if not ok:
            raise UserError(
                f"{flag(name)} {getattr(self, name)}: must be 1 to {most} numbers, "
                f"finite and at least 0"
            )
        return tuple(numbers)

    def uniform_cluster(self) -> tuple[Node, ...]:
        """Return the nodes that --num-node and --gpus-per-node describe.

        With --gpu-types, types are dealt out as evenly as jobs ask for them.
        """
        return uniform_nodes(
            self.num_node,
            self.gpus_per_node,
            self.cpu_per_node,
            self.memory_per_node,
            deal(GPU_TYPES, self.num_node) if self.gpu_types else ("",),
        )

    def check_cluster(self, nodes: tuple[Node, ...]) -> None:
        """Raise UserError if DRR's published sizes contradict the cluster."""
        wide = max([WIDE, *(node.num_gpus for node in nodes)])
        if not any(node.num_gpus for node in nodes):
            raise UserError("the cluster has no GPU")
        if not self.node_list:
            wide = self.gpus_per_node
        expected = {
            "init_dim": len(nodes) * wide * FEATURES,
            "action_space": len(nodes),
        }
        for name, value in expected.items():
            given = getattr(self, name)
            if given not in (0, value):
                raise UserError(
                    f"{flag(name)} {given}: this cluster of {len(nodes)} nodes x "
                    f"{wide} GPUs needs {value} (leave it out to derive it)"
                )

    def as_dict(self) -> dict[str, Any]:
        """Return all settings by name."""
        return asdict(self)


class Option(NamedTuple):
    """One field of `Settings`: its type, help text, and what is allowed."""

    name: str
    kind: type
    text: str
    allowed: tuple[Any, ...] = ()  # (least, most) or words

    def takes(self, value: object) -> bool:
        """Return whether a value of a file has the right type; 1 is a float too."""
        return type(value) is self.kind or (self.kind is float and type(value) is int)

    def check(self, value: Any) -> None:
        """Raise UserError if the value is not allowed; says what is."""
        if not self.allowed:
            return
        typed = f"{flag(self.name)} {value}"
        if isinstance(self.allowed[0], str):
            if value not in self.allowed:
                words = ", ".join(self.allowed)
                raise UserError(f"{typed}: must be one of {words}")
            return
        low, high = self.allowed
        if not (math.isfinite(value) and low <= value <= high):
            limit = f"at least {low}" if high == math.inf else f"{low} to {high}"
            raise UserError(f"{typed}: must be {limit}")


@cache
def described_options() -> tuple[Option, ...]:
    """Return all settings in the order of their groups."""
    hints = get_type_hints(Settings, include_extras=True)
    names = Settings.__dataclass_fields__
    return tuple(Option(name, *get_args(hints[name])) for name in names)


def deal(shares: Mapping[str, float], number: int) -> list[str]:
    """Return *number* names in proportion to their shares, the rarest evenly spread.

    >>> "".join(deal({"a": 0.75, "b": 0.25}, 8))
    'aabaaaba'
    """
    dealt: list[str] = []
    owed = dict.fromkeys(shares, 0.0)
    for _ in range(number):
        for name, share in shares.items():
            owed[name] += share
        dealt.append(max(owed, key=owed.__getitem__))
        owed[dealt[-1]] -= 1
    return dealt


def flag(name: str) -> str:
    """Return a setting's name as it is typed: ``--num-node``."""
    return "--" + name.replace("_", "-")
