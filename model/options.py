"""The fields of `Settings` in groups: type, help text with unit, what is allowed.

A tuple of numbers after the text is the allowed range, one of words the choices.
"""

import math
from dataclasses import dataclass
from typing import Annotated

MANY = math.inf


@dataclass(frozen=True)
class RunOptions:
    """Who decides, in which order, from which seed."""

    scheduler: Annotated[str, "scheduler; on the command line, several with commas"] = (
        "FGD"
    )
    queue: Annotated[str, "queue discipline", ("fifo", "backfill", "easy", "sjf")] = (
        "fifo"
    )
    seed: Annotated[int, "parent of all random streams", (0, 2**63 - 1)] = 0


@dataclass(frozen=True)
class ClusterOptions:
    """Which nodes there are."""

    num_node: Annotated[int, "nodes, if there is no --node-list", (1, 1_000_000)] = 64
    gpus_per_node: Annotated[int, "GPUs on each of them", (1, 64)] = 8
    cpu_per_node: Annotated[int, "milli-cores on each of them", (0, 2**40)] = 96_000
    memory_per_node: Annotated[int, "MiB on each of them", (0, 2**40)] = 524_288
    node_list: Annotated[
        str, "nodes: CSV of sn,cpu_milli,memory_mib,gpu,model, TOML, or Alibaba's lists"
    ] = ""
    node_events: Annotated[
        str, "CSV of joins, drains, leaves and returns: time (s),node,event"
    ] = ""
    resources: Annotated[str, "what must fit: gpu, or gpu,cpu,memory"] = "gpu"


@dataclass(frozen=True)
class JobOptions:
    """Which jobs come, and what is known of them."""

    trace: Annotated[
        str,
        "file of jobs (run.py trace formats), or a mix: native, share_0.2, share_0.6",
    ] = "native"
    trace_format: Annotated[
        str, "of the trace file, with options as slurm:shards=8; run.py trace formats"
    ] = "auto"
    num_jobs: Annotated[
        int, "jobs; 0 = 20000 generated ones, or the whole trace file", (0, 100_000_000)
    ] = 0
    interarrival_time: Annotated[
        float,
        "mean s between arrivals, redrawn as Poisson; 0 = the trace's own, or 8",
        (0, 1e6),
    ] = 0.0
    duration_range: Annotated[
        str, "keep generated jobs of LOW-HIGH s; off keeps all"
    ] = "60-86400"
    target_load: Annotated[
        str, "scale generated durations to this load of 512 GPUs at 8 s; off = as drawn"
    ] = "1.0"
    share_by: Annotated[
        str, "what share_0.2 is a share of: jobs or requested GPUs", ("jobs", "volume")
    ] = "jobs"
    arrivals: Annotated[
        str,
        "generated arrivals; bursty is diurnal with bursts",
        ("poisson", "diurnal", "bursty"),
    ] = "poisson"
    gangs: Annotated[bool, "give generated jobs the trace's several workers"] = False
    gpu_types: Annotated[bool, "give generated jobs the trace's GPU types"] = False
    duration_error: Annotated[
        float, "schedulers see duration x exp(N(0, this^2)); 0 = exact", (0, 10)
    ] = 0.0
    deadline_slack: Annotated[
        str,
        "deadline = submission + duration x one of these, for jobs without; off = none",
    ] = "1.2,2,10"


@dataclass(frozen=True)
class WorldOptions:
    """How the simulated world behaves, and what is measured."""

    target_popularity: Annotated[
        float, "share of jobs whose kinds make up FGD's target workload", (1e-9, 1)
    ] = 0.95
    interference: Annotated[bool, "jobs on one GPU slow each other down"] = False
    migration_cost: Annotated[
        str, "s a moved job pauses: up to 8 GPUs,beyond; or one number for both"
    ] = "40,60"
    warm_up: Annotated[
        float, "share of jobs, first ones, left out of all means", (0, 0.99)
    ] = 0.2


@dataclass(frozen=True)
class FailureOptions:
    """How nodes fail, and what that costs jobs."""

    mtbf: Annotated[
        float, "mean s between failures of a node while it is up; 0 = never", (0, 1e12)
    ] = 0.0
    mttr: Annotated[float, "mean s until a failed node is repaired", (1, 1e9)] = 3600.0
    failure_shape: Annotated[
        float, "Weibull shape of times between failures; 1 = exponential", (0.1, 10)
    ] = 1.0
    rack_nodes: Annotated[
        int, "nodes of a rack, which fail together; 0 = no racks", (0, 1_000_000)
    ] = 0
    rack_mtbf: Annotated[
        float, "mean s between failures of a rack; 0 = never", (0, 1e12)
    ] = 0.0
    checkpoint_interval: Annotated[
        float,
        "s of work between a job's checkpoints; 0 = a failure undoes all",
        (0, 1e9),
    ] = 1800.0


