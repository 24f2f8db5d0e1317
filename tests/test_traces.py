"""Traces in, jobs out; and every way in which a file can be wrong."""

import pytest

from clusterdata.canonical import write_canonical
from clusterdata.openb import read_openb_nodes
from clusterdata.table import Table
from clusterdata.workload import load_workload, offered_load, read_trace, with_estimates
from model.config import Settings
from model.errors import TraceError, UserError
from model.job import Job

HEADER = "job_id,submit_time,duration,num_gpus,gpu_milli"


@pytest.fixture
def trace(tmp_path):
    """Write a trace of the lines given and read it."""

    def read(*lines, header=HEADER, encoding="utf-8", newline="\n"):
        path = tmp_path / "trace.csv"
        path.write_bytes((newline.join([header, *lines]) + newline).encode(encoding))
        return read_trace(path)

    return read


def test_canonical_columns_become_a_job(trace):
    header = (
        f"{HEADER},cpu_milli,memory_mib,gpu_type,num_workers,user,deadline,job_class"
    )
    (job,) = trace("a,1.5,60,1,250,4000,512,T4|V100,2,me,99,bert", header=header)

    assert job == Job(
        "a", 1.5, 60, 1, 250, 4000, 512, "T4|V100", 2, "me", 99.0, "bert", None
    )


def test_optional_columns_and_fields_may_be_missing(trace):
    (job,) = trace("a,0,60,1,1000,", header=f"{HEADER},deadline")

    assert (job.deadline, job.num_workers, job.gpu_type) == (None, 1, "")


@pytest.mark.parametrize(
    ("encoding", "newline"),
    [("utf-8-sig", "\n"), ("utf-8", "\r\n"), ("utf-8-sig", "\r\n")],
)
def test_bom_crlf_and_quotes_are_read_as_meant(trace, encoding, newline):
    lines = ['"a, ""b""",0,60,1,1000', "c,1,6e1,1,1000"]
    jobs = trace(*lines, encoding=encoding, newline=newline)

    assert [job.job_id for job in jobs] == ['a, "b"', "c"]
    assert jobs[1].duration == 60


def test_blank_lines_are_skipped_and_do_not_shift_line_numbers(trace):
    with pytest.raises(TraceError, match="line 5, column 'duration': '-1'"):
        trace("a,0,60,1,1000", "", "", "b,0,-1,1,1000")


def test_line_numbers_count_line_breaks_inside_quotes(trace):
    with pytest.raises(TraceError, match="line 4, column 'duration'"):
        trace('"a\nb",0,60,1,1000', "c,0,x,1,1000")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,0,nan,1,1000", "line 3, column 'duration': 'nan' is not a finite number"),
        (
            "a,0,-5,1,1000",
            "column 'duration': '-5' is not a finite number of at least 0",
        ),
        ("a,0,inf,1,1000", "column 'duration': 'inf'"),
        ("a,0,soon,1,1000", "column 'duration': 'soon'"),
        ('a,0,"1,000",1,1000', "column 'duration': '1,000'"),
        ("a,0,,1,1000", "column 'duration': ''"),
        ("a,inf,5,1,1000", "column 'submit_time': 'inf'"),
        ("a,-1,5,1,1000", "column 'submit_time': '-1' is not a finite number of at"),
        ("a,0,1e13,1,1000", "column 'duration': '1e13' is not .* at most 1e.12"),
        ("a,0,5,1.5,1000", "column 'num_gpus': '1.5' is not a whole number"),
        ("a,0,5,-1,1000", "column 'num_gpus': '-1'"),
        ("a,0,5,1,1001", "column 'gpu_milli': '1001' is not .* at most 1000"),
        ("a,0,5,2,500", "column 'gpu_milli': '500' is not 1000, as a job with several"),
        ("a,0,5,1,0", "num_gpus and gpu_milli must both be 0 or neither"),
        (
            "first,0,5,1,1000",
            "column 'job_id': 'first' is not unique: line 2 has it too",
        ),
        (",0,5,1,1000", "column 'job_id': '' is not an id"),
        ("a,0,5,1", "line 3, column 'gpu_milli': ''"),
        ("a,0,5,1,1000,9", "Expected 5 fields in line 3, saw 6"),
    ],
)
def test_a_wrong_value_is_named_by_line_column_and_rule(trace, row, message):
    with pytest.raises(TraceError, match=message) as error:
        trace("first,0,60,1,1000", row)

    assert "trace.csv" in str(error.value)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (
            HEADER.replace("duration", "durration"),
            "no column 'duration'.*\"durration\"",
        ),
        (f"{HEADER},usr", "unknown column 'usr' .did you mean \"user\""),
        (f"{HEADER},colour", "unknown column 'colour'; known are job_id"),
        (
            "job_id,submit_time",
            "no column 'duration'; required are job_id, submit_time",
        ),
        (f"{HEADER},duration", "column 'duration' appears twice"),
    ],
)
def test_a_wrong_header_is_named_with_the_nearest_column(trace, header, message):
    with pytest.raises(TraceError, match=message):
        trace(",".join("a0511xx"[: header.count(",") + 1]), header=header)


