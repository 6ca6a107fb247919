"""Pictures inside a page."""

import base64
import io
from html import escape

from matplotlib.axes import Axes

_DPI = 150


def embedded(ax: Axes, words: str) -> str:
    """Return the figure of ``ax`` as an HTML image that needs no other file.

    Parameters
    ----------
    words
        What the picture shows, for those who cannot see it.
    """
    figure = ax.get_figure(root=True)
    assert figure is not None
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI)
    width, height = figure.get_size_inches() * 100
    content = base64.b64encode(buffer.getvalue()).decode()
    return (
        f'<img alt="{escape(words, quote=True)}" width="{width:.0f}" height="{height:.0f}" '
        f'src="data:image/png;base64,{content}">'
    )
