"""DRR learns: its losses by hand, a toy whose optimum is known, files that repeat."""

import json

import numpy as np
import pandas as pd
import pytest

from model.config import Settings
from model.job import Job
from model.node import Node
from model.target import Target
from processes.simulation import Simulation, simulate
from schedulers.drr.batch import Batch, branch_advantages, excess
from schedulers.drr.checkpoint import load
from schedulers.drr.experience import DRAWN, OWN, TAUGHT, Account, Transition
from schedulers.drr.observation import Observation
from schedulers.drr.policy import fresh, logits
from schedulers.drr.update import Agent, advantages, explained, policy_loss

torch = pytest.importorskip("torch")
NOTHING = np.empty(0, np.int64), np.empty(0)


def two_nodes(better, rng):
    """Return two nodes with room; one is marked by its free devices."""
    devices = rng.random((2, 8, 7)).astype(np.float32) * 0.1
    devices[better, :, 0] = 1.0
    gpus = np.zeros(2, np.int64)
    nodes = np.arange(2)
    return Observation(devices, np.zeros(9, np.float32), np.zeros(2), gpus, nodes)


def chance_of(parameters, seen, node):
    found = logits(parameters, seen).astype(float)
    return float(np.exp(found[node]) / np.exp(found).sum())


@pytest.mark.parametrize("evidence", ["drawn", "taught", "looked"])
def test_it_learns_a_toy_from_each_kind_of_evidence(evidence):
    """Placing on the marked node is worth 1, on the other 0: it must find the mark."""
    rng = np.random.default_rng(0)
    settings = Settings(lr_actor=0.5, use_dynamic_entropy=False, beta0=0.0)
    agent = Agent(fresh(rng, kappa=0.0), settings)
    fixed = two_nodes(0, np.random.default_rng(9))
    assert chance_of(agent.network.parameters_of(), fixed, 0) == pytest.approx(0.5)

    for _ in range(40):
        parameters, batch = agent.network.parameters_of(), []
        for _ in range(64):
            better = int(rng.integers(2))
            seen = two_nodes(better, rng)
            if evidence == "drawn":
                node = int((logits(parameters, seen) + rng.gumbel(size=2)).argmax())
                one = Transition(
                    seen, node, DRAWN, *NOTHING, float(node == better), 1e9
                )
            elif evidence == "taught":
                one = Transition(seen, better, TAUGHT, *NOTHING, 0.0, 1.0)
            else:
                waits = np.where(np.arange(2) == better, 100.0, 110.0)
                one = Transition(seen, 0, "own", np.arange(2), waits, 0.0, 1.0)
            batch.append(one)
        agent.update(batch)

    learned = agent.network.parameters_of()
    assert chance_of(learned, fixed, 0) > 0.75
    assert chance_of(learned, two_nodes(1, rng), 1) > 0.75


def test_advantages_by_hand():
    """Two decisions an e-th of the horizon apart: discounts 1/e, then none at all."""
    gains, returns = advantages(
        np.array([1.0, 2.0]), np.array([0.5, 0.25]), np.array([3600.0, 1e12])
    )

    last = 2.0 - 0.25
    first = 1.0 + np.exp(-1) * 0.25 - 0.5 + np.exp(-1) * 0.95 * last
    assert gains.tolist() == pytest.approx([first, last])
    assert returns.tolist() == pytest.approx([first + 0.5, 2.0])


def test_branches_are_weighed_against_each_other():
    waits = np.array([[940.0, 990.0, np.nan], [60.0, 60.0, 60.0]])

    # excess over the least, as a share of least + 60 s: 0 and 0.05
    assert excess(waits)[0, :2].tolist() == pytest.approx([0, 0.05])
    plain = branch_advantages(waits, 0.0)
    assert plain[0, :2].tolist() == pytest.approx([0.5, -0.5])
    # w = 1 takes the other's gain away: 0 - -1 and -1 - 0
    adjusted = branch_advantages(waits, 1.0)
    assert adjusted[0, :2].tolist() == pytest.approx([1.0, -1.0])
    assert adjusted[1].tolist() == [0, 0, 0]  # no difference, nothing to learn


def test_the_policy_gradient_is_that_of_finite_differences():
    rng = np.random.default_rng(3)
    waits = np.array([50.0, 90.0])
    batch = Batch(
        [
            Transition(two_nodes(0, rng), 0, "own", np.arange(2), waits),
            Transition(two_nodes(1, rng), 1, DRAWN, *NOTHING),
        ]
    )
    batch.weigh(np.array([0.3, -0.4]), 0.6)
    batch.gains = batch.gains.double()
    before = torch.tensor([[0.1, -0.2], [0.3, 0.0]], dtype=torch.double)
    after = (before + 0.05).requires_grad_()

    def loss(scores):
        now = scores.log_softmax(-1)
        return policy_loss(now, before.log_softmax(-1), batch)[0]

    assert torch.autograd.gradcheck(loss, after)


