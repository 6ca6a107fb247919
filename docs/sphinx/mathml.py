"""Formulas as MathML: every browser draws them, and no page needs a script or a network."""

from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def _inline(self: Any, node: nodes.math) -> None:
    self.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def _block(self: Any, node: nodes.math_block) -> None:
    formula = node.astext().strip()
    if "\\\\" in formula and "\\begin" not in formula:
        formula = f"\\begin{{aligned}}{formula}\\end{{aligned}}"
    self.body.append(f'<div class="formula">{tex2mathml(formula, as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, bool]:
    """Register this extension."""
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_inline, None), block_renderers=(_block, None)
    )
    return {"parallel_read_safe": True}
