"""The dry-run plan: snapshots, steps in safe order, what it gives back."""

import json

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import run as program
from model.capacity import Capacity
from model.job import Job, Placement, Request
from model.node import Node
from schedulers.decision import PlannedMove
from schedulers.planners.staging import staged

NODES = "sn,cpu_milli,memory_mib,gpu,model\n" + "".join(
    f"{name},64000,99999,8,T4\n" for name in "abc"
)
JOBS = """job_id,num_gpus,gpu_milli,node,gpus,user
j1,4,1000,a,0+1+2+3,ann
j2,1,500,a,4,ann
j3,1,250,b,0,bob
j4,2,1000,b,1+2,bob
j5,1,1000,c,5,bob
big,8,1000,,,eve
"""


@pytest.fixture
def plan(tmp_path, capsys):
    (tmp_path / "nodes.csv").write_text(NODES)

    def run(jobs, *words, name="jobs.csv"):
        (tmp_path / name).write_text(jobs)
        fixed = ["plan", "--snapshot", str(tmp_path / name), "--out", str(tmp_path)]
        if name.endswith("csv"):
            fixed += ["--node-list", str(tmp_path / "nodes.csv")]
        code = program.main([*fixed, *words])
        out, err = capsys.readouterr()
        moves = report = None
        if code == 0:
            moves = pd.read_csv(tmp_path / "plan.csv")
            report = json.loads((tmp_path / "plan.json").read_text())
        return code, out, err, moves, report

    return run


def test_one_move_frees_the_node_that_a_job_waits_for(plan):
    code, out, _, moves, report = plan(JOBS)

    assert code == 0
    assert moves[["job_id", "from", "to"]].values.tolist() == [["j5", "c:5", "a:5"]]
    assert moves["gpu_seconds"].tolist() == [40.0]
    assert report["before"]["startable_jobs"] == []
    assert report["after"]["startable_jobs"] == ["big"]
    assert (report["before"]["idle_nodes"], report["after"]["idle_nodes"]) == (0, 1)
    assert "0 -> 1 (new: big)" in out


@pytest.mark.parametrize(
    "words",
    [["--exempt", "j5,j3"], ["--exempt", "bob"], ["--max-moves", "0"],
     ["--budget-gpu-seconds", "39"]],
)  # fmt: skip
def test_limits_are_kept(plan, words):
    moves = plan(JOBS, *words)[3]

    assert "j5" not in moves["job_id"].tolist()


def test_the_same_snapshot_gives_the_same_bytes(plan, tmp_path):
    plan(JOBS)
    first = (tmp_path / "plan.json").read_bytes()
    plan(JOBS)

    assert (tmp_path / "plan.json").read_bytes() == first


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        (JOBS.replace("a,4", "z,4"), "line 3, column 'node'"),
        (JOBS.replace("c,5", "c,8"), "job j5 does not fit GPU 8 of node c (8 GPUs"),
        (JOBS.replace("a,4", "a,3"), "job j2 does not fit GPU 3 of node a"),
        (JOBS.replace(",1+2", ",1-2"), "line 5, column 'gpus'"),
        (JOBS.replace("gpus,user", "gpu,user"), "no column 'gpus'"),
    ],
)
def test_wrong_snapshots_are_named_by_line(plan, jobs, message):
    code, _, err, *_ = plan(jobs)

    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def kubernetes():
    def node(name, gpus, **spec):
        have = {"cpu": "64", "memory": "256Gi", "nvidia.com/gpu": str(gpus)}
        return {
            "kind": "Node",
            "metadata": {"name": name, "labels": {"nvidia.com/gpu.product": "A100"}},
            "spec": spec,
            "status": {"allocatable": have},
        }

    def pod(name, on, asks, phase="Running", **notes):
        return {
            "kind": "Pod",
            "metadata": {"namespace": "ml", "name": name, "annotations": notes},
            "spec": {
                "nodeName": on,
                "containers": [{"resources": {"limits": asks}}],
            },
            "status": {"phase": phase},
        }

    gpu = "nvidia.com/gpu"
    items = [node("a", 4), node("b", 4), node("c", 4, unschedulable=True)]
    items += [
        pod("whole", "a", {gpu: "1", "cpu": "500m", "memory": "1Gi"}),
        pod("kai", "b", {}, **{"gpu-fraction": "0.5"}),
        pod("hami", "b", {gpu: "1", "nvidia.com/gpucores": "30"}),
        pod("done", "b", {gpu: "4"}, "Succeeded"),
        pod("proxy", "a", {"cpu": "100m"}),
        pod("big", "", {gpu: "4"}, "Pending"),
    ]
    return json.dumps({"items": items})


