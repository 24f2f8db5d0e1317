"""run.py trace: what is described, converted, generated and preprocessed."""

import numpy as np
import pytest
import samples
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clusterdata.formats.canonical import to_csv
from clusterdata.formats.parquet import to_parquet
from clusterdata.generator import generate
from clusterdata.preprocess import find_raw, preprocess
from clusterdata.registry import read_trace
from model.config import Settings
from model.errors import UserError
from model.job import Job


def test_describe_tells_sizes_times_and_load(trace, tmp_path):
    """Two jobs, 5 s apart: 0.25 x 60 + 8 x 600 GPU-s, half of it a second job's."""
    path = samples.write_sample(tmp_path, "canonical")
    code, out, _ = trace("describe", path, "--num-node", 1, "--out", tmp_path)

    assert code == 0
    assert "jobs          2\n" in out
    assert "GPU-seconds   4,815 (mean 2,408 a job)" in out
    assert "offered load  60.188 of 8 GPUs" in out  # 2407.5 GPU-s each 5 s / 8 GPUs
    assert "0.25-0.49" in out
    assert (tmp_path / "jobs-trace.png").stat().st_size > 10_000


def test_describe_holds_a_trace_against_the_generator(trace, tmp_path):
    """The generator's own jobs are at a distance of nothing but chance."""
    drawn = Settings(duration_range="off", target_load="off", seed=1, num_jobs=5000)
    path = tmp_path / "drawn.csv"
    path.write_bytes(to_csv(generate(drawn)))
    code, out, _ = trace("describe", path, "--against", "native", "--out", tmp_path)

    assert code == 0
    (line,) = [line for line in out.splitlines() if line.startswith("request mix ")]
    assert float(line.split()[-1]) < 0.02
    assert trace("describe", path, "--against", "nature")[0] == 2


@pytest.mark.parametrize("name", samples.FILES)
@pytest.mark.parametrize("to", ["out.csv", "out.csv.gz", "out.parquet"])
def test_every_format_converts_to_ours_and_back(trace, tmp_path, name, to):
    if to.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = samples.write_sample(tmp_path, name)
    code, out, _ = trace("convert", path, tmp_path / to)

    assert code == 0
    assert f"{samples.JOBS[name]} jobs: " in out
    assert read_trace(tmp_path / to).jobs == sorted(
        read_trace(path).jobs, key=lambda job: job.submit_time
    )


def test_convert_refuses_what_it_cannot_write(trace, tmp_path):
    path = samples.write_sample(tmp_path, "canonical")

    code, _, err = trace("convert", path, tmp_path / "out.xlsx")
    assert (code, "must end in .csv, .csv.gz or .parquet" in err) == (2, True)
    assert trace("convert", path, path / "out.csv")[0] == 2


whole = st.builds(dict, num_gpus=st.integers(1, 8), gpu_milli=st.just(1000))
share = st.builds(dict, num_gpus=st.just(1), gpu_milli=st.integers(1, 999))
bare = st.just({"num_gpus": 0, "gpu_milli": 0})
seconds = st.floats(0, 1e12, allow_nan=False)
words = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")),
    max_size=8,
)
jobs_drawn = st.lists(
    st.builds(
        lambda gpus, **rest: {**gpus, **rest},
        st.one_of(whole, share, bare),
        submit_time=seconds,
        duration=seconds,
        cpu_milli=st.integers(0, 2**53),
        memory_mib=st.integers(0, 2**53),
        gpu_type=words,
        num_workers=st.integers(1, 65_536),
        user=words,
        deadline=st.none() | seconds,
        job_class=words,
        estimated_duration=st.none() | seconds,
    ),
    min_size=1,
    max_size=5,
)


@settings(
    max_examples=150, deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)  # fmt: skip
