"""Sheets whose columns have other names: which is which, guessed and then said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sequoia.errors import FileError
from sequoia.io import write_text
from sequoia.problem.names import nearest
from sequoia.problem.spreadsheet import SENT, Cell, csv_text, read_spreadsheet
from sequoia_programme.entries import HEADS as LOG_HEADS
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme
from sequoia_programme.space import heads

# What a sheet can be: the roster, the staff, the log; and how it is called in a workbook.
SHEETS = {ARM: "roster", WORKER: "staff", "log": "log"}
# What else people call a column.
_SYNONYMS = {
    "name": ("patient", "client", "person", "who", "nurse", "worker", "names"),
    "who": ("name", "patient", "client", "person"),
    "group": ("area", "region", "category", "cohort"),
    "cost": ("minutes", "duration", "length", "time"),
    "capacity": ("minutes", "hours", "shift"),
    "joined": ("since", "start", "enrolled", "from"),
    "left": ("until", "end", "discharged", "to"),
    "date": ("day", "when", "visited on"),
    "state": ("status", "outcome", "seen", "condition"),
    "by": ("nurse", "worker", "visited by", "staff"),
    "dose": ("visit", "what", "treatment"),
}


@dataclass(frozen=True)
class Matched:
    """A sheet, its columns, and what each is taken for.

    Attributes
    ----------
    columns
        The names of its columns.
    guess
        What each of them seems to be; empty where it is kept as it is.
    known
        What columns of such a sheet can be.
    rows
        The first rows.
    """

    columns: Sequence[str]
    guess: Mapping[str, str]
    known: Sequence[str]
    rows: Sequence[Sequence[str]]


def match_columns(programme: Programme, path: Path, kind: str, shown: int = 3) -> Matched:
    """Read a sheet, and guess what its columns are."""
    known = known_columns(programme, kind)
    table = read_spreadsheet(path, SHEETS[kind], known, SENT)
    columns = list(table.columns)
    guess = dict.fromkeys(columns, "")
    left = [name for name in known if name not in columns]
    for name in columns:
        guess[name] = name if name in known else ""
    for name in left:
        free = [one for one in columns if not guess[one]]
        folded = {one.casefold(): one for one in free}
        said = next((folded[word] for word in _SYNONYMS.get(name, ()) if word in folded), None)
        found = said or nearest(name, free)
        if found:
            guess[found] = name
    rows = [[table.columns[name][row] for name in columns] for row in range(min(shown, len(table)))]
    return Matched(columns, guess, known, rows)


def known_columns(programme: Programme, kind: str) -> list[str]:
    """Return what columns of a sheet can be."""
    return list(LOG_HEADS) if kind == "log" else list(dict.fromkeys(heads(programme, kind)))


def rename_columns(
    programme: Programme, source: Path, target: Path, kind: str, names: Mapping[str, str]
) -> None:
    """Write a sheet with other names of its columns; rows keep their numbers."""
    table = read_spreadsheet(source, SHEETS[kind], known_columns(programme, kind), SENT)
    renamed = [names.get(name) or name for name in table.columns]
    doubled = sorted({name for name in renamed if renamed.count(name) > 1})
    if doubled:
        raise FileError(f"{source} has two columns that are the {doubled[0]}; one is wanted.")
    rows: list[Sequence[Cell]] = [renamed, *zip(*table.columns.values(), strict=True)]
    write_text(target, csv_text(rows))
