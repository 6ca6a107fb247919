"""The paper's main figure: rewards by setting and size."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from sequoia.paper.experiment import POLICIES, SETTINGS
from sequoia.paper.results import Results, standard_error
from sequoia.plots.canvas import INK, colour_of, new_axes, plain

_WIDTH = 0.86
_BOUND = "no policy earns more on average"
_NO_LABEL = "_nolegend_"


def plot_settings(results: Results) -> Axes:
    """Draw one panel per setting on a figure of its own; return the axes of the first."""
    figure = Figure(figsize=(11.0, 6.8), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(2, 2).ravel().tolist()
    for index, (ax, family) in enumerate(zip(panels, SETTINGS, strict=True)):
        plot_setting(results, family, ax)
        ax.set_title(f"({'abcd'[index]}) {SETTINGS[family]}", loc="left", fontsize=11, color=INK)
        ax.set_ylabel("" if index % 2 else "average reward, random = 1")
    handles = {
        label: handle
        for ax in panels
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)
    }
    order = [name for name in (*POLICIES, _BOUND) if name in handles]
    figure.legend(
        [handles[name] for name in order],
        order,
        loc="outside lower center",
        ncols=5,
        frameon=False,
        fontsize=9.5,
    )
    first: Axes = panels[0]
    return first


def plot_setting(results: Results, family: str, ax: Axes | None = None) -> Axes:
    """Draw the mean over seeds of each policy by size; whiskers are standard errors."""
    ax = ax if ax is not None else new_axes(6.0, 3.6)
    sizes = results.sizes(family)
    names = [n for n in POLICIES if any(results.of(family, size, n) for size in sizes)]
    for place, size in enumerate(sizes):
        _draw_bars(ax, results, family, size, place, names)
        _draw_bound(ax, results, family, size, place)
    ax.set_xticks(range(len(sizes)), [f"J = {size}" for size in sizes])
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.55, max(len(sizes), 1) - 0.45)
    ax.grid(axis="y", alpha=0.3)
    ax.set_axisbelow(True)
    plain(ax)
    return ax


def _draw_bars(
    ax: Axes, results: Results, family: str, size: int, place: int, names: Sequence[str]
) -> None:
    width = _WIDTH / max(len(names), 1)
    for position, name in enumerate(names):
        values = results.relative(family, size, name)
        if not len(values):
            continue
        x = place - _WIDTH / 2 + (position + 0.5) * width
        is_new = name not in ax.get_legend_handles_labels()[1]
        ax.bar(
            x,
            values.mean(),
            0.92 * width,
            color=colour_of(name, POLICIES),
            edgecolor=INK,
            linewidth=0.5,
            label=name if is_new else _NO_LABEL,
        )
        error = float(np.nan_to_num(standard_error(values)))
        ax.errorbar(x, values.mean(), error, fmt="none", ecolor=INK, elinewidth=1.1, capsize=2)


def _draw_bound(ax: Axes, results: Results, family: str, size: int, place: int) -> None:
    """Draw the mean bound of the seeds that SEQUOIA was played on, or random where it was not."""
    bounds = results.bounds(family, size, "sequoia")
    bounds = bounds if len(bounds) else results.bounds(family, size, "random")
    if len(bounds):
        half = _WIDTH / 2 + 0.03
        is_new = _BOUND not in ax.get_legend_handles_labels()[1]
        ax.hlines(
            bounds.mean(),
            place - half,
            place + half,
            color=INK,
            linestyle="--",
            linewidth=1.6,
            label=_BOUND if is_new else _NO_LABEL,
        )
