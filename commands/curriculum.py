"""What DRR is trained and judged on: cells of clusters and mixes, seeds 0 to 119."""

from dataclasses import replace

from model.config import Settings

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


def of_cell(settings: Settings, cell: Cell, seed: int) -> Settings:
    """Return the settings of one cell and seed."""
    nodes, gap, mix = cell
    return replace(
        settings, num_node=nodes, interarrival_time=gap, trace=mix, seed=seed
    )
