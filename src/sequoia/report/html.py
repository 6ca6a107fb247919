"""Pages of HTML that need no other file: pictures inside, no scripts, nothing to fetch."""

from collections.abc import Iterable
from html import escape

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #222; background: #fff;
       max-width: 54rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; margin-bottom: .2rem; }
h2 { font-size: 1.2rem; margin-top: 2.4rem; border-bottom: 1px solid #ddd; }
img { max-width: 100%; height: auto; display: block; margin: .6rem 0; }
table { border-collapse: collapse; margin: .8rem 0; }
th, td { padding: .2rem .9rem .2rem 0; text-align: right; vertical-align: top; }
th { border-bottom: 1px solid #999; font-weight: 600; }
th:first-child, td:first-child { text-align: left; white-space: nowrap; }
.words td { text-align: left; }
.quiet { color: #666; font-size: .9rem; }
.wide { overflow-x: auto; }
.tight td { white-space: nowrap; }
"""


def page(title: str, headline: str, sections: Iterable[tuple[str, str]]) -> str:
    """Return a page; all but the titles are HTML already."""
    body = "\n".join(f"<h2>{escape(name)}</h2>\n{content}" for name, content in sections)
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
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>'


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of labels and texts, or nothing where there are none."""
    body = "".join(
        f"<tr><th>{escape(label)}</th><td>{escape(text)}</td></tr>" for label, text in rows
    )
    return f'<div class="wide"><table class="words">{body}</table></div>' if body else ""
