"""Traces in, jobs out; and every way in which a file can be wrong."""

import pytest

from clusterdata.formats.canonical import to_csv
from clusterdata.registry import read_trace
from clusterdata.table import Table
from model.errors import TraceError
from model.job import Job

HEADER = "job_id,submit_time,duration,num_gpus,gpu_milli"


@pytest.fixture
def trace(tmp_path):
    """Write a trace of the lines given and read it."""

    def read(*lines, header=HEADER, encoding="utf-8", newline="\n"):
        path = tmp_path / "trace.csv"
        path.write_bytes((newline.join([header, *lines]) + newline).encode(encoding))
        return read_trace(path).jobs

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
        ("a,0,5,1", "line 3: has 4 fields, not 5"),
        ("a,0,5,1,1000,9", "line 3: has 6 fields, not 5"),
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
    with pytest.raises(TraceError, match="latin.csv: is not UTF-8"):
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


def test_a_canonical_trace_survives_a_round_trip(tmp_path):
    jobs = [
        Job("a", 0.1, 1 / 3, 2, 1000, 500, 7, "T4", 3, "u", 5.5, "bert", 2.5),
        Job("b", 1e6, 0, 0, 0),
    ]
    (tmp_path / "t.csv").write_bytes(to_csv(jobs))

    assert read_trace(tmp_path / "t.csv").jobs == jobs
