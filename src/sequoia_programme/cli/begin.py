"""``sequoia programme init``: a new programme."""

from datetime import date
from typing import Annotated

import typer

from sequoia.errors import ProblemError
from sequoia.problem.names import closest
from sequoia_programme.calendar import STEPS, WEEKDAYS, Calendar
from sequoia_programme.cli.options import Folder, read_day
from sequoia_programme.creating import KINDS, Beginning, create
from sequoia_programme.settings import FILE


def init(
    folder: Folder,
    states: Annotated[
        str,
        typer.Option(
            metavar="NAME=REWARD,…",
            help="The states and what a step in each is worth, such as 'good=1,at risk=0.4'.",
        ),
    ],
    name: Annotated[str | None, typer.Option(help="What it is called; as the folder.")] = None,
    step: Annotated[str, typer.Option(help="What a step is: day or week.")] = "day",
    start: Annotated[
        str | None, typer.Option(metavar="DATE", help="A date of the first step; today.")
    ] = None,
    days: Annotated[
        str, typer.Option(metavar="DAYS", help="The days that are steps, such as Mon,Tue,Wed.")
    ] = ",".join(WEEKDAYS),
    kind: Annotated[
        str, typer.Option(help=f"What limits a step: {', '.join(KINDS)}.")
    ] = "assignment",
    limit: Annotated[
        float | None, typer.Option(help="How much a budget has, or how many a schedule may visit.")
    ] = None,
    slots: Annotated[
        str | None,
        typer.Option(metavar="NAMES", help="The slots of a schedule or rota, such as Mon,Wed."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where a walk begins and ends.")
    ] = None,
    length: Annotated[
        int | None, typer.Option(help="How long a walk may be, as its edges count.", min=1)
    ] = None,
    reported: Annotated[
        float,
        typer.Option(help="How often a state is known without a visit.", min=0, max=1),
    ] = 0.0,
    never_hurts: Annotated[
        bool, typer.Option("--never-hurts", help="A visit never makes things worse.")
    ] = False,
    database: Annotated[
        str,
        typer.Option(
            metavar="URL", help="A server, such as postgresql+psycopg://host/name; else SQLite."
        ),
    ] = "",
) -> None:
    """Begin a programme: settings to edit, and an empty database."""
    if step not in STEPS:
        raise ProblemError(f"--step is {step!r}; {' or '.join(STEPS)} is wanted.")
    if kind not in KINDS:
        raise ProblemError(
            f"--kind is {kind!r}; one of {', '.join(KINDS)} is wanted{closest(kind, list(KINDS))}."
        )
    given = {"limit": limit, "slots": slots, "source": source, "length": length}
    for option in KINDS[kind]:
        if given[option] is None:
            raise ProblemError(f"a {kind} needs --{option}.")
    beginning = Beginning(
        name=name or folder.resolve().name,
        start=read_day(start, Calendar(date.today())),
        states=_rewards(states),
        step=step,
        days=_listed(days),
        kind=kind,
        limit=limit,
        slots=_listed(slots or ""),
        source=source or "",
        length=length,
        reported=reported,
        never_hurts=never_hurts,
        database=database,
    )
    create(folder, beginning)
    typer.echo(f"Wrote {folder / FILE}; edit it as you like. Import a roster and a staff next.")


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _rewards(text: str) -> dict[str, float]:
    rewards: dict[str, float] = {}
    for part in _listed(text):
        name, _, value = part.rpartition("=")
        try:
            rewards[name.strip()] = float(value)
        except ValueError:
            name = ""
        if not name.strip():
            raise ProblemError(f"--states has {part!r}; NAME=REWARD, such as 'good=1', is wanted.")
    return rewards
