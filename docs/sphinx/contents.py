"""The order of the pages: ``contents.txt`` is put behind the README, which stays without it."""

import shutil
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

CONTENTS = Path(__file__).with_name("contents.txt")


def _append(app: Any, docname: str, source: list[str]) -> None:
    if docname == app.config.root_doc:
        source[0] += "\n" + CONTENTS.read_text(encoding="utf-8")


def _front(app: Any, error: Exception | None) -> None:
    """Let the site open at its front page."""
    if error is None and app.builder.format == "html":
        shutil.copy(Path(app.outdir, f"{app.config.root_doc}.html"), Path(app.outdir, "index.html"))


def setup(app: Any) -> dict[str, bool]:
    """Register this extension."""
    app.add_lexer("csv", TextLexer)  # the tables of a problem; Pygments has no lexer for them
    app.connect("source-read", _append)
    app.connect("build-finished", _front)
    return {"parallel_read_safe": True}
