"""Assignments: capacities of workers beside costs of arms, and who visits whom."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from sequoia.plots.canvas import BLUE, GREY, ORANGE, SKY, new_axes, plain, title
from sequoia.plots.names import (
    Group,
    left_out,
    name_x,
    room,
    short_names,
    tick_groups,
    tick_names,
    write_inside,
)
from sequoia.problem import Assignment, Decision, Problem


def draw_assignment(problem: Problem, space: Assignment, ax: Axes | None = None) -> Axes:
    """Draw a bar per worker, then a bar per arm, coloured by what the arm pays at best."""
    ax = ax if ax is not None else new_axes()
    title(ax, problem.name)
    workers = np.arange(space.n_workers)
    gap = max(1, round(0.04 * len(space.costs)))
    arms = space.n_workers + gap + np.arange(len(space.costs))
    best = problem.arms.rewards.max(axis=1)[problem.arms.model]
    shade = ScalarMappable(Normalize(0, best.max()), "cividis")
    colours = shade.to_rgba(best) if problem.is_identity else BLUE
    ax.bar(workers, space.capacities, color=ORANGE, width=0.8)
    ax.bar(arms, space.costs, color=colours, width=0.8)
    tick_groups(
        ax,
        Group(workers, space.worker_names, "workers", ": capacity"),
        Group(arms, space.names, "arms", ": cost"),
    )
    ax.set_ylabel("units")
    ax.margins(x=0.01)
    if problem.is_identity:
        ax.figure.colorbar(shade, ax=ax, label="best reward of the arm", pad=0.01)
    plain(ax)
    return ax


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
