"""``sequoia programme fit``, ``today`` and ``history``: from day to day.

What they need is imported where they begin: it takes a second, which recording should not.
"""

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
from sequoia.defaults import DECISION_SECONDS
from sequoia.errors import ProblemError
from sequoia.problem.names import count
from sequoia_programme.cli.options import (
    Day,
    Days,
    First,
    Folder,
    Last,
    Yes,
    ask_about,
    read_day,
    read_days,
)
from sequoia_programme.settings import read_programme

Seconds = Annotated[float, typer.Option(help="Seconds for one decision.")]
Outputs = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help="Where to write: FILE.csv, .xlsx, .html, .pdf or .ics; may be repeated.",
    ),
]


def _require_seconds(seconds: float) -> None:
    if not seconds > 0:
        raise ProblemError(f"seconds is {seconds:g}; more than 0 seconds are wanted.")


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
    from sequoia_programme.cli.show_fit import FitOptions, run_fit

    programme = read_programme(folder)
    options = FitOptions(hold_out, table, picture, calibration, force)
    run_fit(programme, read_day(day, programme.calendar), options, as_json)


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
    seconds: Seconds = DECISION_SECONDS,
    output: Outputs = None,
    force: Force = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Propose a plan for today; publish makes it the one that holds."""
    from sequoia.planning.overrides import OVERRIDES
    from sequoia_programme.cli.show_today import TodayOptions, run_today

    _require_seconds(seconds)
    programme = read_programme(folder)
    given = (absent, must, never, lock, order, hours)
    overrides = {key: texts or [] for key, texts in zip(OVERRIDES, given, strict=True)}
    if explore and cautious:
        raise ProblemError("--explore and --cautious are two ways to plan; choose one.")
    outlook = "explore" if explore else "cautious" if cautious else "expected"
    options = TodayOptions(
        overrides, why or [], policy, model, outlook, seconds, output or [], force
    )
    date_of_plan = read_day(day, programme.calendar)
    ask_about(date_of_plan, programme.calendar, yes)
    run_today(programme, date_of_plan, options, as_json)


def plan(
    folder: Folder,
    days: Days = None,
    first: First = None,
    last: Last = None,
    keep: Annotated[
        float | None,
        typer.Option(
            metavar="WORTH",
            help="What is published stays unless a change gains more than this for each visit "
            "that it drops; 0.1 unless given.",
            min=0,
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(help="A policy; unless given, the best for the problem as it is now."),
    ] = None,
    seconds: Seconds = DECISION_SECONDS,
    output: Outputs = None,
    force: Force = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Propose plans for several days at once; publish makes them the ones that hold."""
    from sequoia_programme.cli.show_week import WeekOptions, run_week

    _require_seconds(seconds)
    programme = read_programme(folder)
    wanted = read_days(programme, days, first, last, yes)
    options = WeekOptions(keep, policy, seconds, output or [], force)
    run_week(programme, wanted, options, as_json)


def publish(
    folder: Folder,
    day: Day = None,
    days: Days = None,
    first: First = None,
    last: Last = None,
    yes: Yes = False,
) -> None:
    """Publish the plans that were proposed last: the next plans expect their visits."""
    from sequoia_programme.cli.show_today import show_changes
    from sequoia_programme.output import long_date
    from sequoia_programme.today import publish_all

    if day is not None and (days is not None or first is not None or last is not None):
        raise ProblemError("--date is one day; --days, --from and --to are several: choose one.")
    programme = read_programme(folder)
    wanted = read_days(programme, days, first or day, last, yes)
    for done in publish_all(programme, wanted):
        number = count(len(done.plan.tasks), "task")
        typer.echo(f"Published the plan of {long_date(done.plan.date)}: {number}.")
        for line in show_changes(done.before, done.plan):
            typer.echo(line)


def cancel(
    folder: Folder,
    day: Day = None,
    who: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only the visit to them; may be repeated."),
    ] = None,
) -> None:
    """Take a published plan back, or cancel some of its visits."""
    from sequoia_programme.cancelling import cancel_visits
    from sequoia_programme.today import withdraw

    programme = read_programme(folder)
    wanted = programme.calendar.date_of(
        programme.calendar.step_of(read_day(day, programme.calendar))
    )
    if who:
        names = cancel_visits(programme, wanted, who)
        typer.echo(f"Cancelled on {wanted}: {', '.join(names)}.")
    elif withdraw(programme, wanted):
        typer.echo(f"Took back the plan of {wanted}.")
    else:
        raise ProblemError(f"no plan is published for {wanted}.")


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
    from sequoia_programme.cli.show_history import show_events, show_history

    programme = read_programme(folder)
    last = read_day(day, programme.calendar)
    first = date.fromordinal(max(1, last.toordinal() - days))
    if who is not None:
        show_events(programme, who, first, last, as_json)
    else:
        show_history(programme, first, last, as_json)
