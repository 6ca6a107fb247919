"""Sheets whose columns have other names: which is which, guessed and then said."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sequoia.problem.names import nearest
from sequoia.problem.spreadsheet import SENT
from sequoia.problem.tables import Table
from sequoia_programme.absences import HEADS as ABSENCE_HEADS
from sequoia_programme.calendar import UnreadableDate
from sequoia_programme.entries import HEADS as LOG_HEADS
from sequoia_programme.members import members
from sequoia_programme.outcomes import KINDS
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme
from sequoia_programme.sources import LEFT_OUT, is_noise, read_source, remembered, source_of
from sequoia_programme.space import heads

# What a sheet can be: the roster, the staff, the log; and how it is called in a workbook.
SHEETS = {ARM: "roster", WORKER: "staff", "log": "log"}
# What else people call a column.
_SYNONYMS = {
    "name": ("patient", "client", "person", "who", "nurse", "worker", "names", "full_name"),
    "who": ("name", "patient", "client", "person", "beneficiary"),
    "group": ("area", "region", "category", "cohort", "village", "site"),
    "cost": ("minutes", "duration", "length", "time"),
    "capacity": ("minutes", "hours", "shift"),
    "joined": ("since", "start", "enrolled", "from", "date_enrolled", "registration_date"),
    "left": ("until", "end", "discharged", "to", "date_left"),
    "date": ("day", "when", "visited on", "visit_date", "date_of_visit", "visitdate"),
    "state": ("status", "outcome", "seen", "condition"),
    "by": ("nurse", "worker", "visited by", "staff", "chw"),
    "dose": ("visit", "what", "treatment"),
    "lat": ("latitude", "gps_lat"),
    "lon": ("longitude", "lng", "long", "gps_lon"),
    "note": ("remarks", "comment", "comments", "notes"),
}
# What every sheet of a kind has to have.
_NEEDED = {ARM: ("name",), WORKER: ("name",), "log": ("date", "who"), "absences": ("name", "first")}
# Cells that are looked at, and the share of them that has to be as they should.
_LOOKED_AT, _MOSTLY = 200, 0.6


@dataclass(frozen=True)
class Matched:
    """A sheet, its columns, and what each is taken for.

    Attributes
    ----------
    columns
        The names of its columns.
    guess
        What each of them seems to be; empty where it is kept as it is.
    why
        Why that is thought, for those that are something.
    known
        What columns of such a sheet can be.
    rows
        The first rows.
    source
        The system that wrote it, if that is known.
    is_foreign
        Whether columns that are needed have other names here, or another system wrote it.
    """

    columns: Sequence[str]
    guess: Mapping[str, str]
    why: Mapping[str, str]
    known: Sequence[str]
    rows: Sequence[Sequence[str]]
    source: str
    is_foreign: bool

    @property
    def is_guessed(self) -> bool:
        """Whether anything is not what the sheet, or somebody before, says."""
        return self.is_foreign and not set(self.why.values()) <= {OWN_NAME, BEFORE}


OWN_NAME, BEFORE = "it is called so", "as before"


def match_columns(programme: Programme, path: Path, kind: str, shown: int = 3) -> Matched:
    """Read a sheet, and guess what its columns are, unless that was said before."""
    known = known_columns(programme, kind)
    table = read_source(path, SHEETS.get(kind, kind), known, SENT)
    columns, system = list(table.columns), source_of(table.columns)
    is_foreign = system is not None or not set(_NEEDED[kind]) <= set(columns)
    before = remembered(programme.folder, kind, columns)
    if before is None:
        found = _Guess(programme, table, kind, known).all()
    else:
        found = {name: (what, BEFORE) for name, what in before.items() if what}
    rows = [[table.columns[name][row] for name in columns] for row in range(min(shown, len(table)))]
    return Matched(
        columns,
        {name: found.get(name, ("", ""))[0] for name in columns},
        {name: why for name, (_, why) in found.items()},
        known,
        rows,
        "" if system is None else system.name,
        is_foreign,
    )


def known_columns(programme: Programme, kind: str) -> list[str]:
    """Return what columns of a sheet can be."""
    fixed = {"log": LOG_HEADS, "absences": ABSENCE_HEADS}
    return list(fixed[kind]) if kind in fixed else list(dict.fromkeys(heads(programme, kind)))


class _Guess:
    """What columns are, by what a system calls them, by their names, and by what is in them."""

    def __init__(self, programme: Programme, table: Table, kind: str, known: Sequence[str]) -> None:
        self._table, self._kind, self._known = table, kind, known
        self._system = source_of(table.columns)
        with programme.store.open().reading() as connection:
            arms, staff = (
                [one.name for one in members(connection, role)] for role in (ARM, WORKER)
            )
        states = [*programme.states, *KINDS, *map(str, range(len(programme.states)))]

        def is_date(text: str) -> bool:
            try:
                programme.calendar.read_date(text, is_end=True)
            except UnreadableDate as error:
                return "may mean two dates" in str(error)
            return True

        among: dict[str, Callable[[str], bool]] = {
            **dict.fromkeys(("date", "joined", "left", "first", "last"), is_date),
            "state": _among(states),
            "dose": _among(programme.doses),
            "lat": _is_degrees,
            "lon": _is_degrees,
        }
        if kind == "log":
            among |= {"who": _among(arms), "by": _among(staff)}
        self._is_fit = among

    def all(self) -> dict[str, tuple[str, str]]:
        """Return what each column seems to be, and why."""
        found: dict[str, tuple[str, str]] = {}
        ways = (self._own_name, self._by_system, self._by_name, self._by_cells)
        for way in ways:
            for what in self._known:
                if what in {taken for taken, _ in found.values()}:
                    continue
                free = [name for name in self._table.columns if name not in found]
                column, why = way(what, free)
                if column is not None:
                    found[column] = what, why
        for name in self._table.columns:
            if self._system is not None and name not in found and is_noise(self._system, name):
                found[name] = LEFT_OUT, f"{self._system.name} writes it for itself"
        return found

    def _own_name(self, what: str, free: Sequence[str]) -> tuple[str | None, str]:
        """A system may call another thing so."""
        if what not in free or (self._system is not None and not self._fits(what, what)):
            return None, ""
        return what, OWN_NAME

    def _by_system(self, what: str, free: Sequence[str]) -> tuple[str | None, str]:
        if self._system is None:
            return None, ""
        # People's own questions go before what the system notes by itself.
        asked = [name for name in free if not is_noise(self._system, name)]
        column = self._said_so(what, asked)
        if column is not None:
            return column, "by its name and what is in it"
        folded = {name.casefold(): name for name in free}
        for word in self._system.columns.get(what, ()):
            if word in folded and self._fits(folded[word], what):
                return folded[word], f"{self._system.name} calls it so"
        return None, ""

    def _by_name(self, what: str, free: Sequence[str]) -> tuple[str | None, str]:
        free = [name for name in free if self._system is None or not is_noise(self._system, name)]
        column = self._said_so(what, free) or nearest(what, free)
        if column is None or not self._fits(column, what):
            return None, ""
        return column, "by its name and what is in it" if what in self._is_fit else "by its name"

    def _said_so(self, what: str, free: Sequence[str]) -> str | None:
        """Return a column that is called so, or nearly so, whatever it is part of."""
        words = [what, *_SYNONYMS.get(what, ())]
        folded = {_plain(_last_part(name)): name for name in reversed(free)}
        for word in map(_plain, words):
            if word in folded and self._fits(folded[word], what):
                return folded[word]
        return None

    def _by_cells(self, what: str, free: Sequence[str]) -> tuple[str | None, str]:
        """Return the only column whose cells are as they should, where that tells something."""
        if what not in _NEEDED[self._kind] and what != "state":
            return None, ""
        if what not in self._is_fit:
            return None, ""
        fits = [name for name in free if self._fits(name, what)]
        return (fits[0], "by what is in it") if len(fits) == 1 else (None, "")

    def _fits(self, column: str, what: str) -> bool:
        """Say whether the cells of a column are mostly what they should be."""
        if what not in self._is_fit:
            return True
        cells = [str(cell) for cell in self._table.columns[column] if str(cell).strip()]
        cells = cells[:_LOOKED_AT]
        return bool(cells) and sum(map(self._is_fit[what], cells)) >= _MOSTLY * len(cells)


def _last_part(name: str) -> str:
    """Return what a column is called inside of the group of questions that it is part of."""
    return re.split(r"[./]|(?<=\w)-(?=\w)", name)[-1]


def _plain(text: str) -> str:
    return re.sub(r"[\s_]+", " ", text).strip().casefold()


def _among(names: Iterable[str]) -> Callable[[str], bool]:
    """Return what says whether a cell is one of some names, whatever its capitals."""
    folded = {_plain(name) for name in names}
    return lambda text: _plain(text) in folded


def _is_degrees(text: str) -> bool:
    try:
        return abs(float(text.replace(",", "."))) <= 180
    except ValueError:
        return False
