"""Every planner by name. To add one, write its file and name it here."""

from collections.abc import Callable, Sequence

from model.errors import UserError, suggestion
from schedulers.decision import PlannedMove
from schedulers.planners.draft import Outlook
from schedulers.planners.fgd_deschedule import cos_sim, frag_multi_pod, frag_one_pod
from schedulers.planners.published import empty_nodes
from schedulers.planners.useful import give_back

Planner = Callable[[Outlook], list[PlannedMove]]
PLANNERS: dict[str, Planner] = {
    "published": empty_nodes,
    "useful": give_back,
    "cosSim": cos_sim,
    "fragOnePod": frag_one_pod,
    "fragMultiPod": frag_multi_pod,
}


def planners_of(name: str, own: Sequence[str]) -> list[Planner]:
    """Return the planner of that name, or all of a scheduler's *own*."""
    return [planner_of(each) for each in (own if name.lower() == "own" else (name,))]


def planner_of(name: str) -> Planner:
    """Return the planner of that name; case does not matter.

    Raises
    ------
    UserError
        If there is none; names the nearest and lists all.
    """
    by_name = {known.lower(): planner for known, planner in PLANNERS.items()}
    if name.lower() in by_name:
        return by_name[name.lower()]
    near = suggestion(name, PLANNERS)
    known = ", ".join([*PLANNERS, "own"])
    raise UserError(f"no planner {name!r}{near}; there are {known}")
