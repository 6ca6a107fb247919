"""Options that commands of a programme share."""

from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from sequoia.errors import ProblemError
from sequoia_programme.calendar import Calendar, UnreadableDate

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


def read_day(text: str | None, calendar: Calendar) -> date:
    """Return a date from an option; today unless given."""
    if text is None:
        return date.today()
    try:
        return calendar.read_date(text)
    except UnreadableDate as error:
        raise ProblemError(f"{error}.") from None
