"""Predicted probabilities against what was then seen."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.plots.canvas import BLUE, GREY, new_axes, plain, title
from sequoia.records.calibration import Calibration


def plot_calibration(held: Calibration, ax: Axes | None = None) -> Axes:
    """Draw how often states were seen by how probable they were said to be.

    A bar is what chance alone does in 95 of 100 cases; on the diagonal, words and facts agree.
    """
    ax = ax if ax is not None else new_axes(5.2, 5.0)
    half = 1.96 * np.sqrt(held.predicted * (1 - held.predicted) / held.count)
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1.2)
    ax.errorbar(
        held.predicted,
        held.seen,
        yerr=half,
        fmt="o",
        color=BLUE,
        capsize=3,
        markersize=5,
        elinewidth=1.2,
    )
    for x, y, number in zip(held.predicted, held.seen, held.count, strict=True):
        ax.annotate(f"{number}", (x, y), (6, -10), textcoords="offset points", fontsize=7)
    ax.set_xlim(-0.03, 1.03)
    ax.set_ylim(-0.03, 1.03)
    ax.set_xlabel("predicted probability of a state")
    ax.set_ylabel("how often it was then seen")
    ax.grid(color=GREY, alpha=0.3)
    plain(ax)
    title(ax, f"{held.n_sightings} sightings since step {held.since}, held out")
    return ax
