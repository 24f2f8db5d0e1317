"""The public files themselves: exact counts and sums, and a run to the end."""

import numpy as np
import pytest
from conftest import SHARED

from clusterdata.clusters import read_nodes
from clusterdata.formats.durations import read_durations
from clusterdata.registry import read_trace
from clusterdata.report import LEFT_OUT, REPAIRED, Report
from clusterdata.workload import load_workload
from model.config import Settings
from model.errors import TraceError, UserError
from model.job import WHOLE_GPU
from processes.simulation import Simulation

pytestmark = pytest.mark.skipif(not SHARED.exists(), reason="no shared trace files")

OPENB = {  # pods, milli-GPU that all ask for
    "cpu0": (7064, 6086800), "cpu037": (7336, 6086800), "cpu050": (7439, 6086800),
    "cpu100": (7853, 6086800), "cpu200": (8832, 6086800), "cpu235": (9240, 6086800),
    "cpu250": (9420, 6086800), "default": (8152, 6086800),
    "gpushare100": (8152, 3952670), "gpushare20": (8152, 6531500),
    "gpushare40": (8152, 5641250), "gpushare60": (8152, 4908340),
    "gpushare80": (8152, 4408190), "gpuspec10": (8152, 6086800),
    "gpuspec20": (8152, 6086800), "gpuspec25": (8152, 6086800),
    "gpuspec33": (8152, 6086800),
}  # fmt: skip
WITHOUT_TIMES = ("multigpu20", "multigpu30", "multigpu40", "multigpu50")
CLUSTERS = {  # jobs, GPUs that all ask for, s of all durations
    "cluster01": (1595, 3728, 20289535), "cluster02": (5778, 11785, 132718039),
    "cluster03": (3011, 18760, 66687976), "cluster04": (15802, 47958, 315756560),
    "cluster05": (3629, 4329, 37065933), "cluster06": (2396, 12429, 58543236),
    "cluster08": (13047, 14336, 189776423), "cluster09": (11134, 11134, 140402737),
    "cluster10": (260, 383, 8508681),
}  # fmt: skip
FLOWS = [
    *((f"raw-traces/{name}", numbers) for name, numbers in CLUSTERS.items()),
    *((f"elasticflow-traces/{name}", numbers) for name, numbers in CLUSTERS.items()),
    ("elasticflow-traces/195job", (195, 572, 5055326)),
]
PAI = SHARED / "alibaba-pai-v2020"


def pods(name):
    return SHARED / "alibaba-openb-v2023" / f"openb_pod_list_{name}.csv"


def flow(name):
    return SHARED / "elasticflow" / f"{name}.csv"


@pytest.mark.parametrize("name", OPENB)
def test_openb(name):
    trace = read_trace(pods(name))

    jobs = trace.jobs
    assert (len(jobs), sum(job.total_milli for job in jobs)) == OPENB[name]
    assert trace.report.total(LEFT_OUT) == 0


@pytest.mark.parametrize("name", WITHOUT_TIMES)
def test_openb_without_times(name):
    with pytest.raises(TraceError, match="without times the pods cannot be replayed"):
        read_trace(pods(name))


@pytest.mark.parametrize(("name", "numbers"), FLOWS, ids=[name for name, _ in FLOWS])
def test_elasticflow(name, numbers):
    trace = read_trace(flow(name))

    jobs = trace.jobs
    gpus = sum(job.total_milli for job in jobs) // WHOLE_GPU
    assert (len(jobs), gpus, sum(job.duration for job in jobs)) == numbers
    assert all(job.num_gpus <= 8 for job in jobs)
    assert trace.report.lines() == []


def test_pai_jobs():
    """810 of 1,000 jobs have a GPU; 0.25 is the most frequent share."""
    trace = read_trace(PAI / "pai_jobs_1000.csv")
    on_gpu = [job for job in trace.jobs if job.num_gpus]

    assert (len(trace.jobs), len(on_gpu), trace.report.timed) == (1000, 810, False)
    assert sum(job.gpu_milli == 250 for job in on_gpu) == 238
    assert sum(job.num_workers for job in trace.jobs) == 4638
    assert np.mean([job.duration for job in on_gpu]) == pytest.approx(5322, abs=0.5)


def test_pai_jobs_are_replayed_with_drawn_arrivals_only():
    settings = Settings(trace=str(PAI / "pai_jobs_1000.csv"))
    with pytest.raises(UserError, match=r"say --interarrival-time SECONDS"):
        load_workload(settings)
    run_to_the_end(settings.trace, interarrival_time=8.0)


def test_philly_run_times():
    report = Report()
    seconds = read_durations(SHARED / "philly" / "philly_runtime.csv", report)

    assert (len(seconds), report.total(LEFT_OUT)) == (83_152, 2)
    assert np.median(seconds) == pytest.approx(1186, abs=1)


@pytest.mark.parametrize(
    ("file", "nodes", "gpus"),
    [
        ("alibaba-openb-v2023/openb_node_list_gpu_node.csv", 1213, 6212),
        ("alibaba-openb-v2023/openb_node_list_all_node.csv", 1523, 6212),
        ("alibaba-pai-v2020/pai_machine_spec.csv", 1897, 6742),
        ("alibaba-spot-v2026/node_info_df.csv", 4278, 10412),
    ],
)
def test_node_lists(file, nodes, gpus):
    found = read_nodes(SHARED / file)

    assert (len(found), sum(node.num_gpus for node in found)) == (nodes, gpus)


def run_to_the_end(path, **asked):
    settings = Settings(trace=str(path), scheduler="FGD", **asked)
    workload = load_workload(settings)
    result = Simulation(settings, workload.jobs, workload.nodes).run()
    ended = [record for record in result.records if record.status == "finished"]
    assert len(ended) == len(workload.jobs)
    return result


@pytest.mark.slow
@pytest.mark.parametrize("name", OPENB)
def test_openb_runs_to_the_end(name):
    nodes = SHARED / "alibaba-openb-v2023" / "openb_node_list_gpu_node.csv"
    run_to_the_end(pods(name), node_list=str(nodes))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, _ in FLOWS])
def test_elasticflow_runs_to_the_end(name):
    run_to_the_end(flow(name))


def test_what_was_repaired_is_said_when_it_runs():
    workload = load_workload(Settings(trace=str(pods("default"))))

    assert any(
        "897 rows repaired: no scheduled_time" in note for note in workload.notes
    )
    assert REPAIRED in workload.notes[0]
