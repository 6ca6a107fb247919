"""``sequoia programme absent`` and ``rename``: people are away, and have other names."""

from typing import Annotated

import typer

from sequoia.errors import ProblemError
from sequoia_programme.absences import set_absent, set_back
from sequoia_programme.changing import KINDS as RENAMED
from sequoia_programme.changing import rename as rename_all
from sequoia_programme.cli.options import Folder, read_day
from sequoia_programme.settings import read_programme


def absent(
    folder: Folder,
    who: Annotated[str, typer.Argument(metavar="NAME", help="Who is away.")],
    first: Annotated[
        str | None, typer.Option("--from", metavar="DATE", help="The first day; today.")
    ] = None,
    last: Annotated[
        str | None, typer.Option("--until", metavar="DATE", help="The last day; the first.")
    ] = None,
    back: Annotated[
        bool, typer.Option("--back", help="They are back on the day of --from.")
    ] = False,
) -> None:
    """Note that somebody is away, or back: patients and staff."""
    programme = read_programme(folder)
    begins = read_day(first, programme.calendar)
    if back:
        typer.echo(f"{set_back(programme, who, begins)} is back on {begins}.")
        return
    ends = begins if last is None else read_day(last, programme.calendar)
    typer.echo(f"{set_absent(programme, who, begins, ends)} is absent from {begins} to {ends}.")


def rename(
    folder: Folder,
    old: Annotated[str, typer.Argument(metavar="OLD", help="What it is called in the records.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="What it is to be called.")],
    kind: Annotated[str, typer.Option(help=f"What is renamed: {', '.join(RENAMED)}.")] = RENAMED[0],
) -> None:
    """Give a person, a state, a dose or a group another name in all records."""
    if kind not in RENAMED:
        raise ProblemError(f"--kind is {kind!r}; one of {', '.join(RENAMED)} is wanted.")
    done = rename_all(read_programme(folder), kind, old, new)
    typer.echo(f"{old} is {new} now: {done}.")
