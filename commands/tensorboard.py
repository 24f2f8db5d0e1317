"""What DRR learned, for TensorBoard: ``run.py --tensorboard``."""

from pathlib import Path

from analysis.run_folder import Run
from model.errors import UserError


def write_tensorboard(run: Run, folder: Path) -> None:
    """Write each column of learning.csv as a curve over the decisions learned from.

    The time of a point is that of the simulation, s.

    Raises
    ------
    UserError
        If the package tensorboard is missing, or nothing can be written.
    """
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise UserError(
            "--tensorboard needs the package tensorboard: pip install tensorboard"
        ) from None
    if run.learning is None or not len(run.learning):
        return
    steps = run.learning["decisions"].cumsum().tolist()
    times = run.learning["time"].tolist()
    try:
        with SummaryWriter(str(folder)) as writer:
            for name in run.learning.columns.drop(["time", "decisions"]):
                values = run.learning[name].tolist()
                for value, step, time in zip(values, steps, times, strict=True):
                    writer.add_scalar(f"DRR/{name}", value, step, time)
    except OSError as error:
        raise UserError(f"cannot write {folder}: {error.strerror}") from error
