"""What is lost when a part of SEQUOIA is taken away."""

import numpy as np
from matplotlib.axes import Axes

from sequoia.paper.experiment import ABLATIONS, SETTINGS
from sequoia.paper.results import Results, standard_error
from sequoia.plots.canvas import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    new_axes,
    plain,
    title,
)

_COLOURS = dict(zip(ABLATIONS, (BLUE, SKY, GREEN, PURPLE, ORANGE, GREY, VERMILION), strict=True))


def plot_ablations(results: Results, ax: Axes | None = None) -> Axes:
    """Draw what every variant earns in per cent of the default on the same seeds, by setting.

    Whiskers are standard errors.
    """
    ax = ax if ax is not None else new_axes(9.0, 4.0)
    places = [
        (family, arms)
        for family in SETTINGS
        for arms in results.sizes(family)
        if any(results.of(family, arms, name) for name in ABLATIONS)
    ]
    names = [name for name in ABLATIONS if any(results.of(*place, name) for place in places)]
    width = 0.84 / max(len(names), 1)
    for position, name in enumerate(names):
        found = [100 + results.percent_over(*place, name, "sequoia") for place in places]
        x = np.arange(len(places)) - 0.42 + (position + 0.5) * width
        means = [float(values.mean()) if len(values) else 0.0 for values in found]
        errors = [float(np.nan_to_num(standard_error(values))) for values in found]
        colour = _COLOURS[name]
        ax.bar(x, means, 0.92 * width, color=colour, edgecolor=INK, linewidth=0.5, label=name)
        ax.errorbar(x, means, errors, fmt="none", ecolor=INK, elinewidth=1.1, capsize=2)
    ax.axhline(100, color=INK, linewidth=0.8, linestyle="--")
    texts = [f"{SETTINGS[family]}\nJ = {arms}" for family, arms in places]
    ax.set_xticks(range(len(places)), texts, fontsize=9)
    ax.tick_params(axis="x", length=0)
    ax.set_ylabel("% of the default")
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False, fontsize=9)
    plain(ax)
    title(ax, "What each part is worth")
    return ax
