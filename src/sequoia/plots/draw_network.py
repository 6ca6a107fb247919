"""Pictures of contagion between arms."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from sequoia.plots.canvas import BLUE, GREY, VERMILION, new_axes, title
from sequoia.plots.draw_walk import springs
from sequoia.plots.labels import label_points
from sequoia.plots.names import short_names
from sequoia.problem import Problem


def draw_network(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw arms and lines between those that infect.

    Where arms differ in what they pay at best, their colour says it. Where it begins at some arms
    rather than others, these have a ring.
    """
    assert problem.contagion is not None
    size = problem.arms.n_arms
    ax = ax if ax is not None else new_axes(8.0, 5.0 if size <= 40 else 7.0)
    title(ax, problem.name)
    pressed, pressing = problem.contagion.neighbours.nonzero()
    edges = np.unique(np.sort(np.stack([pressed, pressing], axis=1), axis=1), axis=0)
    places = springs(edges, size)
    ax.add_collection(LineCollection(list(places[edges]), colors=GREY, linewidths=1.2, zorder=1))
    best = problem.arms.rewards.max(axis=1)[problem.arms.model]
    differ = bool(np.ptp(best) > 0)
    colours: dict[str, Any] = (
        {"c": best, "cmap": "cividis", "vmin": 0} if differ else {"color": BLUE}
    )
    dots = ax.scatter(
        places[:, 0],
        places[:, 1],
        s=60 if size <= 40 else 36,
        edgecolors="white",
        zorder=2,
        **colours,
    )
    if differ:
        ax.figure.colorbar(dots, ax=ax, label="best reward of the arm", pad=0.01)
    spreading = problem.start @ (problem.contagion.sources > 0)
    if np.ptp(spreading) > 0:
        first = places[spreading > (spreading.min() + spreading.max()) / 2]
        ax.scatter(
            first[:, 0],
            first[:, 1],
            s=140 if size <= 40 else 90,
            facecolors="none",
            edgecolors=VERMILION,
            linewidths=1.5,
            zorder=3,
            label="spreading begins here",
        )
        ax.legend(loc="upper left", bbox_to_anchor=(0.0, 0.0), frameon=False, fontsize=8)
    ax.margins(0.12, 0.08)
    ax.set_axis_off()
    label_points(ax, places, short_names(problem.arms.names)[1], edges)
    return ax
