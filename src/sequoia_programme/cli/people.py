"""``sequoia programme absent`` and ``rename``: people are away, and have other names."""

import sys
from typing import Annotated

import typer

from sequoia.errors import ProblemError
from sequoia.problem.names import count
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


def forget(
    folder: Folder,
    who: Annotated[
        list[str] | None, typer.Argument(metavar="NAME…", help="Who is to be forgotten.")
    ] = None,
    left_before: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="And everybody who left before this date."),
    ] = None,
    anonymise: Annotated[
        bool,
        typer.Option("--anonymise", help="Keep the log, under a random name; else nothing."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Delete people, or make them anonymous, with everything derived from them; no way back."""
    from sequoia_programme.forgetting import forget as forget_people

    if not who and left_before is None:
        raise ProblemError("nobody is named; a name or --left-before is wanted.")
    programme = read_programme(folder)
    before = None if left_before is None else read_day(left_before, programme.calendar)
    if not yes:
        if not sys.stdin.isatty():
            raise ProblemError("what is forgotten does not come back; --yes does it.")
        typer.confirm("What is forgotten does not come back. Go on?", abort=True)
    done = forget_people(programme, who or (), left_before=before, anonymise=anonymise)
    typer.echo(
        f"{'Anonymous' if anonymise else 'Deleted'}: {count(done.people, 'person', 'people')}."
    )
    for table, number in sorted(done.rows.items()):
        typer.echo(f"  {table}: {count(number, 'row')}")
    for name in done.files:
        typer.echo(f"  {name} is removed, and computed again when it is asked for.")
    for name in done.left:
        typer.echo(f"  {name} still names somebody, or may; it is yours to remove.")
    if done.people:
        typer.echo(
            "Backups and files elsewhere are not reached. Estimates are sums over everybody; "
            f"sequoia programme fit {folder} makes them anew from what is left."
        )
