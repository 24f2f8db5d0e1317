"""DRR: a learned policy, looked ahead with, for placing jobs (SoCC 2025, our design).

The public record of DRR (doi 10.1145/3772052.3772242) is its abstract and its command
line; what is here is our own design behind the published flags.

    scheduler.py  DRR: proposes, looks ahead, decides
    observation.py, policy.py    what the network sees, and says; in NumPy
    network.py, batch.py, update.py, training.py    how it learns; in torch
    experience.py, checkpoint.py    what passes between decisions, learner and files
    tuned.py, teachers.py, search.py    linear scorers, and how they are tuned
    compiled.py   how functions are compiled and kept
    state.py      what is free and until when
    kernel.py     where a job fits and how good that is, by fourteen features; compiled
    forward.py    the queue as it would go on from here; compiled
    heap.py      a heap of ends; compiled
    line.py      the jobs that wait, as arrays
    view.py      the arrays that both need, following the cluster
"""
