"""The basis of all pictures: figures without global state, colours, legends, looks of a policy."""

import io
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from sequoia.errors import FileError
from sequoia.io import write_bytes
from sequoia.policies import POLICIES, Style

# Okabe and Ito's palette: readable for colour-blind people.
BLUE, GREEN, ORANGE, SKY = "#0072B2", "#009E73", "#E69F00", "#56B4E9"
VERMILION, PURPLE, GREY, INK = "#D55E00", "#CC79A7", "#B8B8B8", "#222222"

_DPI = 100
# A phone is 320 to 430 pixels wide; here are 100 to the inch.
_PHONE, _NARROW, _BELOW = 4.0, 5.0, 0.6
_MOST_SEAMS = 150
# Wide letters of a title to the inch, and what is left of it.
_LETTERS, _INCHES_BESIDE = 12, 1.6
_FORMATS = (".png", ".svg", ".pdf")
_STYLES = [policy.style for policy in POLICIES.values() if policy.style is not None]


def new_axes(width: float = 8.0, height: float = 4.5) -> Axes:
    """Return the axes of a figure of its own, which no global state keeps alive."""
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.add_subplot()


def figure_of(ax: Axes) -> Figure:
    """Return the figure on which axes are."""
    figure = ax.get_figure(root=True)
    assert figure is not None
    return figure


def phone_axes(ax: Axes) -> Axes:
    """Return axes on which what ``ax`` shows is drawn for a phone: what was beside it is below."""
    return new_axes(_PHONE, float(figure_of(ax).get_size_inches()[1]) + _BELOW)


def save_plot(ax: Axes, path: str | os.PathLike[str]) -> None:
    """Write the figure of ``ax``; the ending of ``path`` says in which format."""
    target = Path(path)
    if target.suffix not in _FORMATS:
        raise FileError(
            f"{target} ends in {target.suffix!r}; one of {', '.join(_FORMATS)} is wanted."
        )
    content = io.BytesIO()
    figure_of(ax).savefig(content, format=target.suffix[1:], dpi=_DPI)
    write_bytes(target, content.getvalue())


def pixels(ax: Axes) -> NDArray[np.uint8]:
    """Return the figure of ``ax`` as colours, ``(height, width, 3)``."""
    canvas = FigureCanvasAgg(figure_of(ax))
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[:, :, :3].copy()


def settle(ax: Axes) -> Figure:
    """Lay the figure of ``ax`` out, so that places in pixels are final; return the figure."""
    figure = figure_of(ax)
    figure.draw_without_rendering()
    return figure


def title(ax: Axes, text: str, pad: float = 6.0) -> None:
    """Put a title above the left edge, in at most three lines."""
    letters = int(_LETTERS * (figure_of(ax).get_size_inches()[0] - _INCHES_BESIDE))
    if len(text) > 3 * letters or max(map(len, text.split()), default=0) > letters:
        text = "\n".join(textwrap.wrap(text, letters, max_lines=3, placeholder=" …"))
    ax.set_title(text, loc="left", fontsize=10, color=INK, wrap=True, pad=pad)


def plain(ax: Axes) -> None:
    """Take away the frame, where it says nothing."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def seams(cells: int) -> dict[str, Any]:
    """Return how cells of a grid are set apart: not at all where they are thin."""
    if cells > _MOST_SEAMS:
        return {"edgecolors": "none"}
    return {"edgecolors": "white", "linewidth": 0.8 if cells <= 60 else 0.4}


def is_narrow(ax: Axes) -> bool:
    """Whether a picture is drawn for a phone, where nothing fits beside it."""
    return bool(figure_of(ax).get_size_inches()[0] < _NARROW)


def legend(ax: Axes, **options: Any) -> None:
    """Explain what is drawn: beside it, or below where the picture is narrow."""
    looks: dict[str, Any] = {"frameon": False, "fontsize": 8, "labelcolor": INK}
    if is_narrow(ax):
        figure_of(ax).legend(loc="outside lower center", ncols=2, **looks, **options)
    else:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), **looks, **options)


def style_of(name: str, names: Sequence[str]) -> Style:
    """Return how a policy is drawn; one of your own gets a look by its position."""
    known = POLICIES[name].style if name in POLICIES else None
    return known or _STYLES[-1 - list(names).index(name) % len(_STYLES)]


def colour_of(name: str, names: Sequence[str]) -> str:
    """Return the colour of a policy."""
    return style_of(name, names).colour


def marker_of(name: str, names: Sequence[str]) -> str:
    """Return the marker of a policy."""
    return style_of(name, names).marker


def line_of(name: str, names: Sequence[str]) -> str:
    """Return the line style of a policy, so that two that run together are both seen."""
    return style_of(name, names).line
