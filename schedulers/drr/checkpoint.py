"""Saved parameters: safetensors files, which hold arrays and nothing that runs."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from model.errors import UserError
from schedulers.drr.policy import SHAPES, Parameters, fresh

PRETRAINED = Path(__file__).with_name("pretrained.safetensors")


def initial(init_from: str, rng: np.random.Generator) -> Parameters:
    """Return the parameters to start from, by name or from a file.

    ``scratch`` knows nothing of any heuristic (kappa is 0), ``teacher`` what its
    teacher knows and no more, ``pretrained`` is what we ship.
    """
    if init_from == "scratch":
        return fresh(rng, kappa=0.0)
    if init_from == "teacher":
        return fresh(rng)
    return load(PRETRAINED if init_from == "pretrained" else Path(init_from))


def load(path: Path) -> Parameters:
    """Return the parameters of a file.

    Raises
    ------
    UserError
        If there is no such file, it is no safetensors file, or its arrays are not
        those of DRR's network; says which.
    """
    if not path.is_file():
        raise UserError(
            f"--init-from {path}: no such file (or give pretrained, teacher or scratch)"
        )
    try:
        with safe_open(path, framework="numpy") as file:
            found = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise UserError(f"--init-from {path}: no safetensors file ({error})") from error
    for name, shape in SHAPES.items():
        if name not in found or found[name].shape != shape:
            there = found[name].shape if name in found else "missing"
            raise UserError(
                f"--init-from {path}: {name} is {there}, DRR's network needs {shape}"
            )
    return {name: found[name].astype(np.float32) for name in SHAPES}


def saved(parameters: Parameters, about: dict[str, Any]) -> bytes:
    """Return a file's content: the parameters, and text about where they come from."""
    # one text only: safetensors writes several in any order
    text = {"about": json.dumps(about, sort_keys=True)}
    return save({name: np.asarray(v) for name, v in parameters.items()}, text)
