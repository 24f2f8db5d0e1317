"""Node lists of other origins, and a small TOML for mixed clusters."""

import pytest

from clusterdata.clusters import read_nodes
from clusterdata.workload import load_workload
from model.config import Settings
from model.errors import TraceError
from model.node import Node

MIXED = """
[[nodes]]
name = "big"
count = 2
gpus = 8
model = "A100"
cpu_milli = 96000
memory_mib = 524288

[[nodes]]
count = 1
gpus = 1
model = "T4"
"""


def test_a_mixed_cluster_in_toml(tmp_path):
    path = tmp_path / "cluster.toml"
    path.write_text(MIXED)
    first, second, third = read_nodes(path)

    assert first == Node("big-0", 8, 96_000, 524_288, "A100")
    assert second.name == "big-1"
    assert (third.name, third.num_gpus, third.gpu_type) == ("T4-0", 1, "T4")
    workload = load_workload(Settings(node_list=str(path), num_jobs=5))
    assert sum(node.num_gpus for node in workload.nodes) == 17


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("count = 2", "count = 0", r"\[\[nodes\]\] 1: count = 0 must be from 1 to"),
        ("count = 2", "count = '2'", "count = '2' must be int"),
        ("count = 2\n", "", "count is missing"),
        ("gpus = 8", "gpu = 8", 'unknown key .gpu. .did you mean "gpus"'),
        ("gpus = 8", "gpus = 65", "gpus = 65 must be from 0 to 64"),
        ("gpus = 8", "gpus = 8.5", "gpus = 8.5 must be int"),
        ('name = "big"', 'name = "T4"', "two nodes are called 'T4-0'"),
        ("[[nodes]]", "[nodes]", "is not TOML|must have tables"),
        ("[[nodes]]", "[[machines]]", "must have tables .*nodes"),
        ("gpus = 8", "gpus =", "is not TOML"),
    ],
)
def test_a_wrong_description_is_named(tmp_path, old, new, message):
    path = tmp_path / "cluster.toml"
    path.write_text(MIXED.replace(old, new, 1))

    with pytest.raises(TraceError, match=message):
        read_nodes(path)


@pytest.mark.parametrize("header", ["machine,gpu_type,cap_cpu,cap_mem,cap_gpu\n", ""])
def test_pai_machines_with_and_without_a_header(tmp_path, header):
    path = tmp_path / "pai_machine_spec.csv"
    path.write_text(f"{header}m0,CPU,96,512,0\nm1,T4,96,512,2\n")

    cpu, t4 = read_nodes(path)
    assert (cpu.num_gpus, cpu.gpu_type) == (0, "")
    assert t4 == Node("m1", 2, 96_000, 524_288, "T4")
    path.write_text(f"{header}m0,CPU,96,512,0\n")
    with pytest.raises(TraceError, match="no node has a GPU"):
        read_nodes(path)


def test_demands_for_types_are_dropped_on_a_cluster_without_any(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("job_id,submit_time,duration,num_gpus,gpu_milli,gpu_type\n"
                    "a,0,60,1,1000,T4\nb,0,60,1,1000,\n")  # fmt: skip
    workload = load_workload(Settings(trace=str(path)))

    assert [job.gpu_type for job in workload.jobs] == ["", ""]
    assert any("the demands of 1 jobs for one are ignored" in n for n in workload.notes)
