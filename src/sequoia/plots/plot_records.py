"""Records: what was fitted, how true it proved, and what learning on the job costs."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from sequoia.evaluation.intervals import half_width
from sequoia.plots.canvas import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    VERMILION,
    new_axes,
    plain,
    title,
)
from sequoia.problem import Arms
from sequoia.problem.names import count
from sequoia.records import FittedModel, Regret
from sequoia.records.calibration import Calibration
from sequoia.records.fit_table import fit_rows

_MOST_ROWS = 60
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE, VERMILION)
_LINES = ("-", "--", "-.", ":", "-")


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


def plot_regret(regret: Regret, ax: Axes | None = None) -> Axes:
    """Draw the cumulative regret of each learner, with a band for its 95 % interval."""
    ax = ax if ax is not None else new_axes(8.0, 4.4)
    episodes, steps = regret.truth.shape
    step = np.arange(1, steps + 1)
    for index, (name, lost) in enumerate(zip(regret.names, regret.cumulative, strict=True)):
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
    title(ax, f"{regret.problem}: mean of {count(episodes, 'programme')}")
    return ax
