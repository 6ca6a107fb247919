"""Formulas as MathML: every browser draws them, and no page needs a script or a network."""

from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util.logging import getLogger


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(_drawn(node, as_block=False))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    self.body.append(f'<div class="formula">{_drawn(node, as_block=True)}</div>')
    raise nodes.SkipNode


def _drawn(node: nodes.Element, as_block: bool) -> str:
    try:
        return tex2mathml(node.astext().strip(), as_block=as_block)
    except MathError as error:
        getLogger(__name__).warning("a formula cannot be drawn: %s", error, location=node)
        return ""


def setup(app: Any) -> dict[str, bool]:
    """Register this extension."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_inline, None), block_renderers=(_block, None)
    )
    return {"parallel_read_safe": True}
