"""What learning on the job costs, step by step."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sequoia.evaluation.intervals import half_width
from sequoia.plots.canvas import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    VERMILION,
    new_axes,
    plain,
    title,
)
from sequoia.problem.names import count
from sequoia.records import Regret

_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION)
_LINES = ("-", "--", "-.", ":", "-")


def plot_regret(found: Regret, ax: Axes | None = None) -> Axes:
    """Draw the cumulative regret of each learner, with a band for its 95 % interval."""
    ax = ax if ax is not None else new_axes(8.0, 4.4)
    episodes, steps = found.truth.shape
    step = np.arange(1, steps + 1)
    for index, (name, lost) in enumerate(zip(found.names, found.cumulative, strict=True)):
        colour, line = _COLOURS[index % len(_COLOURS)], _LINES[index % len(_LINES)]
        mean = lost.mean(axis=0)
        ax.plot(step, mean, line, color=colour, linewidth=1.8, label=name)
        if episodes > 1:
            half = half_width(lost)
            ax.fill_between(step, mean - half, mean + half, color=colour, alpha=0.15, linewidth=0)
    ax.axhline(0.0, color=INK, linewidth=0.8)
    ax.set_xlabel("step")
    ax.set_ylabel("regret so far")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, labelcolor=INK)
    ax.grid(axis="y", alpha=0.3)
    plain(ax)
    title(ax, f"{found.problem}: mean of {count(episodes, 'programme')}")
    return ax
