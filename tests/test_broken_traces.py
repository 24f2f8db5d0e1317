"""Broken traces of every format: a clear error that says where, or a counted repair."""

import gzip
import random

import pytest
import samples

from clusterdata.registry import read_trace
from clusterdata.report import Report
from model.errors import TraceError
from run import main

HUGE = "9" * 400
BROKEN = [
    # format, what is replaced, by what, and what the error says
    ("canonical", "60", "soon", "line 2, column 'duration': 'soon' is not a finite"),
    ("canonical", "60", "-60", "line 2, column 'duration': '-60'"),
    ("canonical", "60", HUGE, "line 2, column 'duration': '9999"),
    ("canonical", "8,1000", "8,500", "line 3, column 'gpu_milli': '500' is not 1000"),
    ("canonical", "b,5", "a,5", "line 3, column 'job_id': 'a' is not unique: line 2"),
    ("canonical", "submit_time", "submit", "no column 'submit_time'.*\"submit\""),
    ("openb", "400", "50", "line 2, column 'deletion_time': '50' is not at or after"),
    ("openb", "460", "1460", "line 3, column 'gpu_milli': '1460'"),
    ("openb", "12000", "12e3x", "line 2, column 'cpu_milli': '12e3x'"),
    ("openb", "qos", "quality", "unknown column 'quality'"),
    ("openb", ",creation_time", ",born", "unknown column 'born'; known are"),
    ("pai-jobs", "12.0", "0", "line 3, column 'num_inst': '0'"),
    ("pai-jobs", "12.0", "1.5", "line 3, column 'num_inst': '1.5' is not a whole"),
    ("pai-jobs", "0.25", "quarter", "line 3, column 'num_gpu': 'quarter'"),
    ("pai-jobs", "15748", "nan", "line 3, column 'duration': 'nan'"),
    ("pai-jobs", "\n1,", "\n,", "line 3, column 'job_id': '' is not an id"),
    ("pai-jobs", "num_cpu", "cpus", "no column 'num_cpu'"),
    ("pai-tables", "25.0,T4", "a lot,T4", "line 1, column 'plan_gpu': 'a lot'"),
    ("pai-tables", "1000.0,1600", "then,1600", "line 1, column 'start_time': 'then'"),
    ("pai-tables", "3.0,Failed", "-3.0,Failed", "line 3, column 'inst_num': '-3.0'"),
    ("pai-tables", ",T4", ",T4,more", "Expected 10 fields|fields"),
    ("elasticflow", ",64,", ",none,", "line 2, column 'num_gpu': 'none'"),
    ("elasticflow", ",64,", ",0,", "line 2, column 'num_gpu': '0'"),
    ("elasticflow", "4000", "tomorrow", "line 2, column 'deadline': 'tomorrow'"),
    ("elasticflow", "submission_time", "time", "no column 'submission_time'"),
    ("elasticflow", "e1", "e0", "line 3, column 'job_id': 'e0' is not unique"),
    ("philly", '"attempts"', '"tries"', "no column|item 1: .*no 'attempts'|no known"),
    ("philly", "2017-10-07 22:36:14", "yesterday", "item 1, column 'submitted_time'"),
    ("philly", "2017-10-07 22:36:21", "morning", "item 1: .*Invalid isoformat"),
    ("philly", '["gpu0", "gpu1"]', "2", "item 1: is no job of Philly"),
    ("philly", "application_2", "application_1", "item 2, .*not unique: item 1 has"),
    ("philly", "[{", "[", "is not JSON|no known format"),
    ("helios", "300,1", "long,1", "line 2, column 'duration': 'long'"),
    ("helios", "COMPLETED", "DONE", "line 2, column 'state': 'DONE' is not one of"),
    ("helios", "2020-04-01 00:07:21", "1/4/20", "line 2, column 'submit_time'"),
    ("helios", "uWe,16", "uWe,x", "line 2, column 'gpu_num': 'x'"),
    ("helios", "cpu_num", "cores", "no column 'cpu_num'"),
    ("spot", "3600", "", "line 2, column 'duration': ''"),
    ("spot", "8,1,1", "8,1,none", "line 2, column 'worker_num': 'none'"),
    ("spot", "100,8,4", "100,-8,4", "line 3, column 'gpu_request': '-8'"),
    ("spot", "organization", "organisation", 'no column .organization.*is it "organis'),
    ("swf", "600  16", "600", "line 3: has 17 fields, not 18"),
    ("swf", "3600", "hour", "line 3, column 'requested_time': 'hour'"),
    ("swf", "2 30", "1 30", "line 4, column 'job': '1' is not unique: line 3"),
    ("slurm", "|3600|2|", "|ages|2|", "line 2, column 'ElapsedRaw': 'ages'"),
    ("slurm", "Submit", "Sent", "no column 'Submit'"),
    ("slurm", "2024-01-01T00:02:00|2024", "noon|2024", "line 4, .*'Submit': 'noon'"),
    ("slurm", "JobID|", "Job|", "no column 'JobID'.*is it \"Job\""),
    ("slurm", "102_4", "", "line 4, column 'JobID': '' is not an id"),
    ("kubernetes", '"4"', '"four"', "Pod a: 'four' must be a number"),
    ("kubernetes", '"0.5"', '"1.5"', "Pod b: a share of 1.5 GPUs must be from 0 to 1"),
    ("kubernetes", '"limits": {"nvidia', '"limits": [{"nvidia', "is not the JSON"),
    ("kubernetes", "00:00:10Z", "dawn", "Pod a: Invalid isoformat"),
    ("kubernetes", '"namespace"', '"space"', "Pod a: no 'namespace'"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "message"), BROKEN)
