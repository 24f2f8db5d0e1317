"""Independent tasks over a Ray cluster (``pip install "defrag[ray]"``).

A task whose worker dies is given to another one; what is done is handed over at once.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from commands.tasks import RETRIES, Outcome, Task, cores, done
from model.errors import UserError

ROOT = Path(__file__).parents[1]
LEFT_AT_HOME = (
    ".git",
    "runs",
    "traces",
    "build",
    ".venv*",
    "clusterdata/cluster-trace*",
)
AHEAD = 4  # tasks for each worker that are handed out beforehand


def on_ray(
    work: Callable[[Task], Outcome], tasks: Sequence[Task], workers: int, address: str
) -> Iterator[tuple[int, Outcome]]:
    """Yield the place and the outcome of each task, as soon as it is done.

    Parameters
    ----------
    workers : at once; 0 = as many as the cluster has cores for.
    address : of a cluster that is there (``auto``, ``ray://HOST:PORT``), to which this
        project's code is sent; or ``local``, which starts one on this machine.

    Raises
    ------
    UserError
        If Ray is missing, or the cluster cannot be reached.
    """
    ray = _connected(address, workers)
    remote = ray.remote(num_cpus=1, max_retries=RETRIES)(done)
    most = AHEAD * (workers or int(ray.cluster_resources().get("CPU", 1)))
    waiting: dict[Any, int] = {}
    turn = iter(enumerate(tasks))
    try:
        for place, task in turn:
            waiting[remote.remote(work, task)] = place
            if len(waiting) < most:
                continue
            yield from _first(ray, waiting)
        while waiting:
            yield from _first(ray, waiting)
    finally:
        for reference in waiting:
            ray.cancel(reference, force=True)
        if address == "local":
            ray.shutdown()


def _first(ray: Any, waiting: dict[Any, int]) -> Iterator[tuple[int, Any]]:
    """Yield what is done first, and take it off the list."""
    (ready,), _ = ray.wait([*waiting], num_returns=1)
    yield waiting.pop(ready), ray.get(ready)


def _connected(address: str, workers: int) -> Any:
    """Return Ray, connected to a cluster."""
    try:
        import ray
    except ImportError:
        raise UserError(
            '--address needs the package ray: pip install "defrag[ray]"'
        ) from None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
    if ray.is_initialized():
        return ray
    try:
        if address == "local":
            path = {"env_vars": {"PYTHONPATH": str(ROOT)}}
            number = workers or cores()
            ray.init(
                num_cpus=number, include_dashboard=False, runtime_env=path, **quiet
            )
        else:
            code = {"working_dir": str(ROOT), "excludes": [*LEFT_AT_HOME]}
            ray.init(address=address, runtime_env=code, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise UserError(f"--address {address}: {error}") from None
    return ray