@given(jobs_drawn)
def test_jobs_survive_csv_and_parquet(tmp_path, drawn):
    pytest.importorskip("pyarrow")
    jobs = [Job(f"j{i}", **one) for i, one in enumerate(drawn)]
    (tmp_path / "t.csv").write_bytes(to_csv(jobs))
    (tmp_path / "t.parquet").write_bytes(to_parquet(jobs))

    assert read_trace(tmp_path / "t.csv", "canonical").jobs == jobs
    assert read_trace(tmp_path / "t.parquet").jobs == jobs


def test_generate_with_the_durations_of_a_file(trace, tmp_path):
    path, to = tmp_path / "runtimes.csv", tmp_path / "jobs.csv"
    path.write_text("runtime\n0\n120\n240\n7\n")
    code, _, err = trace("generate", to, "--durations", path, "--num-jobs", 200)

    assert code == 0
    assert "1 row left out: run time 0" in err
    assert {job.duration for job in read_trace(to).jobs} == {120, 240}  # 60 s or more
    code, _, err = trace("generate", to, "--durations", path, "--duration-range", "1-2")
    assert (code, "none is from 1 to 2 s" in err) == (2, True)


def test_generate_has_gangs_deadlines_and_estimates(trace, tmp_path):
    to = tmp_path / "jobs.csv"
    asked = ("--gangs", True, "--duration-error", 1, "--arrivals", "bursty")
    assert trace("generate", to, "--num-jobs", 300, *asked)[0] == 0
    jobs = read_trace(to).jobs

    assert 0.1 < np.mean([job.num_workers > 1 for job in jobs]) < 0.35
    assert all(job.deadline > job.submit_time for job in jobs)
    assert all(job.job_class for job in jobs)
    assert any(job.estimate != job.duration for job in jobs)


def raw_jobs(number):
    return [
        Job(f"{i}", float(i), 100.0 + i, 1, 500 if i % 2 else 1000)
        for i in range(number)
    ]


def test_preprocess_filters_samples_and_mixes():
    raw = [Job("cpu", 0, 100, 0, 0), Job("short", 0, 5), *raw_jobs(100)]
    made = preprocess(raw, Settings(), num_jobs=50)

    assert len(made["filtered"]) == 100
    assert len({job.job_id for job in made["sampled"]}) == 50
    for share in (0.2, 0.6):
        jobs = made[f"share_{share}"]
        assert sum(job.gpu_milli == 500 for job in jobs) == 50 * share
        assert len({job.job_id for job in jobs}) == 50
        times = [job.submit_time for job in jobs]
        assert times == sorted(times)
        assert times[0] == 0
    again = preprocess(raw, Settings(), num_jobs=300)["share_0.6"]
    assert len({job.job_id for job in again}) == 300  # drawn again under other names
    with pytest.raises(UserError, match="all or none share a GPU"):
        preprocess([job for job in raw if job.gpu_milli == 1000], Settings())


def test_preprocess_reads_raw_files_of_each_kind(trace, tmp_path):
    raw, out = tmp_path / "raw", tmp_path / "out"
    raw.mkdir()
    assert find_raw(raw) is None
    header = "job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration,user\n"
    rows = "".join(f"{i},1,{i},6,{0.5 if i % 2 else 1},T4,90,u\n" for i in range(40))
    (raw / "trace.txt").write_text("Download the trace from its publisher.\n")
    code, _, err = trace("preprocess", "--raw", raw, "--out", out, "--num-jobs", 100)
    assert (code, "the generator stands in" in err) == (0, True)
    (raw / "trace.txt").write_text(header + rows)
    assert trace("preprocess", "--raw", raw, "--out", out)[0] == 0
    assert len(read_trace(out / "filtered_traces.csv").jobs) == 40
    (raw / "pai_job_no_estimate_100K.csv").write_text(header + rows[: rows.index("9,")])
    assert trace("preprocess", "--raw", raw, "--out", out)[0] == 0
    assert len(read_trace(out / "filtered_traces.csv").jobs) == 9


def test_the_command_names_its_parts(trace):
    assert "slurm" in trace("formats")[1]
    assert trace()[0] == 0
    code, _, err = trace("describ", "x")
    assert (code, 'did you mean "describe"' in err) == (2, True)
