"""How time grows with the number of arms."""

from collections.abc import Mapping

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
    new_axes,
    plain,
    title,
)

_COLOURS = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, INK)
_MARKERS = "os^Dv*"
_LINES = ("-", "--", ":")

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
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("arms")
    ax.set_ylabel("seconds of processor time")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, fontsize=8.5)
    plain(ax)
    title(ax, "Time against the number of arms")
    return ax
