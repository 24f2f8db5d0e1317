"""The dry-run plan: snapshots, steps in safe order, what it gives back."""

import json

import pandas as pd
import pytest

import run as program

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


@pytest.mark.parametrize("scheduler", ["BestFit", "DRR"])
def test_a_scheduler_may_plan_by_its_own_planner(plan, scheduler):
    code, _, error, moves, _ = plan(JOBS, "--scheduler", scheduler, "--planner", "own")

    assert code == 0, error
    reason = "makes room" if scheduler == "DRR" else "little used"
    assert moves["why"].str.startswith(reason).all()
    assert len(moves)


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
        (JOBS + "j5,1,1000,,,bob\n", "line 8, column 'node'"),
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


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"0.5"', '"1.5"', "Pod kai: a share of 1.5 GPUs must be from 0 to 1"),
        ('"1Gi"', '"1Xi"', "Pod whole: '1Xi' must be a number"),
        ('"30"', '"thirty"', "Pod hami: 'thirty' must be a number"),
        ('"allocatable"', '"capacity"', "Node a: no 'allocatable'"),
    ],
)
def test_wrong_items_are_named(plan, old, new, message):
    code, _, err, *_ = plan(kubernetes().replace(old, new), name="now.json")

    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_shares_of_several_gpus_are_refused(plan):
    one = '"nvidia.com/gpu": "1", "nvidia.com/gpucores"'
    two = kubernetes().replace(one, one.replace('"1"', '"2"'))
    code, _, err, *_ = plan(two, name="now.json")

    assert code == 2
    assert "Pod hami: job ml/hami: gpu_milli 300 must be 1000 with several GPUs" in err


def test_nulls_and_device_split_counts_of_kubectl(plan):
    """HAMi offers 4 devices ten times each; the label says how many there are."""
    text = kubernetes().replace('"annotations": {}', '"annotations": null')
    text = text.replace('"nvidia.com/gpu": "4", "cpu', '"cpu')
    items = json.loads(text)["items"]
    for item in items:
        if item["kind"] == "Node":
            item["status"]["allocatable"]["nvidia.com/gpu"] = "40"
            item["metadata"]["labels"]["nvidia.com/gpu.count"] = "4"
    report = plan(json.dumps({"items": items}), name="now.json")[4]

    assert report["before"]["free_gpus"] == 6.2


def test_other_json_is_a_clear_error(plan):
    code, _, err, *_ = plan('{"kind": "List"}', name="now.json")

    assert code == 2
    assert "is not the JSON of kubectl get nodes,pods" in err


def test_jobs_without_a_user_are_moved_too(plan):
    jobs = JOBS.replace(",user", "").replace(",ann", "").replace(",bob", "")
    moves = plan(jobs.replace(",eve", ""))[3]

    assert moves["job_id"].tolist() == ["j5"]


def test_moves_that_cost_nothing_are_planned_too(plan):
    report = plan(JOBS, "--migration-cost", "0")[4]

    assert report["after"]["startable_jobs"] == ["big"]


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
