"""How long decisions take."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from sequoia.durations import duration
from sequoia.evaluation.evaluation import Evaluation
from sequoia.plots.canvas import INK, is_narrow, new_axes, plain, title
from sequoia.plots.colours import colour_of
from sequoia.plots.names import name_policies

# Shorter than a clock can tell.
_SHORTEST = 1e-7


def plot_decision_times(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw the time of a decision: the middle half as a bar, all but the outer 5 % as a line."""
    names = list(evaluation.names)
    ax = ax if ax is not None else new_axes(8.0, 1.4 + 0.38 * len(names))
    seconds = np.maximum(evaluation.seconds.reshape(len(names), -1), _SHORTEST)
    low, quarter, middle, most, high = np.percentile(seconds, [5, 25, 50, 75, 95], axis=1)
    places = np.arange(len(names))
    ax.hlines(places, low, high, color=INK, linewidth=1.2)
    colours = [colour_of(name, names) for name in names]
    ax.barh(places, most - quarter, left=quarter, height=0.5, color=colours, zorder=2)
    halo = [withStroke(linewidth=4.0, foreground="white")]
    ax.scatter(
        middle, places, marker="|", s=170, c=INK, linewidths=1.8, path_effects=halo, zorder=3
    )
    for place, text, right in zip(places, middle, high, strict=True):
        ax.annotate(
            duration(text),
            (right, place),
            (6, 0),
            textcoords="offset points",
            va="center",
            fontsize=8.5,
        )
    ax.set_xscale("log")
    left, right = float(low.min()), float(high.max())
    ax.set_xlim(left / 1.6, right * (right / left) ** 0.16 * 2)
    name_policies(ax, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.xaxis.set_major_locator(LogLocator(numticks=3 if is_narrow(ax) else 9))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda second, _: duration(second)))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_xlabel("time of a decision")
    ax.grid(axis="x", alpha=0.3)
    plain(ax)
    title(ax, f"{evaluation.problem}: time of a decision")
    return ax