def test_a_broken_file_is_named_by_place_and_rule(
    tmp_path, capsys, name, old, new, message
):
    path = samples.write_sample(tmp_path, name)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))

    with pytest.raises(TraceError, match=message) as error:
        read_trace(path)
    assert str(path) in str(error.value)
    assert main(["trace", "validate", str(path)]) == 2
    printed = capsys.readouterr()
    assert "Traceback" not in printed.out + printed.err


@pytest.mark.parametrize("name", samples.FILES)
@pytest.mark.parametrize(
    "breaking",
    [
        lambda data: b"",
        lambda data: data[: len(data) // 2],
        lambda data: data + b"\xff\xfe\x00",
        lambda data: data.replace(b"1", b"\x00"),
        lambda data: gzip.compress(data),  # without the ending that says so
        lambda data: data[::-1],
        lambda data: data.replace(b",", b";").replace(b"|", b"\t"),
    ],
    ids=["empty", "half", "not text", "zeros", "packed", "reversed", "separators"],
)
def test_whatever_happens_to_a_file_there_is_no_traceback(
    tmp_path, capsys, name, breaking
):
    path = samples.write_sample(tmp_path, name)
    path.write_bytes(breaking(path.read_bytes()))
    code = main(["trace", "validate", str(path)])
    printed = capsys.readouterr()

    assert code in (0, 2)
    assert "Traceback" not in printed.out + printed.err
    try:
        jobs = read_trace(path).jobs
    except TraceError:
        assert code == 2
    else:
        assert code == 0
        assert len(jobs) <= samples.JOBS[name]


@pytest.mark.parametrize("packed", ["jobs.csv.gz", "jobs.tar.gz", "jobs.csv.zst"])
def test_damaged_archives_are_named(tmp_path, packed):
    if packed.endswith("zst"):
        pytest.importorskip("zstandard")
    path = tmp_path / packed
    path.write_bytes(gzip.compress(samples.CANONICAL.encode() * 50)[:-20])

    with pytest.raises(TraceError, match=packed):
        read_trace(path)


def test_validate_lists_every_problem_and_how_often(tmp_path, capsys):
    path = tmp_path / "many.csv"
    rows = [f"j{i},0,{-1 if i % 2 else 5},1,{1001 if i % 3 == 0 else 1000}"
            for i in range(60)]  # fmt: skip
    path.write_text("\n".join([samples.CANONICAL.split("\n")[0][:-5], *rows]) + "\n")

    assert main(["trace", "validate", str(path)]) == 2
    out = capsys.readouterr().out
    assert "20 jobs, 0 rows left out, 0 repaired, 50 problems" in out
    assert "line 3, column 'duration': '-1' is not" in out
    assert "... and 30 more" in out
    assert "      20 x not a finite number of at least 0 and at most 1000" in out


@pytest.mark.parametrize("name", samples.FILES)
def test_random_byte_flips_never_crash(tmp_path, name):
    flip(tmp_path, name, 50)


@pytest.mark.slow
@pytest.mark.parametrize("name", samples.FILES)
def test_eleven_thousand_flipped_files_never_crash(tmp_path, name):
    flip(tmp_path, name, 1000)


def flip(tmp_path, name, number):
    """Read files with random bytes: jobs, or an error of ours."""
    path = samples.write_sample(tmp_path, name)
    good, rng = path.read_bytes(), random.Random(name)
    refused = 0
    for _ in range(number):
        data = bytearray(good)
        for _ in range(rng.choice([1, 1, 2, 8])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        path.write_bytes(data)
        report = Report(collect=True)
        try:
            jobs = read_trace(path, report=report).jobs
        except TraceError:
            refused += 1
        else:
            assert report.problems or all(job.duration >= 0 for job in jobs)

    assert 0 < refused < number
