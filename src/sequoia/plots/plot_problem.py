"""A problem as a picture; each kind of action space registers its own."""

from functools import singledispatch

from matplotlib.axes import Axes

from sequoia.plots.draw_assignment import draw_assignment
from sequoia.plots.draw_influence import draw_influence
from sequoia.plots.draw_map import draw_map
from sequoia.plots.draw_network import draw_network
from sequoia.plots.draw_rewards import draw_rewards
from sequoia.plots.draw_rota import draw_rota
from sequoia.plots.draw_routes import draw_places
from sequoia.plots.draw_rows import draw_rows
from sequoia.plots.draw_schedule import draw_schedule
from sequoia.problem import ActionSpace, Assignment, Budget, Problem, Rota, Schedule, Team, Walk


def plot_problem(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw what may be decided: the map, open slots, costs and capacities, or who is reached.

    Parameters
    ----------
    ax
        Where to draw; a figure of its own unless given.
    """
    return picture_of(problem.space.base, problem, ax)


@singledispatch
def picture_of(space: ActionSpace, problem: Problem, ax: Axes | None) -> Axes:  # noqa: ARG001
    """Draw the rows; a kind of space with a better picture registers it here."""
    return draw_rows(problem, ax)


@picture_of.register
def _(space: Assignment, problem: Problem, ax: Axes | None) -> Axes:
    return draw_assignment(problem, space, ax)


@picture_of.register
def _(space: Schedule, problem: Problem, ax: Axes | None) -> Axes:
    return draw_schedule(problem, space, ax)


@picture_of.register
def _(space: Rota, problem: Problem, ax: Axes | None) -> Axes:
    return draw_rota(problem, space, ax)


@picture_of.register
def _(space: Team, problem: Problem, ax: Axes | None) -> Axes:
    return draw_places(problem, space, ax)


@picture_of.register
def _(space: Walk, problem: Problem, ax: Axes | None) -> Axes:
    return draw_map(problem, space, ax)


@picture_of.register
def _(space: Budget, problem: Problem, ax: Axes | None) -> Axes:  # noqa: ARG001
    """Draw who infects whom or is reached; when actions are arms, what these pay says more."""
    if problem.contagion is not None:
        return draw_network(problem, ax)
    return draw_rewards(problem, ax) if problem.is_identity else draw_influence(problem, ax)
