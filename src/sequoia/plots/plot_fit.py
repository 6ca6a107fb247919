"""Fitted transitions with their intervals."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.plots.canvas import BLUE, GREY, ORANGE, new_axes, plain, title
from sequoia.problem import Arms
from sequoia.problem.names import count
from sequoia.records import FittedModel
from sequoia.records.fit_table import fit_rows

_MOST_ROWS = 60


def plot_fit(fitted: FittedModel, arms: Arms, ax: Axes | None = None) -> Axes:
    """Draw each probability with its 90 % interval; of very many, the widest intervals."""
    rows = list(fit_rows(fitted, arms))
    shown = rows
    if len(rows) > _MOST_ROWS:
        widest = np.argsort([row.low - row.high for row in rows], kind="stable")[:_MOST_ROWS]
        shown = [rows[index] for index in sorted(widest.tolist())]
    ax = ax if ax is not None else new_axes(8.0, 1.2 + 0.22 * len(shown))
    for place, row in enumerate(shown):
        colour = BLUE if row.met >= 1 else ORANGE
        ax.plot([row.low, row.high], [place, place], color=colour, linewidth=2.0, alpha=0.6)
        ax.plot(row.estimate, place, "o", color=colour, markersize=4.5)
    names = [f"{row.group}, dose {row.dose}: {row.state} → {row.to}" for row in shown]
    ax.set_yticks(np.arange(len(shown)), names, fontsize=7)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set_xlim(-0.02, 1.02)
    ax.set_xlabel("probability, with its 90 % interval; orange: hardly ever met")
    ax.grid(axis="x", color=GREY, alpha=0.4)
    plain(ax)
    of = "" if shown is rows else f"; the {len(shown)} widest of {len(rows)} intervals"
    title(ax, f"Fitted from {count(fitted.n_rows, 'row')} of the log{of}")
    return ax
