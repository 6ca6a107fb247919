"""A decision as a picture, drawn by the kind of its action space."""

from collections.abc import Callable

from matplotlib.axes import Axes

from sequoia.plots.draw_bookings import draw_bookings
from sequoia.plots.draw_chosen import draw_chosen
from sequoia.plots.draw_visits import draw_visits
from sequoia.plots.draw_walk import draw_walk
from sequoia.problem import Decision, Problem


def plot_decision(problem: Problem, decision: Decision, ax: Axes | None = None) -> Axes:
    """Draw what is done: the route on the map, the schedule as a grid, the visits as bars."""
    return _PICTURES.get(problem.space.base.kind, draw_chosen)(problem, decision, ax)


_PICTURES: dict[str, Callable[[Problem, Decision, Axes | None], Axes]] = {
    "assignment": draw_visits,
    "path": draw_walk,
    "schedule": draw_bookings,
}
