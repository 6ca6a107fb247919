"""Pictures inside a page."""

import base64
import io
from collections.abc import Callable
from html import escape

from matplotlib.axes import Axes

from sequoia.plots.canvas import figure_of, phone_axes

_DPI = 150
# Windows up to this width are a phone's; paper is none.
_PHONE = "screen and (max-width: 520px)"


def picture(draw: Callable[[Axes | None], Axes], words: str) -> str:
    """Return what ``draw`` draws as HTML: once for a screen or paper, once for a phone.

    Parameters
    ----------
    draw
        Draws on axes, or on a figure of its own.
    words
        What the picture shows, for those who cannot see it.
    """
    wide = draw(None)
    narrow = draw(phone_axes(wide))
    source = f'<source media="{_PHONE}" srcset="{_data(narrow)}">'
    return f"<picture>{source}{embedded(wide, words)}</picture>"


def embedded(ax: Axes, words: str) -> str:
    """Return the figure of ``ax`` as an HTML image that needs no other file."""
    width, height = figure_of(ax).get_size_inches() * 100
    return (
        f'<img alt="{escape(words, quote=True)}" width="{width:.0f}" height="{height:.0f}" '
        f'src="{_data(ax)}">'
    )


def _data(ax: Axes) -> str:
    buffer = io.BytesIO()
    figure_of(ax).savefig(buffer, format="png", dpi=_DPI)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode()}"
