"""Linear scorers that DRR can start from, by name."""

from model.errors import UserError
from schedulers.drr.kernel import weights_of
from schedulers.drr.state import Floats
from schedulers.drr.tuned import tuned_weights

TEACHERS = {
    "BestFit": {"node_free": 8.0, "gpu_left": 0.1},
    "FGD": {"growth": 1.0},  # the plain growth, for all kinds of job
    "LifetimeAligned": {"growth": 1.0, "node_outlives": 1.0},
}


def teacher_weights(name: str) -> Floats:
    """Return the weights of a teacher; TunedLinear's are read from its file.

    >>> teacher_weights("FGD")[0]
    np.float64(1.0)

    Raises
    ------
    UserError
        If there is no such teacher.
    """
    by_name = {known.lower(): weights for known, weights in TEACHERS.items()}
    if name.lower() == "tunedlinear":
        return tuned_weights()
    if name.lower() not in by_name:
        known = ", ".join([*TEACHERS, "TunedLinear"])
        raise UserError(f"--teacher {name}: must be one of {known}")
    return weights_of(by_name[name.lower()])
