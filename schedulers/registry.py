"""Every scheduler by name. To add one, write its file and name it here."""

from model.config import Settings
from model.errors import UserError, suggestion
from schedulers.base import DEFAULTS, Scheduler
from schedulers.best_fit import BestFit
from schedulers.drr.scheduler import DRR
from schedulers.drr.tuned import TunedLinear
from schedulers.elasticflow import ElasticFlow
from schedulers.elasticflow_elastic import ElasticFlowElastic
from schedulers.fgd import FGD
from schedulers.fgd_exact import FGDExact
from schedulers.first_fit import FirstFit
from schedulers.hops import Hops
from schedulers.lifetime import LifetimeAligned
from schedulers.published import BestFitExact, DotProd, GpuClustering, GpuPacking
from schedulers.random_fit import RandomFit
from schedulers.rp import ReservingPacking
from schedulers.scoring import ScoringScheduler
from schedulers.worst_fit import WorstFit

SCHEDULERS: tuple[type[Scheduler], ...] = (
    FGD,
    BestFit,
    FirstFit,
    WorstFit,
    RandomFit,
    ReservingPacking,
    ElasticFlow,
    Hops,
    LifetimeAligned,
    TunedLinear,
    DRR,
    BestFitExact,
    DotProd,
    GpuClustering,
    GpuPacking,
)

PUBLISHED: dict[str, type[ScoringScheduler]] = {
    "Random": RandomFit,
    "DotProd": DotProd,
    "GpuClustering": GpuClustering,
    "GpuPacking": GpuPacking,
    "BestFit": BestFitExact,
    "FGD": FGDExact,
}
"""FGD and the five policies it was published with, under their names there."""


def scheduler_class(name: str, settings: Settings = DEFAULTS) -> type[Scheduler]:
    """Return the scheduler of that name; case, ``-`` and ``_`` do not matter.

    FGD and ElasticFlow have two forms each, of which *settings* choose.

    Raises
    ------
    UserError
        If there is none; names the nearest and lists all.

    Examples
    --------
    >>> scheduler_class("best-fit").name
    'BestFit'
    """
    by_name = {_plain(known.name): known for known in SCHEDULERS}
    by_name["random"] = RandomFit
    if settings.fgd_score == "exact":
        by_name["fgd"] = FGDExact
    if settings.ef_mode == "elastic":
        by_name["elasticflow"] = ElasticFlowElastic
    if _plain(name) in by_name:
        return by_name[_plain(name)]
    names = [known.name for known in SCHEDULERS]
    near = suggestion(_plain(name), names)
    raise UserError(f"no scheduler {name!r}{near}; there are {', '.join(names)}")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
