"""Pages of HTML that need no other file: pictures inside, no scripts, nothing to fetch."""

import base64
import io
from collections.abc import Callable, Iterable
from html import escape

from matplotlib.axes import Axes

from sequoia.plots.canvas import figure_of, phone_axes

_STYLE = """
:root { color-scheme: light dark;
        --ink: #222; --paper: #fff; --line: #ddd; --strong: #999; --quiet: #595959; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e6e6; --paper: #181a1b; --line: #3a3d3f; --strong: #777; --quiet: #a8a8a8; }
  img { padding: .4rem; border-radius: .3rem; box-sizing: border-box; } }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
       max-width: 54rem; margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.2; margin-bottom: .4rem; }
h2 { font-size: 1.2rem; margin-top: 2.4rem; border-bottom: 1px solid var(--line); }
.verdict { font-size: 1.1rem; }
img { max-width: 100%; height: auto; display: block; margin: .6rem 0; background: #fff; }
table { border-collapse: collapse; margin: .8rem 0; }
th, td { padding: .2rem 1.1rem .2rem 0; text-align: right; vertical-align: top; }
th { border-bottom: 1px solid var(--strong); font-weight: 600; }
td { white-space: nowrap; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
.words th { border: 0; font-weight: 400; color: var(--quiet); }
.words td { text-align: left; white-space: normal; }
.quiet { color: var(--quiet); font-size: .9rem; }
.wide { overflow-x: auto; }
@media (max-width: 520px) {
  body { margin-top: 1rem; }
  h1 { font-size: 1.35rem; }
  h2 { margin-top: 1.8rem; }
  .verdict { font-size: 1rem; }
  th, td { padding-right: .8rem; font-size: .9rem; }
  ul { padding-left: 1.2rem; } }
@media print {
  @page { margin: 16mm; }
  :root { color-scheme: light;
          --ink: #000; --paper: #fff; --line: #999; --strong: #000; --quiet: #333; }
  body { font-size: 10.5pt; max-width: none; margin: 0; padding: 0; }
  img, table, li { break-inside: avoid; }
  h1, h2 { break-after: avoid; }
  h2 { margin-top: 1.2rem; }
  img { padding: 0; max-width: 85%; max-height: 21cm; width: auto; margin: .4rem auto; }
  .wide { overflow: visible; }
  th, td { padding-right: .7rem; }
  td { white-space: normal; } }
"""
_DPI = 150
# Windows up to this width are a phone's; paper is none.
_PHONE = "screen and (max-width: 520px)"


def page(title: str, headline: str, sections: Iterable[tuple[str, str]]) -> str:
    """Return a page; all but the titles are HTML already."""
    body = "\n".join(
        f"<section>\n<h2>{escape(name)}</h2>\n{content}\n</section>" for name, content in sections
    )
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>{escape(title)}</h1>\n{headline}\n{body}\n</body>\n</html>\n"
    )


def quiet(text: str) -> str:
    """Return a remark."""
    return f'<p class="quiet">{escape(text)}</p>'


def table(head: str, rows: Iterable[str]) -> str:
    """Return a table from the cells of its head and of each row."""
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return (
        f'<div class="wide" tabindex="0"><table><thead><tr>{head}</tr></thead>{body}</table></div>'
    )


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of labels and texts, or nothing where there are none."""
    body = "".join(
        f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in rows
    )
    return f'<div class="wide"><table class="words">{body}</table></div>' if body else ""


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
