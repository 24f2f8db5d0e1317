"""Each kind of trace becomes the jobs that its publisher means; hand-computed."""

import pytest
import samples

from clusterdata.registry import FORMATS, read_trace, sniff
from clusterdata.report import LEFT_OUT, REPAIRED, Report
from model.errors import TraceError, UserError


@pytest.fixture
def read(tmp_path):
    """Read the sample of a format; return its jobs by id, and the report."""

    def run(name, how="auto", replace=()):
        path = samples.write_sample(tmp_path, name)
        if replace:
            path.write_text(path.read_text().replace(*replace))
        trace = read_trace(path, how)
        return {job.job_id: job for job in trace.jobs}, trace.report

    return run


def shape(job):
    return (job.num_workers, job.num_gpus, job.gpu_milli)


@pytest.mark.parametrize("name", samples.FILES)
def test_each_format_is_recognised_and_loses_no_row_unseen(tmp_path, name):
    path = samples.write_sample(tmp_path, name)
    trace = read_trace(path)

    assert trace.format.name == name
    assert len(trace.jobs) == samples.JOBS[name]
    assert min(job.submit_time for job in trace.jobs) == 0.0
    named = read_trace(path, name)
    assert named.jobs == trace.jobs


def test_every_format_has_a_sample_or_is_tested_by_itself():
    assert {*FORMATS} == {*samples.FILES, "parquet", "durations"}


def test_openb_pods_without_a_start_are_reported(read):
    jobs, report = read("openb")

    assert (jobs["p0"].submit_time, jobs["p0"].duration) == (0, 250)
    assert (jobs["p1"].submit_time, jobs["p1"].duration) == (10, 300)
    assert report.total(REPAIRED) == 1


def test_pai_jobs_are_gangs_unless_asked_otherwise(read):
    jobs, report = read("pai-jobs")

    assert shape(jobs["0"]) == (1, 0, 0)
    assert shape(jobs["1"]) == (12, 1, 250)
    assert jobs["1"].gpu_type == "T4"
    assert (jobs["1"].submit_time, jobs["1"].cpu_milli) == (3, 6000)
    assert (jobs["2"].duration, jobs["2"].gpu_type) == (1, "")
    (line,) = report.lines()
    assert line.endswith("1 row repaired: duration 0 counts as 1 s (first: line 4)")
    single, _ = read("pai-jobs", "pai-jobs:gangs=false")
    assert shape(single["1"]) == (1, 1, 250)


def test_pai_jobs_without_times_say_so(tmp_path):
    path = tmp_path / "pai.csv"
    path.write_text("job_id,num_inst,num_cpu,num_gpu,gpu_type,duration\n1,1,6,1,T4,9\n")

    assert read_trace(path).report.timed is False


def test_pai_tables_join_jobs_and_instances(tmp_path):
    samples.write_sample(tmp_path, "pai-tables")
    (tmp_path / "pai_job_table.csv").write_text(samples.PAI_JOB_TABLE)
    (tmp_path / "pai_instance_table.csv").write_text(samples.PAI_INSTANCES)
    trace = read_trace(tmp_path)
    jobs = {job.job_id: job for job in trace.jobs}

    assert {*jobs} == {"j1/tensorflow", "j2/worker", "j4/worker"}
    first = jobs["j1/tensorflow"]
    assert (first.submit_time, first.duration, first.user) == (0, 600, "alice")
    assert (shape(first), first.cpu_milli, first.memory_mib) == (
        (1, 1, 250),
        6000,
        30000,
    )
    assert (jobs["j2/worker"].submit_time, shape(jobs["j2/worker"])) == (
        10,
        (3, 2, 1000),
    )
    assert (jobs["j4/worker"].submit_time, jobs["j4/worker"].duration) == (2010, 70)
    assert trace.report.total(LEFT_OUT) == 2  # no GPU, still running
    assert trace.report.total(REPAIRED) == 2  # 1.5 GPUs, times of the instances


def test_elasticflow_counts_times_and_deadlines_from_the_first_submission(read):
    jobs, _ = read("elasticflow")

    assert shape(jobs["e0"]) == (8, 8, 1000)
    assert (jobs["e0"].deadline, jobs["e0"].job_class) == (3000, "resnet50")
    assert (jobs["e1"].submit_time, jobs["e1"].deadline) == (500, 2500)


def test_philly_attempts_are_one_run(read):
    jobs, report = read("philly")

    first = jobs["application_1"]
    assert (first.submit_time, first.duration, first.user) == (0, 160, "ce2")
    assert shape(first) == (2, 2, 1000)
    assert (jobs["application_3"].submit_time, jobs["application_3"].duration) == (
        600,
        300,
    )
    assert (report.total(LEFT_OUT), report.total(REPAIRED)) == (1, 1)


def test_helios_jobs_are_split_over_their_nodes(read):
    jobs, report = read("helios")

    assert (shape(jobs["h0"]), jobs["h0"].cpu_milli) == ((2, 8, 1000), 32_000)
    assert shape(jobs["h3"]) == (3, 3, 1000)  # 9 GPUs on 2 nodes cannot be equal
    assert (jobs["h3"].submit_time, jobs["h3"].duration) == (120, 60)
    assert (report.total(LEFT_OUT), report.total(REPAIRED)) == (2, 1)
    assert shape(read("helios", "helios:cpu=true")[0]["h1"]) == (1, 0, 0)