def test_kubectl_json_is_read_shares_included(plan):
    """One GPU of a is in use, a device of b is shared .5 + .3, c is cordoned. The
    whole one goes to b, or the shares to a: 40 GPU-s against 80; then `big` starts."""
    code, _, _, moves, report = plan(kubernetes(), name="now.json")

    assert code == 0
    assert moves["job_id"].tolist() == ["ml/whole"]
    assert moves["to"].str.startswith("b:").all()
    assert report["before"]["free_gpus"] == 6.2
    assert report["after"]["startable_jobs"] == ["ml/big"]


def test_other_json_is_a_clear_error(plan):
    code, _, err, *_ = plan('{"kind": "List"}', name="now.json")

    assert code == 2
    assert "is not the JSON of kubectl get nodes,pods" in err


def move(name, source, destination, gpus=1):
    job = Job(name, 0, 9, num_gpus=gpus)
    return PlannedMove(job, (source,), (destination,), "")


def test_chains_are_ordered_and_swaps_share_a_step():
    """c goes 2 -> 3, then b 1 -> 2, then a 0 -> 1; x and y trade places."""
    capacity = Capacity([Node(f"n{i}", 1) for i in range(6)])
    moves = [move(name, Placement(n, (0,)), Placement(n + 1, (0,)))
             for n, name in enumerate("abc")]  # fmt: skip
    moves += [move("x", Placement(4, (0,)), Placement(5, (0,)))]
    moves += [move("y", Placement(5, (0,)), Placement(4, (0,)))]
    for planned in moves:
        capacity.shift(planned.job.request, planned.source[0], 1)
    stages = staged(capacity, moves)

    assert [[m.job.job_id for m in stage] for stage in stages] == [
        ["c"], ["b"], ["a"], ["x", "y"],
    ]  # fmt: skip
    assert capacity.free_total.tolist() == [0, 0, 0, 1000, 0, 0]


@settings(max_examples=200)
@given(before=st.permutations(range(8)), after=st.permutations(range(8)))
def test_every_step_of_any_rearrangement_fits(before, after):
    """Six jobs on eight devices of two nodes, to six others."""
    capacity = Capacity([Node("a", 4), Node("b", 4)])

    def place(device):
        return Placement(device // 4, (device % 4,))

    moves = [
        move(f"{i}", place(before[i]), place(after[i]))
        for i in range(6)
        if before[i] != after[i]
    ]
    for i in range(6):
        capacity.shift(Request(1, 1000), place(before[i]), 1)
    stages = staged(capacity, moves)

    for stage in stages:
        for planned in stage:
            capacity.shift(planned.job.request, planned.source[0], -1)
        for planned in stage:
            capacity.shift(planned.job.request, planned.destination[0], 1)
            assert min(map(min, capacity.rows)) >= 0
    assert sum(map(len, stages)) == len(moves)
    taken = {(n, g) for n in (0, 1) for g in range(4) if capacity.rows[n][g] == 0}
    assert taken == {(d // 4, d % 4) for d in after[:6]}


def test_jobs_without_a_user_are_moved_too(plan):
    jobs = JOBS.replace(",user", "").replace(",ann", "").replace(",bob", "")
    moves = plan(jobs.replace(",eve", ""))[3]

    assert moves["job_id"].tolist() == ["j5"]


def test_moves_that_cost_nothing_are_planned_too(plan):
    report = plan(JOBS, "--migration-cost", "0")[4]

    assert report["after"]["startable_jobs"] == ["big"]


def test_jobs_that_cpu_keeps_apart_trade_places_in_one_step():
    capacity = Capacity([Node("a", 2, 10, 0), Node("b", 2, 10, 0)], ("gpu", "cpu"))
    moves = []
    for name, source, destination in (("x", 0, 1), ("y", 1, 0)):
        job = Job(name, 0, 9, cpu_milli=10)
        capacity.shift(job.request, Placement(source, (0,)), 1)
        places = (Placement(source, (0,)),), (Placement(destination, (1,)),)
        moves.append(PlannedMove(job, *places, ""))

    assert [len(stage) for stage in staged(capacity, moves)] == [2]


def test_a_node_cannot_hold_more_cpu_than_it_has(plan):
    jobs = JOBS.replace("gpus,user", "gpus,cpu_milli").replace(",ann", ",40000")
    jobs = jobs.replace(",bob", ",1").replace(",eve", ",1")
    code, _, err, *_ = plan(jobs, "--resources", "gpu,cpu")

    assert code == 2
    assert "node a hold more CPU than it has" in err


def test_a_simulated_trace_at_a_time(tmp_path, capsys):
    words = ["plan", "--num-node", "4", "--num-jobs", "300", "--out", str(tmp_path)]
    words += ["--name", "v1.2", "--at"]
    assert program.main([*words, "2000"]) == 0
    assert (tmp_path / "v1.2.csv").is_file()
    assert program.main([*words, "0"]) == 2
    assert "--at 0.0: must be above 0" in capsys.readouterr().err
