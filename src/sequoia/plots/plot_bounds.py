"""Bounds: how far policies stay below them as arms become more, and how time grows."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from sequoia.plots.canvas import (
    BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PURPLE,
    VERMILION,
    colour_of,
    marker_of,
    new_axes,
    plain,
    title,
)

_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, INK)
_MARKERS = "os^Dv*"
_LINES = ("-", "--", ":")


class Gap(NamedTuple):
    """The gap of a policy to a bound, as a share of it, and half of its 95 % interval."""

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
    return _by_arms(
        ax,
        "below the bound, per cent",
        "What policies miss of the bound, at a fixed share of the budget",
    )


Times = Mapping[tuple[str, str], Mapping[int, float]]


def plot_times(seconds: Times, ax: Axes | None = None) -> Axes:
    """Draw seconds against the number of arms, both on logarithmic scales.

    The grey line grows in proportion to the arms, from the longest time at the largest size.

    Parameters
    ----------
    seconds
        By number of arms, for each kind of problem and each thing to do.
    """
    ax = ax if ax is not None else new_axes(8.0, 5.0)
    kinds, things = (list(dict.fromkeys(names)) for names in zip(*seconds, strict=True))
    for (kind, thing), by_size in seconds.items():
        place = things.index(thing) % len(_COLOURS)
        ax.plot(
            list(by_size),
            np.maximum(list(by_size.values()), 1e-4),
            color=_COLOURS[place],
            marker=_MARKERS[place],
            linestyle=_LINES[kinds.index(kind) % len(_LINES)],
            label=f"{kind}: {thing}",
        )
    sizes = sorted({size for by_size in seconds.values() for size in by_size})
    last = max(by_size.get(sizes[-1], 0.0) for by_size in seconds.values())
    line = last * np.array(sizes) / sizes[-1]
    ax.plot(sizes, line, color=GREY, linewidth=5, alpha=0.5, zorder=0, label="in proportion")
    return _by_arms(ax, "seconds of processor time", "Time against the number of arms")


def _by_arms(ax: Axes, what: str, words: str) -> Axes:
    """Make both scales logarithmic, and say what is drawn against the number of arms."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("arms")
    ax.set_ylabel(what)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, fontsize=8.5)
    plain(ax)
    title(ax, words)
    return ax
