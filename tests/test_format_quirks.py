"""What is easily misread in foreign traces: read as meant, or refused."""

import pytest
import samples

from clusterdata.registry import read_trace
from clusterdata.report import LEFT_OUT, REPAIRED, Report
from model.errors import TraceError


def shape(job):
    return (job.num_workers, job.num_gpus, job.gpu_milli)


def test_slurm_quotes_are_letters_like_others(tmp_path):
    """sacct never quotes; a job called "foo must not swallow the next."""
    path = tmp_path / "s.txt"
    names = ['"foo', "x", '"bar', "y"]
    lines = [f"{i}|{name}|COMPLETED|2024-01-01T00:00:00|60|gres/gpu=1"
             for i, name in enumerate(names)]  # fmt: skip
    path.write_text(
        "\n".join(["JobID|JobName|State|Submit|ElapsedRaw|AllocTRES", *lines])
    )

    assert [job.job_id for job in read_trace(path).jobs] == ["0", "1", "2", "3"]


@pytest.mark.parametrize(
    ("tres", "message"),
    [
        ("gres/gpu=2.5", "with a whole number for gres/gpu="),
        ("gres/gpu=1,mem=lots", "with memory as mem=64G"),
        ("gres/gpu=1,cpu=1.5K", "with a whole number for cpu="),
        ("gres/gpu:a100=2.5", "with whole numbers for gres/gpu:TYPE="),
    ],
)
def test_slurm_resources_that_make_no_sense(tmp_path, tres, message):
    path = tmp_path / "s.txt"
    path.write_text("JobID|Submit|ElapsedRaw|AllocTRES\n"
                    f"1|2024-01-01T00:00:00|60|{tres}\n")  # fmt: skip
    with pytest.raises(TraceError, match=message):
        read_trace(path)


def test_rows_that_are_cut_short_are_not_filled_up(tmp_path):
    path = samples.write_sample(tmp_path, "pai-tables")
    path.write_text(path.read_text()[:-10])
    with pytest.raises(TraceError, match="line 5: has 9 fields, not 10"):
        read_trace(path)


def test_pai_tasks_are_unique_and_named(tmp_path):
    path = samples.write_sample(tmp_path, "pai-tables")
    first = path.read_text().split("\n")[0]
    path.write_text(f"{first}\n{first}\n")
    with pytest.raises(TraceError, match="line 2, column 'task_name'.*not unique"):
        read_trace(path)


@pytest.mark.parametrize("text", ["now", "2020", "20200401", "2020-04-01"])
def test_words_and_parts_of_dates_are_no_times(tmp_path, text):
    path = tmp_path / "cluster_log.csv"
    path.write_text(samples.HELIOS.replace("2020-04-01 00:07:21", text, 1))
    with pytest.raises(TraceError, match="is not a time as"):
        read_trace(path)


def test_an_evicted_pod_does_not_run_for_ever(tmp_path):
    asks = {"nvidia.com/gpu": "1"}
    times = f"{samples.DAY}00:00:00Z", f"{samples.DAY}00:01:00Z"
    gone = samples.pod("gone", times[0], asks, None, times[0], None, "Failed")
    done = samples.pod("done", times[0], asks, None, *times)
    path = tmp_path / "pods.json"
    path.write_text(samples.json.dumps({"items": [gone, done, done]}))
    trace = read_trace(path)

    assert [job.job_id for job in trace.jobs] == ["ml/done"]
    assert trace.report.total(LEFT_OUT) == 2  # no known end; there twice


def test_memory_is_a_share_of_the_gpu_of_the_pods_node(tmp_path):
    asks = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8k"}
    one = samples.pod("h", f"{samples.DAY}00:00:00Z", asks, None,
                      f"{samples.DAY}00:00:00Z", f"{samples.DAY}00:01:00Z")  # fmt: skip
    one["spec"]["nodeName"] = "large"
    nodes = [
        {"kind": "Node",
         "metadata": {"name": name, "labels": {"nvidia.com/gpu.memory": size}}}
        for name, size in (("small", "16000"), ("large", "80000"))
    ]  # fmt: skip
    path = tmp_path / "pods.json"
    path.write_text(samples.json.dumps({"items": [*nodes, one]}))

    assert shape(read_trace(path).jobs[0]) == (1, 1, 100)


def test_philly_attempts_that_run_backwards(tmp_path):
    path = tmp_path / "cluster_job_log"
    text = samples.PHILLY.replace("2017-10-07 22:37:21", "2017-10-07 22:30:00")
    path.write_text(text)
    with pytest.raises(TraceError, match="item 1: .*ends before it starts"):
        read_trace(path)
    report = Report(collect=True)
    assert len(read_trace(path, report=report).jobs) == 1
    assert len(report.problems) == 1


def test_parquet_with_missing_values_and_lists(tmp_path):
    pytest.importorskip("pyarrow")
    import pandas as pd

    frame = pd.DataFrame({"job_id": ["a", "b"], "submit_time": [0, 1],
                          "duration": [5, 5], "num_gpus": [1, 1],
                          "gpu_milli": [1000, 1000],
                          "deadline": pd.array([5, None], dtype="Int64")})  # fmt: skip
    frame.to_parquet(tmp_path / "t.parquet")
    assert [j.deadline for j in read_trace(tmp_path / "t.parquet").jobs] == [5, None]
    frame.assign(user=[["x"], ["y"]]).to_parquet(tmp_path / "l.parquet")
    with pytest.raises(TraceError, match="a value is a list"):
        read_trace(tmp_path / "l.parquet")


@pytest.mark.parametrize(
    ("state", "kept"),
    [("COMPLETED", 1), ("CANCELLED by 7", 1), ("CANCELLED+", 1), ("STOPPED", 0)],
)
def test_slurm_states(tmp_path, state, kept):
    path = tmp_path / "s.txt"
    head = "JobID|State|Submit|ElapsedRaw|AllocTRES\n"
    path.write_text(f"{head}1|{state}|2024-01-01T00:00:00|60|gres/gpu:a100=2\n")
    trace = read_trace(path)

    assert len(trace.jobs) == kept
    assert trace.report.total(LEFT_OUT) == 1 - kept
    path.write_text(f"{head}1|BOGUS|2024-01-01T00:00:00|60|gres/gpu=1\n")
    with pytest.raises(TraceError, match="column 'State': 'BOGUS' is not one of"):
        read_trace(path)


@pytest.mark.parametrize(
    ("asks", "notes", "gpus"),
    [
        ({}, {"gpu-fraction": "0.5", "gpu-fraction-num-devices": "2"}, 2),
        ({"nvidia.com/mig-4g.20gb": "2"}, {}, 2),
    ],
)
def test_shares_of_several_gpus_are_whole_and_counted(tmp_path, asks, notes, gpus):
    times = f"{samples.DAY}00:00:00Z", f"{samples.DAY}00:01:00Z"
    path = tmp_path / "pods.json"
    one = samples.pod("p", times[0], asks, notes, *times)
    path.write_text(samples.json.dumps({"items": [one]}))
    trace = read_trace(path)

    assert shape(trace.jobs[0]) == (1, gpus, 1000)
    assert trace.report.total(REPAIRED) == 1
