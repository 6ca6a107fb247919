"""``sequoia programme import``, ``record`` and ``export``: sheets, in and out."""

from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Annotated

import typer

from sequoia.cli.common import Force
from sequoia.errors import ProblemError
from sequoia_programme.cli.options import Correct, Day, Folder, read_day
from sequoia_programme.recording import record as record_outcomes
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import read_programme

# What only some commands need is imported where they begin, so that recording takes no time.


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
    absences: Annotated[
        Path | None,
        typer.Option(metavar="SHEET", help="Who is away: name, first, last."),
    ] = None,
    correct: Correct = False,
) -> None:
    """Import sheets, CSV or XLSX: all of it, or nothing.

    What is there already is not added again, so the same sheet can be imported as it grows.
    """
    from sequoia_programme.importing import import_sheets

    given = ((ARM, roster), (WORKER, staff))
    sheets = {role: path for role, path in given if path is not None}
    if not sheets and log is None and absences is None:
        raise ProblemError("nothing to import; --absences, --roster, --staff or --log is wanted.")
    programme = read_programme(folder)
    done = import_sheets(programme, sheets, log, away=absences, correct=correct, today=date.today())
    for line in (*done.lines, *done.remarks):
        typer.echo(line)


def record(
    folder: Folder,
    outcomes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WHO=STATE…",
            help="Who was seen in which state, or what happened instead: not at home, refused, "
            "not found, cancelled, moved away, died, left or entered.",
        ),
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
    time: Annotated[str, typer.Option(metavar="HH:MM", help="At which time of the day.")] = "",
    note: Annotated[str, typer.Option(metavar="WORDS", help="What else is worth noting.")] = "",
    recorder: Annotated[str, typer.Option(metavar="NAME", help="Who records this.")] = "",
    correct: Correct = False,
    day: Day = None,
) -> None:
    """Record visits, the states that were seen, and what happened instead."""
    if not outcomes and file is None:
        raise ProblemError("nothing to record; WHO=STATE, such as 'Ada=good', or --file is wanted.")
    if only_seen and (dose or by):
        raise ProblemError("--only-seen is about states without a visit; leave --dose and --by.")
    programme = replace(read_programme(folder), actor=recorder)
    done = record_outcomes(
        programme,
        outcomes or (),
        read_day(day, programme.calendar),
        sheet=file,
        by=by,
        dose="" if only_seen else dose,
        time=time,
        remark=note,
        correct=correct,
        today=date.today(),
    )
    typer.echo(f"Recorded: {done.words}.")
    for line in done.remarks:
        typer.echo(line)


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
        from sequoia_programme.exporting import export as export_sheets

        for path in export_sheets(programme, output, force):
            typer.echo(f"Wrote {path}.")
    if problem is not None or states is not None:
        from sequoia_programme.situation import find_situation
        from sequoia_programme.trained import export_problem

        situation = find_situation(programme, read_day(day, programme.calendar))
        for path in export_problem(situation, problem, states, force):
            typer.echo(f"Wrote {path}.")
