"""Problem families, the paper's and an epidemic, each a function with its knobs as arguments."""

from collections.abc import Callable

from sequoia.problem.families.capacity import capacity
from sequoia.problem.families.epidemic import epidemic
from sequoia.problem.families.interventions import interventions
from sequoia.problem.families.routing import routing
from sequoia.problem.families.scheduling import scheduling
from sequoia.problem.families.standard import standard
from sequoia.problem.families.trap import trap
from sequoia.problem.problem import Problem

FAMILIES: dict[str, Callable[..., Problem]] = {
    family.__name__: family
    for family in (interventions, scheduling, capacity, routing, standard, trap, epidemic)
}

__all__ = [
    "FAMILIES",
    "capacity",
    "epidemic",
    "interventions",
    "routing",
    "scheduling",
    "standard",
    "trap",
]
