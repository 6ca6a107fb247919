"""``sequoia programme``: keep a programme from day to day."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from sequoia.errors import ProblemError
from sequoia.problem.names import closest
from sequoia.programme.calendar import STEPS, WEEKDAYS, Calendar, UnreadableDate
from sequoia.programme.creating import KINDS, Beginning, create
from sequoia.programme.importing import import_sheets
from sequoia.programme.recording import record as record_outcomes
from sequoia.programme.schema import ARM, WORKER
from sequoia.programme.settings import FILE, read_programme

app = typer.Typer(
    name="programme",
    help="Keep a programme: roster, log and plans, day by day.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Folder = Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder of the programme.")]
Day = Annotated[
    str | None,
    typer.Option(
        "--date", metavar="DATE", help="The date, such as 2026-11-02; today unless given."
    ),
]
Correct = Annotated[
    bool, typer.Option("--correct", help="Replace what the log says of the same people and dates.")
]


@app.command()
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
        str | None, typer.Option(metavar="NAMES", help="The slots of a schedule, such as Mon,Wed.")
    ] = None,
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
    given = {"limit": limit, "slots": slots}
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
        database=database,
    )
    create(folder, beginning)
    typer.echo(f"Wrote {folder / FILE}; edit it as you like. Import a roster and a staff next.")


@app.command("import")
def import_(
    folder: Folder,
    roster: Annotated[
        Path | None,
        typer.Option(metavar="SHEET", help="Whom to visit: name, group, joined, left, cost, …"),
    ] = None,
    staff: Annotated[
        Path | None,
        typer.Option(metavar="SHEET", help="Who visits: name, capacity or slots, joined, left."),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="SHEET", help="What happened: date, who, state, by, dose."),
    ] = None,
    correct: Correct = False,
) -> None:
    """Import sheets, CSV or XLSX: all of it, or nothing.

    What is there already is not added again, so the same sheet can be imported as it grows.
    """
    given = ((ARM, roster), (WORKER, staff))
    sheets = {role: path for role, path in given if path is not None}
    if not sheets and log is None:
        raise ProblemError("nothing to import; --roster, --staff or --log is wanted.")
    programme = read_programme(folder)
    done = import_sheets(programme, sheets, log, correct=correct, today=date.today())
    for line in (*done.lines, *done.remarks):
        typer.echo(line)


@app.command()
def record(
    folder: Folder,
    outcomes: Annotated[
        list[str] | None,
        typer.Argument(metavar="WHO=STATE…", help="Who was seen in which state."),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Option(
            metavar="SHEET", help="A plan's sheet with the column seen filled in, or a log."
        ),
    ] = None,
    by: Annotated[
        str, typer.Option(metavar="WORKER", help="Who visited; unless given, as planned.")
    ] = "",
    dose: Annotated[
        str | None, typer.Option(help="What was given; unless given, the first dose.")
    ] = None,
    only_seen: Annotated[
        bool, typer.Option("--only-seen", help="The states were seen without a visit.")
    ] = False,
    correct: Correct = False,
    day: Day = None,
) -> None:
    """Record visits and the states that were seen."""
    if not outcomes and file is None:
        raise ProblemError("nothing to record; WHO=STATE, such as 'Ada=good', or --file is wanted.")
    if only_seen and (dose or by):
        raise ProblemError("--only-seen is about states without a visit; leave --dose and --by.")
    programme = read_programme(folder)
    done = record_outcomes(
        programme,
        outcomes or (),
        read_day(day, programme.calendar),
        sheet=file,
        by=by,
        dose="" if only_seen else dose,
        correct=correct,
    )
    typer.echo(f"Recorded: {done.words}.")
    for line in done.remarks:
        typer.echo(line)


def read_day(text: str | None, calendar: Calendar) -> date:
    """Return a date from an option; today unless given."""
    if text is None:
        return date.today()
    try:
        return calendar.read_date(text)
    except UnreadableDate as error:
        raise ProblemError(f"{error}.") from None


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
