"""Alibaba's openb files: pods with their quirks, node lists, node events."""

import pytest

from clusterdata.formats.openb import read_openb_nodes
from clusterdata.registry import read_trace
from clusterdata.table import Table
from clusterdata.workload import load_workload
from model.config import Settings
from model.errors import TraceError


def test_openb_is_read_whole_with_its_quirks(openb):
    jobs = read_trace(openb / "openb_pod_list_default.csv").jobs

    assert len(jobs) == 8152
    assert jobs[0].submit_time == 0
    assert sum(job.num_gpus == 0 for job in jobs) == 1088
    assert sum(0 < job.gpu_milli < 1000 for job in jobs) == 3078
    assert sum(job.total_milli for job in jobs) == 6_086_800
    assert sum(job.duration == 0 for job in jobs) == 1


def test_openb_durations_count_from_scheduling_or_else_from_creation(tmp_path):
    path = tmp_path / "pods.csv"
    path.write_text(
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
        "creation_time,deletion_time,scheduled_time\n"
        "ran,1000,10,1,460,,LS,Running,100,190,130\n"
        "pending,1000,10,1,1000,T4|P100,LS,Pending,150,170,\n"
    )
    ran, pending = read_trace(path).jobs

    assert (ran.submit_time, ran.duration, ran.gpu_milli) == (0, 60, 460)
    assert (pending.submit_time, pending.duration) == (50, 20)
    assert pending.gpu_type == "T4|P100"


def test_every_openb_file_with_times_is_read_trace(openb):
    for path in sorted(openb.glob("openb_pod_list_*.csv")):
        if "multigpu" in path.name:
            with pytest.raises(TraceError, match="without times .* cannot be replayed"):
                read_trace(path)
        else:
            assert len(read_trace(path).jobs) > 7000


def test_openb_nodes(openb):
    nodes = read_openb_nodes(Table(openb / "openb_node_list_gpu_node.csv"))

    assert len(nodes) == 1213
    assert sum(node.num_gpus for node in nodes) == 6212
    assert sum(node.cpu_milli for node in nodes) == 107_018_000
    assert nodes[0].gpu_type == "P100"


def test_a_node_list_without_gpus_is_refused(tmp_path):
    path = tmp_path / "nodes.csv"
    path.write_text("sn,cpu_milli,memory_mib,gpu,model\nn,1000,10,0,\n")
    with pytest.raises(TraceError, match="no node has a GPU"):
        read_openb_nodes(Table(path))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("5,nowhere,drain", "column 'node': 'nowhere' is not a node of this cluster"),
        ("5,node-0000,explode", "'explode' is not one of join, drain, leave, return"),
        ("-5,node-0000,drain", "column 'time': '-5'"),
    ],
)
def test_wrong_node_events_are_named(tmp_path, row, message):
    path = tmp_path / "events.csv"
    path.write_text(f"time,node,event\n{row}\n")
    with pytest.raises(TraceError, match=message):
        load_workload(Settings(num_jobs=5, node_events=str(path)))
