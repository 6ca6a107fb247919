"""Which actions are chosen, and what that does to the arms."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from sequoia.plots.canvas import BLUE, GREY, legend, new_axes, plain, title
from sequoia.plots.names import tick_names
from sequoia.problem import Decision, Problem
from sequoia.problem.names import count


def draw_chosen(problem: Problem, decision: Decision, ax: Axes | None = None) -> Axes:
    """Draw the arms that the decision reaches, as bars of their dose, and name what is chosen."""
    arms = problem.arms
    ax = ax if ax is not None else new_axes(8.0, 3.0)
    doses = np.asarray(problem.influence @ decision.action.astype(np.float64))
    most = np.asarray(abs(problem.influence).sum(axis=1))
    places = np.arange(arms.n_arms)
    ax.bar(places, most, color="#F2F2F2", edgecolor=GREY, linewidth=0.6, width=0.8)
    ax.bar(places, doses, color=BLUE, width=0.8)
    noun = tick_names(ax.xaxis, places, arms.names)
    ax.set_xlabel(noun)
    ax.set_ylabel("dose")
    ax.margins(x=0.01)
    handles = [
        Patch(color=BLUE, label="dose"),
        Patch(facecolor="#F2F2F2", edgecolor=GREY, label="with every action"),
    ]
    legend(ax, handles=handles)
    plain(ax)
    title(ax, f"{problem.name}: {count(int(decision.action.sum()), 'action')}")
    return ax
