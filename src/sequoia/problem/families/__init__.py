"""Problem families, the paper's and others, each a function with its knobs."""

import inspect
from collections.abc import Callable
from typing import Any, Literal, overload

from sequoia.errors import ProblemError
from sequoia.problem.assortment import Assortment
from sequoia.problem.families.assortment import assortment
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


# Those that are no problems of arms, and all.
ENVIRONMENTS: dict[str, Callable[..., Assortment]] = {"assortment": assortment}
EVERY: dict[str, Callable[..., Problem | Assortment]] = {**FAMILIES, **ENVIRONMENTS}


@overload
def make(family: Literal["assortment"], **knobs: Any) -> Assortment: ...
@overload
def make(family: str, **knobs: Any) -> Problem: ...
def make(family: str, **knobs: Any) -> Problem | Assortment:
    """Make a problem of a family, such as ``make("capacity", arms=20, seed=1)``.

    Examples
    --------
    >>> import sequoia
    >>> sequoia.make('capacity', arms=20, workers=5, seed=1)
    Problem 'capacity, 20 arms, 5 workers, seed 1': 20 arms of 4 states, 20 steps, discount 0.99
    assignment: 5 workers with capacity 4 to 7 (27 in all); a visit takes 2 to 6
    """
    if family not in EVERY:
        hint = closest(family, list(EVERY))
        raise ProblemError(f"there is no family {family!r}; known: {', '.join(EVERY)}{hint}.")
    known = inspect.signature(EVERY[family]).parameters
    for name in knobs:
        if name not in known:
            hint = closest(name, list(known))
            raise ProblemError(f"{family} has no knob {name!r}; known: {', '.join(known)}{hint}.")
    return EVERY[family](**knobs)


__all__ = [
    "ENVIRONMENTS",
    "EVERY",
    "FAMILIES",
    "assortment",
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