def test_missing_empty_and_header_only_files_are_told_apart(tmp_path, trace):
    with pytest.raises(TraceError, match="nowhere.csv: no such file"):
        Table(tmp_path / "nowhere.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(TraceError, match="empty.csv: the file is empty"):
        Table(tmp_path / "empty.csv")
    with pytest.raises(TraceError, match="has a header but no rows"):
        trace()
    (tmp_path / "latin.csv").write_bytes(b"job_id\n\xff\xfe\n")
    with pytest.raises(TraceError, match="latin.csv: .*utf-8"):
        Table(tmp_path / "latin.csv")


@pytest.mark.parametrize("name", ["t.csv.gz", "t.csv.zip", "t.csv.zst", "t.csv.xz"])
def test_a_file_that_is_no_text_is_said_to_be_none(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(b"\x1f\x8b\x08\x00not really compressed\xff\xfe\n")

    with pytest.raises(TraceError, match=name):
        read_trace(path)


def test_the_number_of_workers_has_a_limit(trace):
    with pytest.raises(TraceError, match="'num_workers': '70000' is not .* 65536"):
        trace("a,0,5,0,0,70000", header=f"{HEADER},num_workers")


def test_the_checksum_is_that_of_the_file(tmp_path):
    import hashlib

    settings = settings_for(tmp_path, "a,5,1,1,1000")
    expected = hashlib.sha256((tmp_path / "t.csv").read_bytes()).hexdigest()

    assert load_workload(settings).checksum == expected


def test_a_canonical_trace_survives_a_round_trip(tmp_path):
    jobs = [
        Job("a", 0.1, 1 / 3, 2, 1000, 500, 7, "T4", 3, "u", 5.5, "bert", 2.5),
        Job("b", 1e6, 0, 0, 0),
    ]
    write_canonical(jobs, tmp_path / "t.csv")

    assert read_trace(tmp_path / "t.csv") == jobs


def settings_for(tmp_path, *lines, **asked):
    path = tmp_path / "t.csv"
    path.write_text("\n".join([HEADER, *lines]) + "\n")
    return Settings(trace=str(path), num_node=1, **asked)


def test_jobs_out_of_order_are_sorted_and_that_is_said_once(tmp_path):
    workload = load_workload(
        settings_for(tmp_path, "a,5,1,1,1000", "b,3,1,1,1000", "c,1,1,1,1000")
    )

    assert [job.job_id for job in workload.jobs] == ["c", "b", "a"]
    assert len(workload.notes) == 1
    assert "out of order" in workload.notes[0]


def test_arrivals_are_the_traces_own_unless_a_mean_is_given(tmp_path):
    rows = [f"{i},{100 * i},1,1,1000" for i in range(2000)]
    own = load_workload(settings_for(tmp_path, *rows)).jobs
    drawn = load_workload(settings_for(tmp_path, *rows, interarrival_time=8.0)).jobs

    assert own[-1].submit_time == 199_900
    assert drawn[-1].submit_time / 1999 == pytest.approx(8, rel=0.1)
    assert [job.job_id for job in drawn] == [job.job_id for job in own]


def test_more_jobs_than_there_are_is_an_error(tmp_path):
    with pytest.raises(UserError, match="--num-jobs 9: .*has 1 jobs"):
        load_workload(settings_for(tmp_path, "a,0,1,1,1000", num_jobs=9))


def test_an_unknown_trace_name_gets_a_suggestion():
    with pytest.raises(UserError, match='no such file or mix .did you mean "native"'):
        load_workload(Settings(trace="nativ"))


def test_offered_load_by_hand():
    """4 jobs of 10 s on 2 GPUs of 4, every 5 s: 4 GPUs busy of 4 all the time."""
    jobs = [Job(str(i), 5 * i, 10, 2) for i in range(4)]

    assert offered_load(jobs, 4) == 1.0


def test_estimates_err_by_a_lognormal_factor_of_median_1():
    import numpy as np

    jobs = [Job(str(i), i, 100) for i in range(4000)]
    errors = np.log([job.estimate / 100 for job in with_estimates(jobs, 0.5, seed=1)])

    assert abs(np.median(errors)) < 0.03
    assert errors.std() == pytest.approx(0.5, rel=0.05)


def test_openb_is_read_whole_with_its_quirks(openb):
    jobs = read_trace(openb / "openb_pod_list_default.csv")

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
    ran, pending = read_trace(path)

    assert (ran.submit_time, ran.duration, ran.gpu_milli) == (0, 60, 460)
    assert (pending.submit_time, pending.duration) == (50, 20)
    assert pending.gpu_type == "T4|P100"


def test_every_openb_file_with_times_is_read(openb):
    for path in sorted(openb.glob("openb_pod_list_*.csv")):
        if "multigpu" in path.name:
            with pytest.raises(TraceError, match="without times .* cannot be replayed"):
                read_trace(path)
        else:
            assert len(read_trace(path)) > 7000


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
