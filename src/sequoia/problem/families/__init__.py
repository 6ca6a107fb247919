"""Problem families, the paper's and others, each a function with its knobs."""

import inspect
from collections.abc import Callable
from typing import Any

from sequoia.errors import ProblemError
from sequoia.problem.families.capacity import capacity
from sequoia.problem.families.epidemic import epidemic
from sequoia.problem.families.interventions import interventions
from sequoia.problem.families.rota import rota
from sequoia.problem.families.routing import routing
from sequoia.problem.families.scheduling import scheduling
from sequoia.problem.families.standard import standard
from sequoia.problem.families.team import team
from sequoia.problem.families.trap import trap
from sequoia.problem.families.wildfire import wildfire
from sequoia.problem.names import closest
from sequoia.problem.problem import Problem

FAMILIES: dict[str, Callable[..., Problem]] = {
    family.__name__: family
    for family in (
        interventions,
        scheduling,
        capacity,
        routing,
        standard,
        trap,
        epidemic,
        wildfire,
        rota,
        team,
    )
}


def make(family: str, **knobs: Any) -> Problem:
    """Make a problem of a family, such as ``make("capacity", arms=20, seed=1)``."""
    if family not in FAMILIES:
        hint = closest(family, list(FAMILIES))
        raise ProblemError(f"there is no family {family!r}; known: {', '.join(FAMILIES)}{hint}.")
    known = inspect.signature(FAMILIES[family]).parameters
    for name in knobs:
        if name not in known:
            hint = closest(name, list(known))
            raise ProblemError(f"{family} has no knob {name!r}; known: {', '.join(known)}{hint}.")
    return FAMILIES[family](**knobs)


__all__ = [
    "FAMILIES",
    "capacity",
    "epidemic",
    "interventions",
    "make",
    "rota",
    "routing",
    "scheduling",
    "standard",
    "team",
    "trap",
    "wildfire",
]
