"""Independent tasks over the processes of this machine, or over a Ray cluster."""

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from multiprocessing import get_context

from tqdm import tqdm

from commands.tasks import RETRIES, Outcome, Task, cores, done
from model.errors import UserError

MOST = 100_000  # seeds


def add_workers(parser: argparse.ArgumentParser) -> None:
    """Add `--workers`."""
    parser.add_argument(
        "--workers",
        type=_read_workers,
        metavar="INT|local",
        default=0,
        help="processes; 0, or local, = as many as there are cores",
    )


def _read_workers(word: str) -> int:
    if word != "local" and not word.removeprefix("-").isdecimal():
        raise argparse.ArgumentTypeError(f"{word!r} is neither a number nor local")
    return 0 if word == "local" else int(word)


def each(
    work: Callable[[Task], Outcome],
    tasks: Sequence[Task],
    workers: int,
    label: str,
    address: str = "",
) -> Iterator[Outcome]:
    """Yield the outcome of each task in the order of the tasks.

    Parameters are those of `as_done`.
    """
    there: dict[int, Outcome] = {}
    turn = 0
    for place, outcome in as_done(work, tasks, workers, label, address):
        there[place] = outcome
        while turn in there:
            yield there.pop(turn)
            turn += 1


def as_done(
    work: Callable[[Task], Outcome],
    tasks: Sequence[Task],
    workers: int,
    label: str,
    address: str = "",
) -> Iterator[tuple[int, Outcome]]:
    """Yield the place and the outcome of each task, as soon as it is done.

    Parameters
    ----------
    work : a function of a module, and picklable tasks; a task must not depend on which
        process runs it, so that the number of workers changes nothing but the time.
    workers : processes; 1 = this one, 0 = as many as there are cores.
    address : of a Ray cluster, instead of processes of this machine; ``local`` starts
        one here, with so many workers.

    Raises
    ------
    UserError
        If *workers* is negative, or Ray is missing or cannot be reached.
    """
    if workers < 0:
        raise UserError(f"--workers {workers}: must be at least 0 (0 = all cores)")
    if address:
        from commands.on_ray import on_ray

        results = on_ray(work, tasks, workers, address)
    else:
        workers = min(workers or cores(), len(tasks))
        results = (
            in_turn(work, tasks) if workers <= 1 else in_pool(work, tasks, workers)
        )
    with tqdm(total=len(tasks), desc=label, unit="run", disable=None) as bar:
        for place, outcome in results:
            yield place, outcome
            bar.update()


def in_turn(
    work: Callable[[Task], Outcome], tasks: Sequence[Task]
) -> Iterator[tuple[int, Outcome]]:
    """Do the tasks one after the other, in this process."""
    for place, task in enumerate(tasks):
        yield place, done(work, task)


def in_pool(
    work: Callable[[Task], Outcome], tasks: Sequence[Task], workers: int
) -> Iterator[tuple[int, Outcome]]:
    """Do the tasks in processes of this machine; those of one that dies, anew."""
    left, deaths = dict(enumerate(tasks)), 0
    while left:
        if deaths > RETRIES:
            raise UserError(
                f"{len(left)} of {len(tasks)} runs are left: workers died {deaths} "
                f"times, maybe for want of memory; what is done is kept, try fewer "
                f"--workers"
            )
        with suppress(BrokenProcessPool):
            for place, outcome in _in_pool(work, left, workers):
                del left[place]
                yield place, outcome
        deaths += 1


def _in_pool(
    work: Callable[[Task], Outcome], left: Mapping[int, Task], workers: int
) -> Iterator[tuple[int, Outcome]]:
    # spawned: a forked copy of a process with threads, as torch has, may hang
    workers = min(workers, len(left))
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        places = {pool.submit(done, work, task): at for at, task in left.items()}
        try:
            for future in as_completed(places):
                yield places[future], future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def read_seeds(text: str) -> list[int]:
    """Return the seeds that ``200-204``, ``1,5,9`` or ``3`` (the first three) name.

    >>> read_seeds("200-202"), read_seeds("7,9"), read_seeds("3")
    ([200, 201, 202], [7, 9], [0, 1, 2])

    Raises
    ------
    UserError
        If it is none of these, or names no seed.
    """
    seeds: list[int] = []
    try:
        if text.isdigit():
            return _some([*range(min(int(text), MOST + 1))], text)
        for part in text.split(","):
            first, _, last = part.partition("-")
            some = range(int(first), int(last or first) + 1)
            seeds += some[: MOST + 1]
    except (ValueError, OverflowError):
        seeds = []
    return _some(seeds, text)


def _some(seeds: list[int], text: str) -> list[int]:
    if not 0 < len(seeds) <= MOST:
        raise UserError(
            f"--seeds {text[:99]}: must be a range (200-204), a list (1,5,9), or a "
            f"number of seeds (3 = 0,1,2)"
        )
    return list(dict.fromkeys(seeds))
