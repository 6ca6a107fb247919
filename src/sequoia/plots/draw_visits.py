"""Who visits whom, as bars within capacities."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.plots.canvas import GREY, ORANGE, SKY, new_axes, plain, title
from sequoia.plots.names import left_out, name_x, room, short_names, tick_names, write_inside
from sequoia.problem import Assignment, Decision, Problem


def draw_visits(
    problem: Problem, space: Assignment, decision: Decision, ax: Axes | None = None
) -> Axes:
    """Draw a bar per worker: its capacity in outline, its visits as pieces of it."""
    workers = space.n_workers
    ax = ax if ax is not None else new_axes(8.0, 1.5 + 0.36 * min(max(workers, 1), 24))
    visits = space.visits(decision)
    noun, texts = short_names(space.names)
    places = np.arange(workers)
    ax.barh(places, space.capacities, color="#F2F2F2", edgecolor=GREY, height=0.74)
    ax.axvline(0.0, color=GREY, linewidth=1.0)
    colours = (SKY, ORANGE)
    widest = float(max(space.capacities.max(initial=1.0), 1.0))
    height, cut = 0.6 * room(ax, "y") / max(workers, 1), 0
    for worker in range(workers):
        left = 0.0
        for index, arm in enumerate(np.flatnonzero(visits[worker]).tolist()):
            cost = float(space.costs[arm])
            ax.barh(worker, cost, left=left, color=colours[index % 2], height=0.6)
            place, width = (left + cost / 2, worker), cost / widest * room(ax, "x") - 3
            cut += not write_inside(ax, place, texts[arm], width, height)
            left += cost
    who = tick_names(ax.yaxis, places, space.worker_names)
    ax.set_ylabel(who)
    ax.set_ylim(max(workers, 1) - 0.4, -0.6)
    ax.set_xlim(0, 1.03 * widest)
    named = f"numbers are {noun}" if noun else "names are those visited"
    parts = (
        "units used, of the capacity in outline",
        named,
        left_out(cut, int(visits.sum()), "are cut"),
    )
    name_x(ax, "; ".join(filter(None, parts)))
    ax.tick_params(axis="y", length=0)
    plain(ax)
    title(ax, f"{problem.name}: who visits whom")
    return ax
