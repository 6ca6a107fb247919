"""``sequoia solvers``: which solvers are here."""

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sequoia.solvers.registry import available


def solvers(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the solvers, and which of them are here.

    Nothing is loaded and no licence is taken.
    """
    known = available()
    if as_json:
        typer.echo(json.dumps([solver._asdict() for solver in known], indent=2, ensure_ascii=False))
        return
    table = Table("solver", "version", "", box=None)
    for solver in known:
        # Plain text, because the brackets of an extra would be read as markup.
        table.add_row(solver.name, solver.version or "not here", Text(solver.note))
    Console(highlight=False).print(table)
