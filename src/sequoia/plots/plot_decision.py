"""A decision as a picture; each kind of action space registers its own."""

from functools import singledispatch

from matplotlib.axes import Axes

from sequoia.plots.draw_assignment import draw_visits
from sequoia.plots.draw_influence import draw_chosen
from sequoia.plots.draw_schedule import draw_bookings
from sequoia.plots.draw_team import draw_routes
from sequoia.plots.draw_walk import draw_walk
from sequoia.problem import ActionSpace, Assignment, Decision, Problem, Rota, Schedule, Team, Walk


def plot_decision(problem: Problem, decision: Decision, ax: Axes | None = None) -> Axes:
    """Draw what is done: the route on the map, the schedule as a grid, the visits as bars."""
    return picture_of(problem.space.today, problem, decision, ax)


@singledispatch
def picture_of(
    space: ActionSpace,  # noqa: ARG001
    problem: Problem,
    decision: Decision,
    ax: Axes | None,
) -> Axes:
    """Draw what is chosen; a kind of space with a better picture registers it here."""
    return draw_chosen(problem, decision, ax)


@picture_of.register
def _(space: Assignment, problem: Problem, decision: Decision, ax: Axes | None) -> Axes:
    return draw_visits(problem, space, decision, ax)


@picture_of.register
def _(space: Schedule | Rota, problem: Problem, decision: Decision, ax: Axes | None) -> Axes:
    return draw_bookings(problem, space, decision, ax)


@picture_of.register
def _(space: Team, problem: Problem, decision: Decision, ax: Axes | None) -> Axes:
    return draw_routes(problem, space, decision, ax)


@picture_of.register
def _(space: Walk, problem: Problem, decision: Decision, ax: Axes | None) -> Axes:
    return draw_walk(problem, space, decision, ax)