def test_spot_jobs(read):
    jobs, _ = read("spot")

    assert (shape(jobs["s1"]), jobs["s1"].gpu_type) == ((4, 8, 1000), "A100-SXM4-80GB")
    assert shape(jobs["s2"]) == (1, 1, 500)
    assert (jobs["s0"].user, jobs["s0"].job_class) == ("org1", "HP")


def test_swf_processors_stand_for_gpus(read):
    jobs, report = read("swf")

    assert shape(jobs["1"]) == (2, 8, 1000)
    assert shape(jobs["4"]) == (1, 3, 1000)  # what was asked for
    assert (jobs["1"].user, jobs["2"].user) == ("3", "")
    assert jobs["1"].estimate == 600
    assert report.total(LEFT_OUT) == 1
    asked, _ = read("swf", "swf:gpus_per_worker=4,estimates=requested")
    assert shape(asked["1"]) == (4, 4, 1000)
    assert (asked["1"].estimate, asked["4"].estimate) == (3600, 30)


def test_slurm_accounting(read):
    jobs, report = read("slurm")

    assert {*jobs} == {"101", "102_4", "103"}
    first = jobs["101"]
    assert (shape(first), first.gpu_type, first.user) == ((2, 8, 1000), "a100", "ann")
    assert (first.cpu_milli, first.memory_mib, first.duration) == (
        32_000,
        262_144,
        3600,
    )
    assert (jobs["102_4"].duration, jobs["102_4"].memory_mib) == (60, 4000)
    requeued = jobs["103"]
    assert (requeued.submit_time, requeued.duration) == (300, 600)
    assert requeued.memory_mib == 2**20
    assert report.total(LEFT_OUT) == 4  # a step, a pending array, an attempt, no GPU


@pytest.mark.parametrize(
    ("shards", "asked", "wanted"),
    [(8, 2, (1, 250)), (4, 4, (1, 1000)), (4, 8, (2, 1000))],
)
def test_slurm_shards_need_to_know_how_many_make_a_gpu(read, shards, asked, wanted):
    change = ("gres/gpu=1,", f"gres/shard={asked},")
    with pytest.raises(TraceError, match="line 4, .*how many shards make a GPU"):
        read("slurm", replace=change)
    jobs, _ = read("slurm", f"slurm:shards={shards}", replace=change)

    assert shape(jobs["102_4"]) == (1, *wanted)


def test_slurm_elapsed_as_days_hours_minutes_seconds(tmp_path):
    path = tmp_path / "s.txt"
    rows = ["1-02:03:04", "02:03:04", "03:04"]
    lines = [f"{i}|2024-01-01T00:00:00|{t}|gres/gpu=1" for i, t in enumerate(rows)]
    path.write_text("\n".join(["JobID|Submit|Elapsed|AllocTRES", *lines]))

    assert [job.duration for job in read_trace(path).jobs] == [93_784, 7384, 184]


def test_kubernetes_pods(read):
    jobs, report = read("kubernetes")

    assert (shape(jobs["ml/a"]), jobs["ml/a"].duration) == ((1, 4, 1000), 600)
    assert shape(jobs["ml/b"]) == (1, 1, 500)
    assert jobs["ml/b"].duration == 540  # until 00:10:10, the newest time
    assert shape(jobs["ml/c"]) == (1, 1, 286)  # two sevenths
    assert jobs["ml/c"].submit_time == 120
    assert (report.total(LEFT_OUT), report.total(REPAIRED)) == (2, 1)


def test_hami_memory_needs_the_size_of_a_gpu(tmp_path):
    asks = {"nvidia.com/gpu": "1", "nvidia.com/gpumem": "8000"}
    one = samples.pod("h", f"{samples.DAY}00:00:00Z", asks, None,
                      f"{samples.DAY}00:00:00Z", f"{samples.DAY}00:01:00Z")  # fmt: skip
    path = tmp_path / "pods.json"
    path.write_text(samples.json.dumps({"items": [one]}))
    with pytest.raises(TraceError, match=r"Pod h: asks for 8000 MiB of a GPU"):
        read_trace(path)
    node = {"kind": "Node", "metadata": {"labels": {"nvidia.com/gpu.memory": "40000"}}}
    path.write_text(samples.json.dumps({"items": [node, one]}))

    assert shape(read_trace(path).jobs[0]) == (1, 1, 200)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ("slrum", 'no such format .did you mean "slurm"'),
        ("slurm:shard=2", "its options are shards=..., cpu=..."),
        ("openb:x=1", "its options are none"),
        ("swf:gpus_per_worker=0", "must be at least 1"),
        ("swf:gpus_per_worker=\u00b2", "must be at least 1"),
        ("slurm:shards=-1", "must be at least 1"),
        ("slurm:shards=00", "must be at least 1"),
        ("pai-jobs:gangs=no", "must be true or false"),
        ("swf:estimates=request", "must be exact or requested"),
    ],
)
def test_wrong_names_of_formats_and_options(tmp_path, how, message):
    name = how.partition(":")[0]
    path = samples.write_sample(tmp_path, name if name in samples.FILES else "openb")
    with pytest.raises(UserError, match=message):
        read_trace(path, how, Report())


def test_what_is_like_no_format_says_which_there_are(tmp_path):
    (tmp_path / "poem.txt").write_text("Shall I compare thee\nto a summer's day?\n")

    with pytest.raises(
        TraceError, match="is like no known format; there are canonical"
    ):
        sniff(tmp_path / "poem.txt")
