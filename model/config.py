"""All settings of a simulation in one frozen dataclass, also the command line."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any

from model.capacity import RESOURCES
from model.errors import UserError
from model.node import Node, uniform_nodes

FEATURES = 7  # numbers that DRR observes of each GPU
WIDE = 8  # GPUs beyond which a migration costs more
# PAI's GPU types and how many of its jobs ask for each
GPU_TYPES = {"MISC": 0.57, "T4": 0.36, "P100": 0.05, "V100": 0.02}


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of one run; raises UserError if two of them contradict each other."""

    scheduler: Annotated[str, "scheduler; on the command line, several with commas"] = (
        "FGD"
    )
    queue: Annotated[str, "queue discipline: fifo, backfill, easy or sjf"] = "fifo"
    seed: Annotated[int, "parent of all random streams"] = 0
    # the cluster
    num_node: Annotated[int, "nodes, if there is no --node-list"] = 64
    gpus_per_node: Annotated[int, "GPUs on each of them"] = 8
    cpu_per_node: Annotated[int, "milli-cores on each of them"] = 96_000
    memory_per_node: Annotated[int, "MiB on each of them"] = 524_288
    node_list: Annotated[str, "CSV of nodes: sn,cpu_milli,memory_mib,gpu,model"] = ""
    node_events: Annotated[
        str, "CSV of joins, drains, leaves and returns: time (s),node,event"
    ] = ""
    resources: Annotated[str, "what must fit: gpu, or gpu,cpu,memory"] = "gpu"
    # the jobs
    trace: Annotated[
        str, "CSV of jobs (ours or openb's), or generated: native, share_0.2, share_0.6"
    ] = "native"
    num_jobs: Annotated[
        int, "jobs; 0 = 20000 generated ones, or the whole trace file"
    ] = 0
    interarrival_time: Annotated[
        float, "mean s between arrivals, redrawn as Poisson; 0 = the trace's own, or 8"
    ] = 0.0
    duration_range: Annotated[
        str, "keep generated jobs of LOW-HIGH s; off keeps all"
    ] = "60-86400"
    target_load: Annotated[
        str, "scale generated durations to this load of 512 GPUs at 8 s; off = as drawn"
    ] = "1.0"
    share_by: Annotated[
        str, "what share_0.2 is a share of: jobs, or volume (requested GPUs)"
    ] = "jobs"
    arrivals: Annotated[
        str, "generated arrivals: poisson, diurnal, or bursty (diurnal with bursts)"
    ] = "poisson"
    gangs: Annotated[bool, "give generated jobs the trace's several workers"] = False
    gpu_types: Annotated[bool, "give generated jobs the trace's GPU types"] = False
    duration_error: Annotated[
        float, "schedulers see duration x exp(N(0, this^2)); 0 = exact"
    ] = 0.0
    # the world
    target_popularity: Annotated[
        float, "share of jobs whose kinds make up FGD's target workload"
    ] = 0.95
    fgd_score: Annotated[
        str, "FGD's score: exact as published (integer, sigmoid), or plain growth of F"
    ] = "exact"
    interference: Annotated[bool, "jobs on one GPU slow each other down"] = False
    migration_cost: Annotated[
        str, "s a moved job pauses: up to 8 GPUs,beyond; or one number for both"
    ] = "40,60"
    warm_up: Annotated[float, "share of jobs, first ones, left out of all means"] = 0.2
    # rescheduling, as published
    use_rescheduling: Annotated[bool, "move running jobs off little-used nodes"] = False
    util_threshold: Annotated[float, "allocation below which a node is emptied"] = 0.5
    re_time: Annotated[float, "s between rescheduling rounds"] = 3600.0
    re_num: Annotated[int, "nodes emptied in one round, at most"] = 5
    # DRR, as published
    init_dim: Annotated[int, "length of DRR's observation; 0 = nodes x GPUs x 7"] = 0
    action_space: Annotated[int, "DRR's actions; 0 = nodes"] = 0
    lr_actor: Annotated[float, "learning rate of DRR's actor"] = 0.04
    lr_critic: Annotated[float, "learning rate of DRR's critic"] = 0.02
    use_imitation: Annotated[bool, "DRR imitates a heuristic first"] = True
    imitation_loss_weight: Annotated[float, "weight of DRR's imitation loss"] = 0.1
    use_dynamic_entropy: Annotated[bool, "DRR adapts its entropy bonus"] = True
    beta0: Annotated[float, "DRR's first entropy bonus"] = 0.04
    use_attn: Annotated[bool, "DRR's nodes attend to each other"] = True
    use_advantage_adjustment: Annotated[
        float, "weight of DRR's input-dependent baseline"
    ] = 0.6

    def __post_init__(self) -> None:
        """Check ranges and choices, each with what is allowed."""
        self._check_ranges()
        self._choice("queue", ("fifo", "backfill", "easy", "sjf"))
        self._choice("fgd_score", ("plain", "exact"))
        self._choice("share_by", ("jobs", "volume"))
        self._choice("arrivals", ("poisson", "diurnal", "bursty"))
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
        _ = self.migration_costs

    def _check_ranges(self) -> None:
        for name, low, high in RANGES:
            value = getattr(self, name)
            if not (math.isfinite(value) and low <= value <= high):
                limit = f"at least {low}" if high == math.inf else f"{low} to {high}"
                raise UserError(f"{flag(name)} {value}: must be {limit}")

    def _choice(self, name: str, allowed: tuple[str, ...]) -> None:
        if getattr(self, name) not in allowed:
            raise UserError(
                f"{flag(name)} {getattr(self, name)}: must be one of "
                f"{', '.join(allowed)}"
            )

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
        return self._numbers("duration_range", self.duration_range.split("-"))

    @property
    def load_factor(self) -> float | None:
        """Offered load to scale generated durations to; None = leave them."""
        if self.target_load == "off":
            return None
        return self._numbers("target_load", [self.target_load])[0]

    @property
    def migration_costs(self) -> tuple[float, float]:
        """Seconds a move costs a job of up to 8 GPUs, and a larger one."""
        return self._numbers("migration_cost", self.migration_cost.split(","))

    def cost_of_move(self, num_gpus: int) -> float:
        """Return the seconds without progress that moving so many GPUs costs."""
        return self.migration_costs[num_gpus > WIDE]

    def _numbers(self, name: str, parts: list[str]) -> tuple[float, float]:
        try:
            numbers = [float(part) for part in parts]
        except ValueError:
            numbers = []
        ok = 1 <= len(numbers) <= 2 and all(
            math.isfinite(number) and number >= 0 for number in numbers
        )
        if not ok:
            raise UserError(
                f"{flag(name)} {getattr(self, name)}: must be finite and at least 0"
            )
        return (numbers[0], numbers[-1])

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


RANGES: tuple[tuple[str, float, float], ...] = (
    ("seed", 0, 2**63 - 1),
    ("num_node", 1, 1_000_000),
    ("gpus_per_node", 1, 64),
    ("cpu_per_node", 0, 2**40),
    ("memory_per_node", 0, 2**40),
    ("num_jobs", 0, 100_000_000),
    ("interarrival_time", 0, 1e6),
    ("duration_error", 0, 10),
    ("target_popularity", 1e-9, 1),
    ("warm_up", 0, 0.99),
    ("util_threshold", 0, 1),
    ("re_time", 1e-3, math.inf),
    ("re_num", 0, math.inf),
    ("init_dim", 0, math.inf),
    ("action_space", 0, math.inf),
    ("lr_actor", 0, math.inf),
    ("lr_critic", 0, math.inf),
    ("imitation_loss_weight", 0, math.inf),
    ("beta0", 0, math.inf),
    ("use_advantage_adjustment", 0, math.inf),
)


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
