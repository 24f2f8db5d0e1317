"""A small file of each kind of trace, as its publisher writes it."""

import json

CANONICAL = """\
job_id,submit_time,duration,num_gpus,gpu_milli,user
a,0,60,1,250,ann
b,5,600,8,1000,bob
"""
OPENB = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,12000,16384,1,1000,,LS,Running,100,400,150
p1,6000,12288,1,460,V100M16|V100M32,LS,Pending,110,410,
"""
PAI_JOBS = """\
job_id,num_inst,submit_time,num_cpu,num_gpu,gpu_type,duration,user
0,1.0,50,2,0,CPU,34,u0
1,12.0,53,6,0.25,T4,15748,u1
2,1.0,62,5,1,MISC,0,u2
"""
PAI_TASKS = """\
j1,tensorflow,1.0,Terminated,1000.0,1600.0,600.0,29.296875,25.0,T4
j1,ps,2.0,Terminated,1000.0,1600.0,600.0,29.296875,,MISC
j2,worker,3.0,Failed,2000.0,2060.0,600.0,29.296875,150.0,MISC
j3,worker,1.0,Running,3000.0,,600.0,29.296875,100.0,V100
j4,worker,1.0,Terminated,,,600.0,29.296875,100.0,P100
"""
PAI_JOB_TABLE = """\
j1,i1,alice,Terminated,990.0,1600.0
j2,i2,bob,Failed,1000.0,2060.0
j3,i3,bob,Running,2900.0,
j4,i4,carl,Terminated,3000.0,
"""
PAI_INSTANCES = """\
j4,worker,x0,w0,i4,Terminated,3100.0,3160.0,m1
j4,worker,x1,w1,i4,Terminated,3090.0,3150.0,m2
"""
ELASTICFLOW = """\
job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration
e0,1000,45775,resnet50,4000,256,64,2429
e1,1500,11197,gpt2,3500,128,1,1532
"""
PHILLY = json.dumps(
    [
        {
            "status": "Pass", "vc": "6214e9", "jobid": "application_1", "user": "ce2",
            "submitted_time": "2017-10-07 22:36:14",
            "attempts": [
                {"start_time": "2017-10-07 22:36:21", "end_time": "2017-10-07 22:37:21",
                 "detail": [{"ip": "m8", "gpus": ["gpu0", "gpu1"]}]},
                {"start_time": "2017-10-08 01:00:00", "end_time": "2017-10-08 01:01:40",
                 "detail": [{"ip": "m1", "gpus": ["gpu2", "gpu3"]},
                            {"ip": "m2", "gpus": ["gpu0", "gpu1"]}]},
            ],
        },
        {
            "status": "Killed", "vc": "6214e9", "jobid": "application_2", "user": "ce3",
            "submitted_time": "2017-10-07 22:40:14",
            "attempts": [{"start_time": "None", "end_time": None, "detail": []}],
        },
        {
            "status": "Failed", "vc": "6214e9", "jobid": "application_3", "user": "ce2",
            "submitted_time": "2017-10-07 22:46:14",
            "attempts": [
                {"start_time": "2017-10-07 22:50:00", "end_time": "2017-10-07 22:55:00",
                 "detail": [{"ip": "m1", "gpus": ["gpu0"]}]},
            ],
        },
    ]
)  # fmt: skip
HELIOS = """\
job_id,user,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue,vc
h0,uWe,16,64,2,COMPLETED,2020-04-01 00:07:21,2020-04-01 00:07:22,2020-04-01 00:12:22,300,1,vc1
h1,uWe,0,8,1,COMPLETED,2020-04-01 00:08:00,2020-04-01 00:08:01,2020-04-01 00:09:01,60,1,vc1
h2,uXy,1,4,1,CANCELLED,2020-04-01 00:08:30,None,2020-04-01 00:08:40,0,0,vc2
h3,uXy,9,18,2,FAILED,2020-04-01 00:09:21,2020-04-01 00:09:25,2020-04-01 00:10:25,60,4,vc2
"""
SPOT = """\
job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,submit_time,duration,job_type
s0,org1,A10,8,1,1,0,3600,HP
s1,org2,A100-SXM4-80GB,100,8,4,30,7200,Spot
s2,org2,A10,4,0.5,1,60,100,Spot
"""
SWF = """\
; Computer: a cluster
; MaxProcs: 128
1  0  10  600  16 -1 -1  16 3600 -1 1  3 1 -1 1 -1 -1 -1
2 30   0   60   1 -1 -1   1  120 -1 1 -1 1 -1 1 -1 -1 -1
3 40  -1   -1  -1 -1 -1   4  120 -1 5  4 1 -1 1 -1 -1 -1
4 50   0   30  -1 -1 -1   3   -1 -1 0  4 1 -1 1 -1 -1 -1
"""
SLURM = """\
JobID|User|State|Submit|Start|End|ElapsedRaw|NNodes|ReqTRES|AllocTRES
101|ann|COMPLETED|2024-01-01T00:00:00|2024-01-01T00:01:00|2024-01-01T01:01:00|3600|2|billing=64,cpu=64,gres/gpu:a100=16,mem=512G,node=2|billing=64,cpu=64,gres/gpu:a100=16,gres/gpu=16,mem=512G,node=2
101.batch||COMPLETED|2024-01-01T00:01:00|2024-01-01T00:01:00|2024-01-01T01:01:00|3600|1||cpu=32,gres/gpu=8,mem=256G,node=1
102_4|bob|CANCELLED by 1000|2024-01-01T00:02:00|2024-01-01T00:03:00|2024-01-01T00:04:00|60|1|cpu=4,gres/gpu=1,mem=4000M,node=1|cpu=4,gres/gpu=1,mem=4000M,node=1
102_[5-9]|bob|PENDING|2024-01-01T00:02:00|Unknown|Unknown|0|1|cpu=4,gres/gpu=1,mem=4000M,node=1|
103|cem|NODE_FAIL|2024-01-01T00:05:00|2024-01-01T00:06:00|2024-01-01T00:07:00|60|1|cpu=4,gres/gpu=2,mem=1T,node=1|cpu=4,gres/gpu=2,mem=1T,node=1
103|cem|COMPLETED|2024-01-01T00:07:00|2024-01-01T00:08:00|2024-01-01T00:18:00|600|1|cpu=4,gres/gpu=2,mem=1T,node=1|cpu=4,gres/gpu=2,mem=1T,node=1
104|dan|COMPLETED|2024-01-01T00:09:00|2024-01-01T00:10:00|2024-01-01T00:11:00|60|1|cpu=4,mem=8G,node=1|cpu=4,mem=8G,node=1
"""


def pod(name, created, asks, notes=None, start=None, end=None, phase="Succeeded"):
    ended = [{"state": {"terminated": {"finishedAt": end}}}] if end else []
    return {
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml", "creationTimestamp": created,
                     "annotations": notes or {}},
        "spec": {"containers": [{"resources": {"limits": asks}}]},
        "status": {"phase": phase, "startTime": start, "containerStatuses": ended},
    }  # fmt: skip


DAY = "2024-05-01T"
KUBERNETES = json.dumps(
    {
        "items": [
            pod("a", f"{DAY}00:00:00Z", {"nvidia.com/gpu": "4", "cpu": "8"}, None,
                f"{DAY}00:00:10Z", f"{DAY}00:10:10Z"),
            pod("b", f"{DAY}00:01:00Z", {}, {"gpu-fraction": "0.5"},
                f"{DAY}00:01:10Z", None, "Running"),
            pod("c", f"{DAY}00:02:00Z", {"nvidia.com/mig-2g.10gb": "1"}, None,
                f"{DAY}00:02:00Z", f"{DAY}00:03:00Z"),
            pod("d", f"{DAY}00:03:00Z", {"nvidia.com/gpu": "1"}, None, None, None,
                "Pending"),
            pod("e", f"{DAY}00:04:00Z", {"cpu": "1"}, None, f"{DAY}00:04:00Z",
                f"{DAY}00:05:00Z"),
        ]
    }
)  # fmt: skip

FILES = {
    "canonical": ("jobs.csv", CANONICAL),
    "openb": ("pods.csv", OPENB),
    "pai-jobs": ("pai.csv", PAI_JOBS),
    "pai-tables": ("pai_task_table.csv", PAI_TASKS),
    "elasticflow": ("cluster01.csv", ELASTICFLOW),
    "philly": ("cluster_job_log", PHILLY),
    "helios": ("cluster_log.csv", HELIOS),
    "spot": ("job_info_df.csv", SPOT),
    "swf": ("log.swf", SWF),
    "slurm": ("sacct.txt", SLURM),
    "kubernetes": ("pods.json", KUBERNETES),
}
JOBS = {  # how many jobs each of them has
    "canonical": 2, "openb": 2, "pai-jobs": 3, "pai-tables": 2, "elasticflow": 2,
    "philly": 2, "helios": 2, "spot": 3, "swf": 3, "slurm": 3, "kubernetes": 3,
}  # fmt: skip


def write_sample(folder, name):
    """Write the file of a format; return its path."""
    file, text = FILES[name]
    path = folder / file
    path.write_text(text)
    return path
