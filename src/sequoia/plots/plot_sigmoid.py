"""How arms respond to doses."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.errors import ProblemError
from sequoia.plots.canvas import BLUE, VERMILION, new_axes, plain, title
from sequoia.problem import Problem
from sequoia.problem.names import count


def plot_sigmoid(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw the probability of moving up by dose, a line per model; dots are attainable doses.

    Models whose first dose brings less than a later one are set apart from the others.
    """
    arms = problem.arms
    if arms.n_states < 2 or arms.n_doses < 2:
        raise ProblemError(f"{problem.name} has no link to draw: two states and doses are wanted.")
    ax = ax if ax is not None else new_axes(6.5, 4.0)
    up = arms.kernels[:, :, 0, 1]
    gains = np.diff(up, axis=1)
    rising = gains.max(axis=1) > gains[:, 0] + 1e-9
    styles = (
        (rising, VERMILION, "-", "a later dose brings more than the first"),
        (~rising, BLUE, "--", "no later dose brings more than the first"),
    )
    for which, colour, line, text in styles:
        for doses, chances in zip(arms.doses[which], up[which], strict=True):
            ax.plot(doses, chances, line, color=colour, marker="o", markersize=4, alpha=0.65)
        if which.any():
            ax.plot([], [], line, color=colour, label=f"{text} ({count(int(which.sum()), 'arm')})")
    ax.legend(loc="upper left", frameon=False, fontsize=8)
    ax.set_ylim(-0.02, 1.02)
    ax.set_xlabel("dose")
    ax.set_ylabel("probability of moving up from state 0")
    ax.set_xticks(np.unique(arms.doses)[:12])
    ax.grid(axis="y", alpha=0.3)
    plain(ax)
    title(ax, problem.name)
    return ax
