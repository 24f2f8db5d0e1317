"""Linear scorers that DRR can start from, by name or from a file."""

import json
import math
from pathlib import Path

from model.errors import UserError
from schedulers.drr.kernel import FEATURES, weights_of
from schedulers.drr.state import Floats
from schedulers.drr.tuned import tuned_weights

TEACHERS = {
    "BestFit": {"node_free": 8.0, "gpu_left": 0.1},
    "FGD": {"growth": 1.0},  # the plain growth, for all kinds of job
    "LifetimeAligned": {"growth": 1.0, "node_outlives": 1.0},
}

UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError, OverflowError,
              RecursionError)  # fmt: skip


def teacher_weights(name: str) -> Floats:
    """Return the weights of a teacher; any other name is a tuned.json of `train`.

    >>> teacher_weights("FGD")[0]
    np.float64(1.0)

    Raises
    ------
    UserError
        If there is no such teacher, nor such a file.
    """
    by_name = {known.lower(): weights for known, weights in TEACHERS.items()}
    if name.lower() == "tunedlinear":
        return tuned_weights()
    if name.lower() in by_name:
        return weights_of(by_name[name.lower()])
    if not Path(name).is_file():
        known = ", ".join([*TEACHERS, "TunedLinear"])
        raise UserError(f"--teacher {name}: must be one of {known}, or a file")
    return _from_file(Path(name))


def _from_file(path: Path) -> Floats:
    try:
        weights = json.loads(path.read_text())["weights"]
        unknown = [feature for feature in weights if feature not in FEATURES]
        found = weights_of(weights)
    except UNREADABLE as error:
        raise UserError(
            f'--teacher {path}: must be JSON with "weights", a number for each feature'
        ) from error
    if unknown or not all(map(math.isfinite, found)):
        what = f"unknown {unknown[0]}" if unknown else "a weight that is not finite"
        raise UserError(f"--teacher {path}: {what}; features: {', '.join(FEATURES)}")
    return found
