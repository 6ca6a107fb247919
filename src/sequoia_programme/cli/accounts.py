"""``sequoia programme account``: who may open the planner's page."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sequoia_programme.accounts import (
    ROLES,
    VIEW,
    WORK,
    add_account,
    all_accounts,
    change_account,
    remove_account,
)
from sequoia_programme.settings import read_programme

app = typer.Typer(
    name="account",
    help="Say who may open the planner's page.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the programme.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="What the account is called.")]
Role = Annotated[str, typer.Option(help=f"What they may do: {', '.join(ROLES)}.")]
Worker = Annotated[
    str, typer.Option(metavar="NAME", help=f"Of the role {WORK}: whose visits they see.")
]


@app.command()
def add(folder: Folder, name: Name, role: Role = VIEW, worker: Worker = "") -> None:
    """Add an account; the password is asked for, or the first line of the standard input."""
    account = add_account(read_programme(folder), name, role, _password(), worker)
    typer.echo(f"Added {account.name}, who may {account.role}.")


@app.command()
def password(folder: Folder, name: Name) -> None:
    """Give an account another password, and end its sessions."""
    change_account(read_programme(folder), name, password=_password())
    typer.echo(f"{name} has a new password.")


@app.command()
def role(folder: Folder, name: Name, role: Role, worker: Worker = "") -> None:
    """Give an account another role, and end its sessions."""
    change_account(read_programme(folder), name, role=role, worker=worker)
    typer.echo(f"{name} may {role} now.")


@app.command()
def remove(folder: Folder, name: Name) -> None:
    """Remove an account, and end its sessions."""
    remove_account(read_programme(folder), name)
    typer.echo(f"Removed {name}.")


@app.command("list")
def list_accounts(folder: Folder) -> None:
    """List the accounts."""
    found = all_accounts(read_programme(folder))
    for one in found:
        typer.echo(f"{one.name}  {one.role}{f' of {one.worker}' if one.worker else ''}")
    if not found:
        typer.echo("There are no accounts: the page is for this machine only.")


def _password() -> str:
    """Ask for a password; it stands in no command line, and so in no list of processes."""
    if sys.stdin.isatty():
        return str(typer.prompt("Password", hide_input=True, confirmation_prompt=True))
    return sys.stdin.readline().rstrip("\r\n")
