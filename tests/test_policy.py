"""DRR's network: one decision compiled, a batch in torch, and its checkpoints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.errors import UserError
from schedulers.drr.checkpoint import PRETRAINED, load, saved
from schedulers.drr.kernel import BIG
from schedulers.drr.policy import SHAPES, fresh, logits


@pytest.mark.parametrize("attends", [True, False])
def test_one_decision_and_a_batch_compute_the_same_policy(attends):
    torch = pytest.importorskip("torch")
    from schedulers.drr.network import Network

    rng = np.random.default_rng(1)
    parameters = dict(fresh(rng))
    parameters["actor_out.weight"] = rng.normal(size=(1, 32)).astype(np.float32)
    seen = random_observation(rng, 5)
    network = Network(parameters, attends)

    with torch.no_grad():
        batch = [torch.from_numpy(part[None]) for part in seen[:3]]
        batched = network(*batch)[0][0].numpy()
    alone = logits(parameters, seen, attends)

    assert alone == pytest.approx(batched, abs=1e-4)
    order = rng.permutation(5)
    devices = seen.devices[order][:, rng.permutation(8)]
    shuffled = seen._replace(devices=devices, scores=seen.scores[order])
    again = logits(parameters, shuffled, attends)
    assert again == pytest.approx(alone[order], abs=1e-4)


def random_observation(rng, nodes):
    from schedulers.drr.observation import Observation

    scores = rng.normal(size=nodes)
    scores[1] = BIG
    return Observation(
        rng.random((nodes, 8, 7)).astype(np.float32),
        rng.random(9).astype(np.float32),
        scores,
        np.zeros(nodes, np.int64),
        np.arange(nodes),
    )


@given(st.integers(0, 2**32))
def test_a_node_without_room_is_never_chosen(seed):
    rng = np.random.default_rng(seed)
    parameters = {
        name: rng.normal(size=shape).astype(np.float32) * 5
        for name, shape in SHAPES.items()
    }
    found = logits(parameters, random_observation(rng, 4))

    assert found[1] == -np.inf
    assert np.isfinite(np.delete(found, 1)).all()


def test_a_checkpoint_comes_back_and_a_wrong_one_is_named(tmp_path, cli):
    path = tmp_path / "agent.safetensors"
    parameters = fresh(np.random.default_rng(2))
    path.write_bytes(saved(parameters, {"round": 3}))

    assert (load(path)["node.weight"] == parameters["node.weight"]).all()
    assert PRETRAINED.stat().st_size < 2_000_000
    narrow = {**parameters, "kappa": np.zeros(2, np.float32)}
    path.write_bytes(saved(narrow, {}))
    with pytest.raises(UserError, match=r"kappa is \(2,\), DRR's network needs \(1,\)"):
        load(path)
    path.write_bytes(b"nonsense")
    code, _, error = cli("--scheduler", "DRR", "--init-from", str(path))
    assert (code, error.count("\n")) == (2, 1)
    assert "no safetensors file" in error
    code, _, error = cli("--scheduler", "DRR", "--init-from", "nowhere")
    assert (code, "no such file" in error) == (2, True)
    code, _, error = cli("--scheduler", "DRR", "--teacher", "Nobody")
    assert (code, "must be one of BestFit" in error) == (2, True)
