"""Options that commands of a programme share."""

import sys
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated

import typer

from sequoia.errors import ProblemError
from sequoia_programme.calendar import MOST_DAYS, Calendar, UnreadableDate, days_of
from sequoia_programme.settings import Programme

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


Yes = Annotated[
    bool, typer.Option("--yes", "-y", help="Do not ask about dates that are past or far away.")
]

Days = Annotated[
    int | None, typer.Option(help="How many days that count, or weeks; 1 unless given.", min=1)
]
First = Annotated[
    str | None, typer.Option("--from", metavar="DATE", help="The first date; today unless given.")
]
Last = Annotated[
    str | None, typer.Option("--to", metavar="DATE", help="The last date, instead of --days.")
]

# A slip in the month or the year of a date is more than a month.
_FAR = timedelta(days=31)


def ask_about(day: date, calendar: Calendar, yes: bool) -> None:
    """Ask whether a date is meant that is past or far away; where nobody can be asked, refuse."""
    today = date.today()
    is_past = calendar.step_of(day) < calendar.step_of(today)
    if yes or (not is_past and day - today <= _FAR):
        return
    said = f"{day} is past" if is_past else f"{day} is {(day - today).days} days away"
    if not sys.stdin.isatty():
        raise ProblemError(f"{said}, as today is {today}; --yes plans it all the same.")
    typer.confirm(f"{said}. Plan it all the same?", abort=True)


def read_day(text: str | None, calendar: Calendar) -> date:
    """Return a date from an option; today unless given."""
    if text is None:
        return date.today()
    try:
        return calendar.read_date(text)
    except UnreadableDate as error:
        raise ProblemError(f"{error}.") from None


def read_days(
    programme: Programme, days: int | None, first: str | None, last: str | None, yes: bool
) -> list[date]:
    """Return the first dates of the steps that options ask for."""
    calendar = programme.calendar
    if days is not None and last is not None:
        raise ProblemError("--days and --to both say where to end; one is wanted.")
    begin = calendar.date_of(calendar.step_of(read_day(first, calendar)))
    if last is not None:
        end = read_day(last, calendar)
    else:
        number = min((days or 1) - 1, MOST_DAYS)
        end = calendar.date_of(calendar.step_of(begin) + number)
    ask_about(begin, calendar, yes)
    ask_about(end, calendar, yes)
    return days_of(calendar, begin, end)
