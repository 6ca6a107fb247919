"""Capacities of the workers and costs of the arms, side by side."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from sequoia.plots.canvas import BLUE, ORANGE, new_axes, plain, title
from sequoia.plots.names import Group, tick_groups
from sequoia.problem import Assignment, Problem


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
