"""``sequoia programme``: keep a programme from day to day."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from sequoia.cli.common import (
    AsJson,
    CalibrationPicture,
    EstimatesPicture,
    EstimatesTable,
    Force,
    HoldOut,
    Hours,
    Locks,
    Orders,
)
from sequoia.errors import ProblemError
from sequoia.problem.names import closest
from sequoia.programme.calendar import STEPS, WEEKDAYS, Calendar, UnreadableDate
from sequoia.programme.changing import KINDS as RENAMED
from sequoia.programme.changing import rename as rename_all
from sequoia.programme.changing import set_absent, set_back
from sequoia.programme.creating import KINDS, Beginning, create
from sequoia.programme.importing import import_sheets
from sequoia.programme.recording import record as record_outcomes
from sequoia.programme.schema import ARM, WORKER
from sequoia.programme.settings import FILE, read_programme

# What only some commands need is imported where they begin, so that recording takes no time.
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
        reported=reported,
        never_hurts=never_hurts,
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


@app.command()
def fit(
    folder: Folder,
    day: Day = None,
    hold_out: HoldOut = False,
    table: EstimatesTable = None,
    picture: EstimatesPicture = None,
    calibration: CalibrationPicture = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Estimate transitions from the log, and say how sure they are."""
    from sequoia.cli.programme_fit import FitOptions, run_fit

    programme = read_programme(folder)
    options = FitOptions(hold_out, table, picture, calibration, force)
    run_fit(programme, read_day(day, programme.calendar), options, as_json)


@app.command()
def today(
    folder: Folder,
    day: Day = None,
    absent: Annotated[
        list[str] | None, typer.Option(metavar="WORKER", help="Who is off today.")
    ] = None,
    must: Annotated[list[str] | None, typer.Option(metavar="ARM", help="Whom to visit.")] = None,
    never: Annotated[
        list[str] | None, typer.Option(metavar="ARM", help="Whom not to visit.")
    ] = None,
    lock: Locks = None,
    order: Orders = None,
    hours: Hours = None,
    why: Annotated[
        list[str] | None,
        typer.Option(metavar="ARM", help="Say what dropping or including them would cost."),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="A policy; unless given, the best for the problem as it is now."),
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A trained model, to be considered too.")
    ] = None,
    explore: Annotated[
        bool,
        typer.Option("--explore", help="Plan for a draw from what transitions may be, to learn."),
    ] = False,
    cautious: Annotated[
        bool, typer.Option("--cautious", help="Plan for transitions that are worse than most.")
    ] = False,
    time_limit: Annotated[float, typer.Option(help="Seconds for one decision.")] = 10.0,
    output: Annotated[
        list[Path] | None,
        typer.Option(
            "--output",
            "-o",
            help="Where to write: FILE.csv, .xlsx, .html or .ics; may be repeated.",
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Plan today, and keep the plan."""
    from sequoia.cli.programme_today import TodayOptions, run_today
    from sequoia.planning.overrides import OVERRIDES

    if not time_limit > 0:
        raise ProblemError(f"the time limit is {time_limit:g}; more than 0 seconds are wanted.")
    programme = read_programme(folder)
    given = (absent, must, never, lock, order, hours)
    overrides = {key: texts or [] for key, texts in zip(OVERRIDES, given, strict=True)}
    if explore and cautious:
        raise ProblemError("--explore and --cautious are two ways to plan; choose one.")
    outlook = "explore" if explore else "cautious" if cautious else "expected"
    options = TodayOptions(
        overrides, why or [], policy, model, outlook, time_limit, output or [], force
    )
    run_today(programme, read_day(day, programme.calendar), options, as_json)


@app.command()
def history(
    folder: Folder,
    who: Annotated[
        str | None, typer.Option(metavar="NAME", help="Everything that happened with somebody.")
    ] = None,
    days: Annotated[int, typer.Option(help="How many days back.", min=1)] = 7,
    day: Day = None,
    as_json: AsJson = False,
) -> None:
    """Show past plans, what became of them and what was overridden."""
    from sequoia.cli.programme_history import show_events, show_history

    programme = read_programme(folder)
    last = read_day(day, programme.calendar)
    first = date.fromordinal(max(1, last.toordinal() - days))
    if who is not None:
        show_events(programme, who, first, last, as_json)
    else:
        show_history(programme, first, last, as_json)


@app.command()
def export(
    folder: Folder,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="All sheets: a workbook FILE.xlsx, or a folder of CSV."
        ),
    ] = None,
    problem: Annotated[
        Path | None,
        typer.Option(help="The problem as it is now, for other commands: FILE.npz or a folder."),
    ] = None,
    states: Annotated[
        Path | None, typer.Option(metavar="CSV", help="Today's states of that problem.")
    ] = None,
    day: Day = None,
    force: Force = False,
) -> None:
    """Write everything as sheets, or the problem as it is now."""
    if output is None and problem is None and states is None:
        raise ProblemError("nothing to export; --output, --problem or --states is wanted.")
    programme = read_programme(folder)
    if output is not None:
        from sequoia.programme.exporting import export as export_sheets

        for path in export_sheets(programme, output, force):
            typer.echo(f"Wrote {path}.")
    if problem is not None or states is not None:
        from sequoia.cli.programme_today import export_problem

        export_problem(programme, read_day(day, programme.calendar), problem, states, force)


@app.command()
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


@app.command()
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
