"""How far policies are from a bound as arms become more."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from sequoia.plots.canvas import GREY, new_axes, plain, title
from sequoia.plots.colours import colour_of, marker_of


class Gap(NamedTuple):
    """What a policy misses of a bound, as a share of it, and half of its 95 % interval."""

    arms: int
    missed: float
    half: float


def plot_gaps(gaps: Mapping[str, Sequence[Gap]], ax: Axes | None = None) -> Axes:
    """Draw what each policy misses of the bound against the number of arms, in per cent.

    The grey line falls as one over the number of arms, from the first point of the first policy.
    """
    ax = ax if ax is not None else new_axes(8.0, 5.0)
    names = list(gaps)
    for index, name in enumerate(names):
        arms, missed, half = (np.array(column) for column in zip(*gaps[name], strict=True))
        # Policies that earn the same would hide each other.
        aside = 1.0 + 0.03 * (index - (len(names) - 1) / 2)
        ax.errorbar(
            arms * aside,
            100 * missed,
            yerr=100 * half,
            color=colour_of(name, names),
            marker=marker_of(name, names),
            capsize=3,
            label=name,
        )
    first = gaps[names[0]]
    sizes = np.array([gap.arms for gap in first])
    line = 100 * first[0].missed * sizes[0] / sizes
    ax.plot(sizes, line, color=GREY, linewidth=5, alpha=0.5, zorder=0, label="one over the arms")
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("arms")
    ax.set_ylabel("below the bound, per cent")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, fontsize=8.5)
    plain(ax)
    title(ax, "What policies miss of the bound, at a fixed share of the budget")
    return ax
