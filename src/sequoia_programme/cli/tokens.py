"""``sequoia programme token``: which other systems may use the programming interface."""

from pathlib import Path
from typing import Annotated

import typer

from sequoia_programme.settings import read_programme
from sequoia_programme.tokens import SCOPES, add_token, all_tokens, remove_token

app = typer.Typer(
    name="token",
    help="Say which other systems may use the programming interface.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the programme.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="What the other system is called.")]


@app.command()
def add(
    folder: Folder,
    name: Name,
    scope: Annotated[
        list[str], typer.Option(help=f"What it may do, once or more: {', '.join(SCOPES)}.")
    ],
    days: Annotated[int, typer.Option(help="How long it lasts.")] = 90,
) -> None:
    """Add a token and print it; it is shown this once."""
    typer.echo(add_token(read_programme(folder), name, scope, days))


@app.command()
def remove(folder: Folder, name: Name) -> None:
    """Remove a token: whoever has it is out at once."""
    remove_token(read_programme(folder), name)
    typer.echo(f"Removed {name}.")


@app.command("list")
def list_tokens(folder: Folder) -> None:
    """List the tokens, what they are for and when they end."""
    found = all_tokens(read_programme(folder))
    for one in found:
        typer.echo(f"{one.name}  {' '.join(one.scopes)}  until {one.expires:%Y-%m-%d %H:%M} UTC")
    if not found:
        typer.echo("There are no tokens: no other system gets in.")