@dataclass(frozen=True)
class SchedulerOptions:
    """What single schedulers can be told."""

    fgd_score: Annotated[
        str,
        "FGD's score: exact as published (integer, sigmoid), or plain growth of F",
        ("exact", "plain"),
    ] = "exact"
    rp_reserve: Annotated[
        bool, "R&P keeps nodes for large jobs, by their share of the load"
    ] = True
    rp_queue: Annotated[
        str,
        "R&P's order: strict-fifo is --queue, large-first lets large jobs go first",
        ("strict-fifo", "large-first"),
    ] = "strict-fifo"
    rp_large: Annotated[
        int, "GPUs on one node from which on R&P takes a job for large", (1, 64)
    ] = 8
    ef_mode: Annotated[
        str, "ElasticFlow: rigid, or elastic jobs that scale", ("rigid", "elastic")
    ] = "rigid"
    ef_migration: Annotated[
        bool, "ElasticFlow repacks running jobs for one that only fragments keep out"
    ] = False
    hops_round: Annotated[float, "s between rounds of Hops", (1, 1e6)] = 60.0
    hops_split: Annotated[
        bool, "Hops may spread a job's GPUs over nodes, at the price of its speed"
    ] = False
    hops_lambda: Annotated[
        float, "exponent of Hops' priority, the latency ratio", (0, 10)
    ] = 1.0
    hops_time_limit: Annotated[
        float, "s for one plan of Hops before it falls back to greedy", (0.01, 3600)
    ] = 60.0


@dataclass(frozen=True)
class ReschedulingOptions:
    """When running jobs move; the first four as published."""

    use_rescheduling: Annotated[bool, "move running jobs off little-used nodes"] = False
    util_threshold: Annotated[
        float, "allocation below which a node is emptied", (0, 1)
    ] = 0.5
    re_time: Annotated[float, "s between rescheduling rounds", (1e-3, 1e12)] = 3600.0
    re_num: Annotated[int, "nodes emptied in one round, at most", (0, MANY)] = 5
    rescheduler: Annotated[
        str,
        "recommended = on, and only when the queue's head is blocked",
        ("custom", "recommended"),
    ] = "custom"
    planner: Annotated[
        str,
        "what a round plans: published, useful, cosSim, fragOnePod, fragMultiPod, or "
        "own: published, for DRR what it expects to help of the first two",
    ] = "own"
    reschedule_trigger: Annotated[
        str,
        "rounds, or when the queue's head is blocked by fragmentation, or both",
        ("periodic", "blocked", "both"),
    ] = "periodic"
    max_moves: Annotated[
        int, "moves in one plan that makes room, at most", (0, MANY)
    ] = 8
    min_benefit: Annotated[
        float, "GPU-seconds saved for each lost, to unblock the queue", (0, 1e9)
    ] = 32.0
    max_moves_per_job: Annotated[int, "moves of one job, at most", (0, MANY)] = 3
    min_remaining: Annotated[
        float, "a job with less left than this many migration costs stays", (0, 1e6)
    ] = 5.0
    cooldown: Annotated[
        float, "s for which a job that was moved is left alone", (0, 1e9)
    ] = 600.0
    min_improvement: Annotated[
        float, "share of the demand below which a kind is not worth a move", (0, 1)
    ] = 0.001
    exempt: Annotated[str, "jobs and users never moved, with commas"] = ""


@dataclass(frozen=True)
class DRROptions:
    """The learner's settings, as published."""

    init_dim: Annotated[
        int, "length of DRR's observation; 0 = nodes x GPUs x 7", (0, MANY)
    ] = 0
    action_space: Annotated[int, "DRR's actions; 0 = nodes", (0, MANY)] = 0
    lr_actor: Annotated[float, "learning rate of DRR's actor", (0, 1e9)] = 0.04
    lr_critic: Annotated[float, "learning rate of DRR's critic", (0, 1e9)] = 0.02
    use_imitation: Annotated[bool, "DRR imitates a heuristic first"] = True
    imitation_loss_weight: Annotated[
        float, "weight of DRR's imitation loss", (0, 1e9)
    ] = 0.1
    use_dynamic_entropy: Annotated[bool, "DRR adapts its entropy bonus"] = True
    beta0: Annotated[float, "DRR's first entropy bonus", (0, 1e9)] = 0.04
    use_attn: Annotated[bool, "DRR attends to nodes; off: takes their mean"] = True
    use_advantage_adjustment: Annotated[
        float, "weight of DRR's input-dependent baseline", (0, 1e9)
    ] = 0.6
    init_from: Annotated[
        str, "DRR's parameters: pretrained, teacher, scratch, or a safetensors file"
    ] = "pretrained"
    learn: Annotated[bool, "DRR goes on learning while it decides"] = True
    teacher: Annotated[
        str,
        "scorer that DRR starts from: TunedLinear, LifetimeAligned, FGD, BestFit, or a "
        "file of train --stage scorer",
    ] = "TunedLinear"
    look_ahead: Annotated[
        int,
        "nodes from which DRR looks ahead over the queue when it places; 0 = none",
        (0, 64),
    ] = 6
    look_ahead_jobs: Annotated[
        int,
        "waiting jobs that DRR looks ahead over; 0 = 400, fewer on large clusters",
        (0, 100_000),
    ] = 0