def test_the_account_counts_what_waits_over_time():
    account = Account(total_milli=8000)
    account.note(4000, now=10.0)  # half the cluster waits from 10 s
    account.note(0, now=3610.0)

    # 4 of 8 GPUs for an hour; fragmentation grew by 2 GPUs
    assert account.settle(2.0, now=4000.0) == pytest.approx((-0.5 - 0.02, 0.5, 4000.0))
    assert account.settle(2.0, now=4060.0) == pytest.approx((0.0, 0.0, 60.0))


def test_explained_variance():
    returns = np.array([1.0, 2.0, 3.0])

    assert explained(returns, returns) == 1
    assert explained(returns, np.zeros(3)) == pytest.approx(0)


def test_nobody_waits_and_nothing_is_lost():
    """Ten jobs far apart on two empty nodes: the queue is never charged for them."""
    world = Simulation(
        Settings(scheduler="DRR", learn=False, num_node=2),
        [Job(f"j{k}", 100.0 * k, 10.0, 1 + k % 2) for k in range(10)],
        [Node("a", 8), Node("b", 8)],
        target=Target((), ()),
    )
    told = []
    world.scheduler.tell = told.append
    world.run()

    assert len(told) == 9
    assert [one.reward for one in told] == [0.0] * 9
    assert [one.elapsed for one in told[1:]] == [100.0] * 8


def test_without_evidence_the_policy_stays():
    rng = np.random.default_rng(5)
    agent = Agent(fresh(rng), Settings())
    seen = [two_nodes(0, rng) for _ in range(64)]
    before = logits(agent.network.parameters_of(), seen[0])

    agent.update([Transition(one, 0, "own", *NOTHING, -1.0, 5.0) for one in seen])

    assert (logits(agent.network.parameters_of(), seen[0]) == before).all()


PUBLISHED = (
    "--num-node 32 --interarrival-time 16 --scheduler DRR --init_dim 1792 "
    "--action_space 32 --lr_actor 0.03 --lr_critic 0.02 --use_imitation True "
    "--imitation_loss_weight 0.1 --use_dynamic_entropy True --beta0 0.01 "
    "--use_attn True --use_advantage_adjustment 0.4 --use_rescheduling True "
    "--util_threshold 0.5 --re_time 3600 --re_num 5"
)


def test_the_published_command_learns_and_repeats_to_the_byte(cli, tmp_path):
    words = [*PUBLISHED.split(), "--num-jobs", "1500", "--target-load", "3"]
    for name in ("one", "two"):
        code, _, error = cli(*words, "--name", name)
        assert code == 0, error
    one, two = tmp_path / "runs" / "one", tmp_path / "runs" / "two"

    for name in ("jobs.csv", "learning.csv", "agent.safetensors", "summary.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name
    learning = pd.read_csv(one / "learning.csv")
    assert len(learning) >= 2
    assert (learning["kl"] < 0.02).all()
    assert load(one / "agent.safetensors")["kappa"].shape == (1,)
    assert json.loads((one / "summary.json").read_text())["drr_looks"] > 0


def test_from_scratch_the_teacher_comes_first():
    settings = Settings(
        scheduler="DRR",
        init_from="scratch",
        teacher="BestFit",
        look_ahead=0,
        num_node=2,
    )
    jobs = [Job(f"j{k}", 10.0 * k, 55.0) for k in range(600)]
    result = simulate(settings, jobs)

    assert result.learned is not None
    # its first decisions are best fit's: they fill one node before the other
    frame = result.jobs_frame()
    assert set(frame["nodes"][:300]) == {"0"}


def test_curves_for_tensorboard(cli, tmp_path):
    """The values of learning.csv, read back from the event file."""
    accumulator = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator"
    )
    words = ("--scheduler", "DRR", "--num-node", "4", "--num-jobs", "1500",
             "--interarrival-time", "128", "--name", "t", "--tensorboard")  # fmt: skip
    assert cli(*words)[0] == 0
    folder = tmp_path / "runs" / "t"
    found = accumulator.EventAccumulator(str(folder / "tensorboard"))
    found.Reload()
    entropy = [event.value for event in found.Scalars("DRR/entropy")]

    assert entropy == pytest.approx(pd.read_csv(folder / "learning.csv")["entropy"])


def test_what_holds_no_evidence_leaves_the_actor_as_it_is():
    """Whatever momentum earlier batches left; the critic alone goes on."""
    rng = np.random.default_rng(5)
    seen = [two_nodes(k % 2, rng) for k in range(64)]
    agent = Agent(fresh(rng), Settings(scheduler="DRR", use_imitation=True))
    agent.update([Transition(one, 0, TAUGHT, *NOTHING, -1.0) for one in seen])
    before = agent.network.parameters_of()
    agent.update([Transition(one, 0, OWN, *NOTHING, -1.0) for one in seen])
    after = agent.network.parameters_of()

    moved = {name for name in before if (before[name] != after[name]).any()}
    assert moved
    assert {name.split(".")[0] for name in moved} <= {"critic", "critic_out"}
