"""Every scheduler by name. To add one, write its file and name it here.

Each is imported when it is asked for: DRR brings a compiler, Hops a solver, and most
runs need neither.
"""

from pkgutil import resolve_name
from typing import cast

from model.config import Settings
from model.errors import UserError, suggestion
from schedulers.base import DEFAULTS, Scheduler

SCHEDULERS = {
    "FGD": "schedulers.fgd:FGD",
    "BestFit": "schedulers.best_fit:BestFit",
    "FirstFit": "schedulers.first_fit:FirstFit",
    "WorstFit": "schedulers.worst_fit:WorstFit",
    "RandomFit": "schedulers.random_fit:RandomFit",
    "R&P": "schedulers.rp:ReservingPacking",
    "ElasticFlow": "schedulers.elasticflow:ElasticFlow",
    "Hops": "schedulers.hops:Hops",
    "LifetimeAligned": "schedulers.lifetime:LifetimeAligned",
    "TunedLinear": "schedulers.drr.tuned:TunedLinear",
    "DRR": "schedulers.drr.scheduler:DRR",
    "BestFitExact": "schedulers.published:BestFitExact",
    "DotProd": "schedulers.published:DotProd",
    "GpuClustering": "schedulers.published:GpuClustering",
    "GpuPacking": "schedulers.published:GpuPacking",
}
"""The module and the class of each, by the name that the class has too."""

EXACT_FGD = "schedulers.fgd_exact:FGDExact"
ELASTIC = "schedulers.elasticflow_elastic:ElasticFlowElastic"


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
    places = {_plain(known): place for known, place in SCHEDULERS.items()}
    places["random"] = SCHEDULERS["RandomFit"]
    if settings.fgd_score == "exact":
        places["fgd"] = EXACT_FGD
    if settings.ef_mode == "elastic":
        places["elasticflow"] = ELASTIC
    if _plain(name) in places:
        return cast(type[Scheduler], resolve_name(places[_plain(name)]))
    near, known = suggestion(_plain(name), SCHEDULERS), ", ".join(SCHEDULERS)
    raise UserError(f"no scheduler {name!r}{near}; there are {known}")


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
