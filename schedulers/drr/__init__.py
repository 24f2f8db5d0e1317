"""DRR: a learned policy, looked ahead with, for placing jobs (SoCC 2025, our design).

The public record of DRR (doi 10.1145/3772052.3772242) is its abstract and its command
line; what is here is our own design behind the published flags.

    state.py      what is free and until when
    kernel.py     where a job fits and how good that is, by fourteen features; compiled
    forward.py    the queue as it would go on from here; compiled
    view.py      the arrays that both need, following the cluster
"""
