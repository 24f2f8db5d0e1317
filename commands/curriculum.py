"""What DRR is trained and judged on: cells of clusters and mixes, seeds 0 to 119."""

from dataclasses import replace

from model.config import Settings
from model.errors import UserError

Cell = tuple[int, float, str]  # nodes, s between arrivals, mix

CELLS: tuple[Cell, ...] = (
    (32, 16.0, "native"),
    (64, 8.0, "native"),
    (64, 8.0, "share_0.2"),
    (64, 8.0, "share_0.6"),
    (32, 16.0, "share_0.2"),
    (128, 3.8, "share_0.2"),
)
TRAINING = 100  # seeds, from 0
VALIDATION = range(100, 120)  # seeds


def cells_of(sizes: str) -> tuple[Cell, ...]:
    """Return the cells of some sizes, numbers of nodes with commas; of all, if empty.

    >>> cells_of("32")
    ((32, 16.0, 'native'), (32, 16.0, 'share_0.2'))

    Raises
    ------
    UserError
        If there are no cells of a size.
    """
    known = {str(nodes) for nodes, _, _ in CELLS}
    asked = {size.strip() for size in sizes.split(",")} if sizes else known
    if asked - known:
        listed = ", ".join(sorted(known, key=int))
        raise UserError(f"--sizes {sizes}: must be among {listed}, with commas")
    return tuple(cell for cell in CELLS if str(cell[0]) in asked)


def of_cell(settings: Settings, cell: Cell, seed: int) -> Settings:
    """Return the settings of one cell and seed."""
    nodes, gap, mix = cell
    return replace(
        settings, num_node=nodes, interarrival_time=gap, trace=mix, seed=seed
    )
