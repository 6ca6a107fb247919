"""The walk on the map."""

from collections import Counter
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from sequoia.plots.canvas import BLUE, GREY, INK, ORANGE, VERMILION, is_narrow, new_axes, title
from sequoia.plots.draw_map import positions
from sequoia.plots.labels import label_points
from sequoia.problem import Decision, Problem, Walk
from sequoia.problem.names import count
from sequoia.validation import FloatArray

_MOST_IN_FULL = 40


def draw_walk(problem: Problem, space: Walk, decision: Decision, ax: Axes | None = None) -> Axes:
    """Draw the route in order over the map, and where it is acted on the way."""
    size = len(space.names)
    ax = ax if ax is not None else new_axes(8.0, 5.2 if size <= 40 else 7.0)
    places = positions(space)
    route = space.walk(decision)
    ax.add_collection(LineCollection(list(places[space.edges]), colors=GREY, linewidths=1.2))
    ax.scatter(places[:, 0], places[:, 1], s=26, c=GREY, zorder=2, linewidths=0)
    _draw_steps(ax, places, route)
    acted = np.flatnonzero(decision.action)
    x, y = places[acted].T
    ax.scatter(x, y, s=120, c=ORANGE, edgecolors=INK, zorder=4, label="acted on")
    x, y = places[[space.source]].T
    ax.scatter(
        x, y, s=240, marker="*", c=VERMILION, edgecolors="white", zorder=5, label="begins and ends"
    )
    ax.plot([], [], color=BLUE, linewidth=2.2, label="the walk; twice where it comes back")
    ax.margins(0.12, 0.08)
    if size > _MOST_IN_FULL:
        _zoom(ax, places, places[route])
    ax.set_axis_off()
    columns = 1 if is_narrow(ax) else 3
    ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.0), ncols=columns, frameon=False, fontsize=8)
    title(ax, f"{problem.name}: a walk that acts on {count(len(acted), 'node')}")
    order = np.array(list(dict.fromkeys([*route, *range(size)])))
    label_points(ax, places[order], [space.names[i] for i in order], np.argsort(order)[space.edges])
    return ax


def _zoom(ax: Axes, places: FloatArray, stops: FloatArray) -> None:
    """Show where the walk goes and some of what is around it."""
    low, high = stops.min(axis=0), stops.max(axis=0)
    room = np.maximum(0.3 * (high - low), 0.08 * (places.max(axis=0) - places.min(axis=0)))
    ax.set_xlim(low[0] - room[0], high[0] + room[0])
    ax.set_ylim(low[1] - room[1], high[1] + room[1])


def _draw_steps(ax: Axes, places: FloatArray, route: list[int]) -> None:
    """Draw an arrow per step; those between the same two nodes are bent apart."""
    used: Counter[tuple[int, int]] = Counter()
    for a, b in pairwise(route):
        used[a, b] += 1
        bend = 0.1 * (used[a, b] + (used[b, a] > 0)) if (b, a) in used or used[a, b] > 1 else 0.1
        ax.annotate(
            "",
            places[b],
            places[a],
            arrowprops={
                "arrowstyle": "-|>",
                "color": BLUE,
                "linewidth": 2.0,
                "shrinkA": 3,
                "shrinkB": 5,
                "connectionstyle": f"arc3,rad={bend:.2f}",
            },
            zorder=3,
        )
