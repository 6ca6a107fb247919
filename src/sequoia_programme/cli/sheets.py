"""``sequoia programme import``, ``record`` and ``export``: sheets, in and out."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from sequoia.cli.common import Force
from sequoia.errors import FileError, ProblemError
from sequoia.io import refuse_to_replace, write_text
from sequoia.problem.names import count, say
from sequoia.problem.spreadsheet import Cell, csv_text
from sequoia_programme.cli.options import Correct, Day, Folder, read_day
from sequoia_programme.recording import record as record_outcomes
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme, read_programme

if TYPE_CHECKING:
    from sequoia_programme.matching import Matched

# Why a column is certainly what it is taken for.
_SURE = ("it is called so", "as before")

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
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN=NAME",
            help="What a column is that is called otherwise, such as 'visit_date=date'; - leaves "
            "it out. It is remembered for such sheets.",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", help="Take columns for what they seem to be.")
    ] = False,
    leave_out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.csv",
            help="Import the rows of a sheet that nothing is wrong with; write the others to FILE, "
            "with what is wrong.",
        ),
    ] = None,
    correct: Correct = False,
    force: Force = False,
) -> None:
    """Import sheets, CSV or XLSX, or records in JSON: all of it, or nothing.

    What is there already is not added again, so the same sheet can be imported as it grows. Exports
    of ODK Central, KoBo, CommCare and DHIS2 are known by their columns; what is guessed is shown,
    asked once, and remembered.
    """
    from sequoia_programme.importing import import_sheets

    given = {ARM: roster, WORKER: staff, "log": log, "absences": absences}
    paths = {kind: path for kind, path in given.items() if path is not None}
    if not paths:
        raise ProblemError("nothing to import; --absences, --roster, --staff or --log is wanted.")
    if leave_out is not None:
        if len(paths) > 1:
            raise ProblemError("--leave-out is for one sheet at a time.")
        refuse_to_replace([leave_out], force)
    programme = read_programme(folder)
    names = _columns(programme, paths, column or (), yes)
    options: dict[str, Any] = {"names": names, "correct": correct, "today": date.today()}
    if leave_out is not None:
        ((kind, path),) = paths.items()
        _import_clean(programme, kind, path, leave_out, options)
        return
    sheets = {kind: path for kind, path in paths.items() if kind in (ARM, WORKER)}
    try:
        done = import_sheets(
            programme, sheets, paths.get("log"), away=paths.get("absences"), **options
        )
    except FileError as error:
        if len(paths) > 1 or not any(" row " in line for line in error.args):
            raise
        offer = "With --leave-out FILE.csv, the rows that nothing is wrong with are imported."
        raise FileError(*error.args, offer) from None
    for line in (*done.lines, *done.remarks):
        typer.echo(line)


def _columns(
    programme: Programme, paths: Mapping[str, Path], said: Sequence[str], yes: bool
) -> dict[str, dict[str, str]]:
    """Return what the columns of sheets are, where they are called otherwise; ask what is guessed.

    What was said or taken is remembered for such sheets.
    """
    from sequoia_programme.matching import match_columns
    from sequoia_programme.sources import LEFT_OUT, remember

    wanted = dict(_one_column(text) for text in said)
    found: dict[str, dict[str, str]] = {}
    unused = set(wanted)
    for kind, path in paths.items():
        matched = match_columns(programme, path, kind)
        own = {name: what for name, what in wanted.items() if name in matched.columns}
        unused -= set(own)
        if not matched.is_foreign and not own:
            continue
        taken = set(own.values()) - {LEFT_OUT}
        guess = {n: "" if w in taken else w for n, w in matched.guess.items()} | own
        before = {name: what for name, what in guess.items() if what}
        if matched.is_guessed or own:
            _show(path, matched, guess, own)
            is_sure = yes or set(own) >= {n for n in before if matched.why.get(n) not in _SURE}
            is_sure = is_sure or (
                sys.stdin.isatty() and typer.confirm("Import it so?", default=False)
            )
            if not is_sure:
                raise ProblemError(
                    f"what the columns of {path} are is guessed; --yes takes them so, --column "
                    "'COLUMN=NAME' says it better."
                )
        else:
            typer.echo(f"{path}: columns as before.")
        remember(programme.folder, kind, {name: guess.get(name, "") for name in matched.columns})
        found[kind] = before
    if unused:
        raise ProblemError(f"--column names {say(sorted(unused))}, which no sheet has.")
    return found


def _one_column(text: str) -> tuple[str, str]:
    column, sign, name = text.rpartition("=")
    if not (sign and column.strip() and name.strip()):
        raise ProblemError(
            f"--column is {text!r}; COLUMN=NAME, such as 'visit_date=date', is wanted."
        )
    return column.strip(), name.strip()


def _show(path: Path, matched: "Matched", guess: Mapping[str, str], own: Mapping[str, str]) -> None:
    from sequoia_programme.sources import LEFT_OUT

    source = f", from {matched.source}" if matched.source else ""
    typer.echo(f"{path}{source}:")
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("column", "is", "because", "such as", box=None)
    for place, name in enumerate(matched.columns):
        what, cells = guess[name], [row[place] for row in matched.rows if row[place]]
        why = "you say so" if name in own else matched.why.get(name, "") if what else ""
        word = "left out" if what == LEFT_OUT else what or "kept as it is"
        table.add_row(*map(Text, (name, word, why, cells[0] if cells else "")))
    Console(highlight=False, soft_wrap=True).print(table)


def _import_clean(
    programme: Programme, kind: str, path: Path, target: Path, options: Mapping[str, Any]
) -> None:
    """Import what is clean; write the other rows, with what is wrong with them."""
    from sequoia_programme.importing import import_clean
    from sequoia_programme.matching import known_columns
    from sequoia_programme.sources import read_source

    done, wrong = import_clean(programme, kind, path, **options)
    for line in (*done.lines, *done.remarks):
        typer.echo(line)
    if not wrong:
        typer.echo("Nothing is left out.")
        return
    sheet = read_source(path, kind, known_columns(programme, kind))
    rows: list[Sequence[Cell]] = [[*sheet.columns, "what is wrong"]]
    for row, number in enumerate(sheet.rows):
        if number in wrong:
            cells = [str(column[row]) for column in sheet.columns.values()]
            rows.append([*cells, " ".join(wrong[number])])
    write_text(target, csv_text(rows))
    typer.echo(f"Left out {count(len(wrong), 'row')}; wrote {target}.")


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
