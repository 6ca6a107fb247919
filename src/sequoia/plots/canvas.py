"""What all pictures share: figures without global state, colours, short labels."""

import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from sequoia.errors import FileError
from sequoia.io import write_bytes

# Okabe and Ito's palette: readable for colour-blind people.
BLUE, GREEN, ORANGE, SKY = "#0072B2", "#009E73", "#E69F00", "#56B4E9"
VERMILION, PURPLE, GREY, INK = "#D55E00", "#CC79A7", "#B8B8B8", "#222222"

_DPI = 100
_MOST_TICKS = 30
_MOST_SEAMS = 150
_FORMATS = (".png", ".svg", ".pdf")


def new_axes(width: float = 8.0, height: float = 4.5) -> Axes:
    """Return the axes of a figure of its own, which no global state keeps alive."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def save_plot(ax: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure of ``ax``; the ending of ``path`` says in which format."""
    target = Path(path)
    figure = ax.get_figure(root=True)
    assert figure is not None
    if target.suffix not in _FORMATS:
        raise FileError(
            f"{target} ends in {target.suffix!r}; one of {', '.join(_FORMATS)} is wanted."
        )
    content = io.BytesIO()
    figure.savefig(content, format=target.suffix[1:], dpi=_DPI)
    write_bytes(target, content.getvalue())


def pixels(ax: Axes) -> NDArray[np.uint8]:
    """Return the figure of ``ax`` as colours, ``(height, width, 3)``."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()


def settle(ax: Axes) -> Figure:
    """Lay the figure of ``ax`` out, so that places in pixels are final; return the figure."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    figure.draw_without_rendering()
    return figure


def title(ax: Axes, text: str) -> None:
    """Put a title above the left edge."""
    ax.set_title(text, loc="left", fontsize=10, color=INK, wrap=True)


def plain(ax: Axes) -> None:
    """Take away the frame, where it says nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def seams(cells: int) -> dict[str, Any]:
    """Return how cells of a grid are set apart: not at all where they are thin."""
    if cells > _MOST_SEAMS:
        return {"edgecolors": "none"}
    return {"edgecolors": "white", "linewidth": 0.8 if cells <= 60 else 0.4}


def short_names(names: Sequence[str]) -> tuple[str, list[str]]:
    """Split ``arm 0``, … or ``node 0-0``, … into noun and numbers; other names stay whole."""
    nouns = {name.rpartition(" ")[0] for name in names}
    numbers = [name.rpartition(" ")[2] for name in names]
    if (
        len(nouns) == 1
        and "" not in nouns
        and all(each.replace("-", "").isdigit() for each in numbers)
    ):
        return f"{nouns.pop()}s", numbers
    return "", [name if len(name) <= 24 else f"{name[:23]}…" for name in names]


def tick_names(axis: Any, places: ArrayLike, names: Sequence[str], most: int) -> str:
    """Label ticks with names, every k-th if there are more than ``most``; return their noun."""
    noun, texts = short_names(names)
    most = most if len(names) <= 100 else most // 2
    every = max(1, int(np.ceil(len(names) / most)))
    axis.set_ticks(np.asarray(places)[::every], texts[::every], fontsize=8)
    if axis.axis_name == "x" and not noun:
        axis.set_tick_params(rotation=90)
    return noun


def name_group(ax: Axes, places: ArrayLike, text: str) -> None:
    """Write what a group of ticks stands for, below their labels."""
    where = np.asarray(places, dtype=np.float64)
    if not len(where):
        return
    longest = max((len(label.get_text()) for label in ax.get_xticklabels()), default=0)
    is_upright = any(label.get_rotation() for label in ax.get_xticklabels())
    ax.annotate(
        text,
        (float(where.mean()), 0.0),
        (0, -19 - (4.6 * longest if is_upright else 0)),
        xycoords=ax.get_xaxis_transform(),
        textcoords="offset points",
        ha="center",
        va="top",
        fontsize=9,
    )


def tick_groups(ax: Axes, *groups: tuple[ArrayLike, Sequence[str]]) -> list[str]:
    """Label the x-axis with the names of several groups of places; return the noun of each."""
    every = max(1, int(np.ceil(sum(len(names) for _, names in groups) / _MOST_TICKS)))
    nouns, ticks, texts = [], [], []
    for places, names in groups:
        noun, short = short_names(names)
        nouns.append(noun)
        ticks += np.asarray(places)[::every].tolist()
        texts += short[::every]
    is_short = all(text.isdigit() for text in texts)
    ax.set_xticks(ticks, texts, fontsize=8, rotation=0 if is_short else 90)
    return nouns
