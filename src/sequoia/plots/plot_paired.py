"""Differences between policies, episode by episode."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.evaluation.evaluation import Evaluation
from sequoia.plots.canvas import GREY, INK, new_axes, plain, title
from sequoia.plots.colours import colour_of
from sequoia.plots.names import name_policies, name_x


def plot_paired(evaluation: Evaluation, ax: Axes | None = None, against: str | None = None) -> Axes:
    """Draw by how much each policy earns more or less per step than another, the best by default.

    A dot is an episode, in which both had the same luck; the bar is the mean with its 95 %
    confidence interval.
    """
    other = evaluation.best if against is None else against
    names = [name for name in evaluation.names if name != other] or [other]
    ax = ax if ax is not None else new_axes(8.0, 1.4 + 0.42 * len(names))
    means = evaluation.rewards.mean(axis=2)
    base = means[evaluation.index(other)]
    spread = np.linspace(-0.24, 0.24, evaluation.n_episodes)
    spread = spread[np.argsort(np.arange(len(spread)) * 0.618034 % 1.0)]
    ax.axvline(0.0, color=INK, linewidth=1.0)
    for place, name in enumerate(names):
        values = means[evaluation.index(name)] - base
        colour = colour_of(name, list(evaluation.names))
        ax.scatter(values, place + spread, s=9, color=colour, alpha=0.55, linewidths=0)
        one = evaluation.paired(name, other)
        half = np.nan_to_num(one.half)
        ax.errorbar(
            one.mean,
            place,
            xerr=half,
            fmt="D",
            color=INK,
            markersize=4.5,
            capsize=4,
            elinewidth=1.8,
            zorder=3,
        )
    name_policies(ax, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    name_x(ax, f"reward per step minus that of {other}")
    ax.grid(axis="x", color=GREY, alpha=0.4)
    plain(ax)
    title(ax, f"{evaluation.problem}: the same luck for all")
    return ax
