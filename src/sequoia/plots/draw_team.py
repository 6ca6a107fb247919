"""The places of a team and its routes on the map."""

from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap

from sequoia.plots.canvas import BLUE, GREEN, GREY, INK, ORANGE, PURPLE, VERMILION, new_axes, title
from sequoia.plots.draw_walk import springs
from sequoia.plots.labels import label_points
from sequoia.problem import Decision, Problem, Team
from sequoia.problem.names import count
from sequoia.validation import FloatArray, IntArray

_COLOURS = (BLUE, GREEN, PURPLE, ORANGE, INK)


def draw_places(problem: Problem, space: Team, ax: Axes | None = None) -> Axes:
    """Draw places, coloured by what their arm pays at best, and stars at depots."""
    ax = _map(space, ax)
    title(ax, problem.name)
    best = problem.arms.rewards.max(axis=1)[problem.arms.model]
    x, y = _positions(space)[: space.n_actions].T
    colours = best if problem.is_identity else np.zeros(space.n_actions)
    palette = "cividis" if problem.is_identity else ListedColormap([BLUE])
    dots = ax.scatter(x, y, c=colours, s=50, cmap=palette, edgecolors="white", zorder=4)
    if problem.is_identity:
        dots.set_clim(vmin=0)
        ax.figure.colorbar(dots, ax=ax, label="best reward of the arm", pad=0.01)
    return _named(ax, space, np.arange(len(space.place_names)))


def draw_routes(problem: Problem, space: Team, decision: Decision, ax: Axes | None = None) -> Axes:
    """Draw each walker's route in a colour of its own, from stop to stop."""
    ax = _map(space, ax)
    places = _positions(space)
    routes = space.routes(decision)
    for walker, route in enumerate(routes):
        depot = int(space.depots[walker])
        colour = _COLOURS[walker % len(_COLOURS)]
        bend = 0.08 * (walker + 1)
        for a, b in pairwise([depot, *route, depot] if route else []):
            arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, "shrinkB": 5}
            arrow["connectionstyle"] = f"arc3,rad={bend:.2f}"
            ax.annotate("", places[b], places[a], arrowprops=arrow, zorder=3)
        x, y = places[route].T if route else ([], [])
        ax.scatter(x, y, s=90, color=colour, edgecolors=INK, zorder=5)
        ax.plot([], [], color=colour, label=space.worker_names[walker])
    title(ax, f"{problem.name}: {count(int(decision.action.sum()), 'arm')} served")
    stops = [arm for route in routes for arm in route]
    first = [*space.depots.tolist(), *stops, *range(len(places))]
    return _named(ax, space, np.array(list(dict.fromkeys(first))))


def _positions(space: Team) -> FloatArray:
    """Return where the places are drawn, ``(P, 2)``: as the user says, else by springs."""
    if space.positions is not None:
        known: FloatArray = space.positions
        return known
    return springs(_ways(space), len(space.place_names))


def _ways(space: Team) -> IntArray:
    """Return the pairs of places with no other place between them, ``(E, 2)``."""
    travel = space.travel + 0.0
    np.fill_diagonal(travel, np.inf)
    round_about = (travel[:, :, None] + travel[None, :, :]).min(axis=1)
    start, stop = np.nonzero(np.isfinite(travel) & (travel < round_about))
    pairs: IntArray = np.unique(np.sort(np.stack([start, stop], axis=1), axis=1), axis=0)
    return pairs


def _map(space: Team, ax: Axes | None) -> Axes:
    size = len(space.place_names)
    ax = ax if ax is not None else new_axes(8.0, 5.2 if size <= 40 else 7.0)
    places = _positions(space)
    for a, b in _ways(space).tolist():
        ax.plot(*places[[a, b]].T, color=GREY, linewidth=1.2, zorder=1)
    ax.scatter(places[:, 0], places[:, 1], s=26, c=GREY, zorder=2, linewidths=0)
    x, y = places[np.unique(space.depots)].T
    ax.scatter(x, y, s=240, marker="*", c=VERMILION, edgecolors="white", zorder=6, label="depot")
    ax.margins(0.12, 0.08)
    ax.set_axis_off()
    return ax


def _named(ax: Axes, space: Team, order: IntArray) -> Axes:
    """Write names, those first in ``order`` where there is no room for all."""
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=4, frameon=False, fontsize=8)
    places, names = _positions(space), space.place_names
    back = np.argsort(order)
    label_points(ax, places[order], [names[i] for i in order], back[_ways(space)])
    return ax
