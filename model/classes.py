"""Classes of training jobs: how they scale, and what spreading them over nodes costs.

Iteration time at a fixed global batch, relative to one GPU:

    tau(g) = f + (1 - f) / g + [g > 8] (c2 + c3 log2(g / 8))

Amdahl's law with an exposed fraction f, plus a penalty beyond one node; fitted to the
public A100 throughput tables of ElasticFlow (Gu et al., ASPLOS 2023), RMS log error 1.3
to 4.2 %. Sensitivity to placement (rho, Hops, SoCC 2024) is an assumption: models with
many parameters suffer most.
"""

from math import log2
from typing import NamedTuple

NODE = 8  # GPUs of the nodes on which the curves were measured


class JobClass(NamedTuple):
    """How one class of jobs uses several GPUs.

    Attributes
    ----------
    f, c2, c3 : the parameters of tau.
    most : GPUs beyond which it is not worth going.
    rho : how much longer the job takes with its GPUs spread over nodes.
    """

    f: float
    c2: float
    c3: float
    most: int
    rho: float

    def speedup(self, num_gpus: int) -> float:
        """Return the speed on so many GPUs, relative to one.

        >>> JOB_CLASSES["vgg16-b256"].speedup(1)
        1.0
        """
        tau = self.f + (1 - self.f) / num_gpus
        if num_gpus > NODE:
            tau += self.c2 + self.c3 * log2(num_gpus / NODE)
        return 1 / tau


JOB_CLASSES = {
    "vgg16-b256": JobClass(0.045, 0.0, 0.002, 64, 1.5),
    "vgg16-b128": JobClass(0.076, 0.009, 0.001, 64, 1.5),
    "vgg16-b64": JobClass(0.139, 0.0, 0.004, 32, 1.5),
    "resnet50-b256": JobClass(0.057, 0.0, 0.008, 64, 1.1),
    "resnet50-b128": JobClass(0.108, 0.005, 0.017, 64, 1.1),
    "resnet50-b64": JobClass(0.204, 0.037, 0.023, 32, 1.1),
    "deepspeech2-b64": JobClass(0.095, 0.008, 0.0, 64, 1.2),
    "deepspeech2-b32": JobClass(0.189, 0.0, 0.0, 32, 1.2),
    "inception3-b128": JobClass(0.120, 0.001, 0.024, 32, 1.1),
    "inception3-b64": JobClass(0.247, 0.031, 0.026, 16, 1.1),
    "gpt2-b256": JobClass(0.148, 0.0, 0.029, 32, 1.7),
    "gpt2-b128": JobClass(0.279, 0.0, 0.048, 16, 1.7),
    "bert-b128": JobClass(0.251, 0.0, 0.035, 16, 1.5),
    "bert-b64": JobClass(0.456, 0.0, 0.058, 8, 1.5),
}
OTHER = JOB_CLASSES["resnet50-b128"]


def class_of(name: str) -> JobClass:
    """Return a class by its name, a middling one if it is not known."""
    return JOB_CLASSES.get(name, OTHER)
