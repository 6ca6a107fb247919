"""A problem as a picture, drawn by the kind of its action space."""

from collections.abc import Callable

from matplotlib.axes import Axes

from sequoia.plots.draw_assignment import draw_assignment
from sequoia.plots.draw_influence import draw_influence
from sequoia.plots.draw_map import draw_map
from sequoia.plots.draw_network import draw_network
from sequoia.plots.draw_rewards import draw_rewards
from sequoia.plots.draw_rows import draw_rows
from sequoia.plots.draw_schedule import draw_schedule
from sequoia.problem import Problem


def plot_problem(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw what may be decided: the map, open slots, costs and capacities, or who is reached.

    Parameters
    ----------
    ax
        Where to draw; a figure of its own unless given.
    """
    return _PICTURES.get(problem.space.base.kind, draw_rows)(problem, ax)


def _draw_budget(problem: Problem, ax: Axes | None) -> Axes:
    """Draw who infects whom or is reached; when actions are arms, what these pay says more."""
    if problem.contagion is not None:
        return draw_network(problem, ax)
    return draw_rewards(problem, ax) if problem.is_identity else draw_influence(problem, ax)


_PICTURES: dict[str, Callable[[Problem, Axes | None], Axes]] = {
    "assignment": draw_assignment,
    "budget": _draw_budget,
    "path": draw_map,
    "schedule": draw_schedule,
}
