"""The log: who was seen in which state, and who was visited by whom."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import sqlalchemy as sql

from sequoia.errors import FileError
from sequoia.problem.names import closest, nearest, unknown
from sequoia.problem.tables import Table
from sequoia_programme.members import Member, read_dates
from sequoia_programme.outcomes import ATTEMPTS, CANCELLED, ENDS, ENTERED, KINDS, move_member
from sequoia_programme.schema import now, outcomes, sightings, visits
from sequoia_programme.settings import Programme
from sequoia_programme.store import actor_of

HEADS = ("date", "who", "state", "seen", "by", "dose", "time", "note")
# What people write beside a record, at most.
_LONGEST_NOTE = 2000
# What stands beside a state, a dose or an outcome.
_BESIDE = ("time", "note")
# What people write for a dose that was not given.
_NO_DOSE = ("", "0", "no", "none", "-")


@dataclass(frozen=True)
class Entry:
    """What happened with one arm on one date.

    Attributes
    ----------
    place
        Where it was written, for messages.
    state
        The state that was seen; empty where none was.
    by, dose
        Who visited, if that is known, and the dose; empty where there was no visit.
    kind
        What happened instead, one of `outcomes.KINDS`; empty where a visit or a sighting did.
    time, note
        The time of day, such as ``"09:40"``, and a note; empty where nobody said.
    """

    place: str
    date: date
    who: str
    state: str
    by: str
    dose: str
    kind: str = ""
    time: str = ""
    note: str = ""


# An entry, the key of its row and the value that it wants there.
Wanted = tuple[Entry, tuple[object, ...], str]


@dataclass(frozen=True)
class Noted:
    """What came of some entries.

    Attributes
    ----------
    seen, visited
        How many sightings and visits are new.
    corrected
        How many were there, and said something else.
    others
        How many other outcomes are new, such as nobody at home.
    known
        How many entries were there already, as they are.
    """

    seen: int = 0
    visited: int = 0
    corrected: int = 0
    known: int = 0
    others: int = 0


def read_entries(
    sheet: Table,
    programme: Programme,
    arms: Sequence[str],
    workers: Sequence[str],
    day: date | None = None,
) -> list[Entry]:
    """Read a log: the columns ``date``, ``who``, ``state`` and maybe ``by`` and ``dose``.

    Where there is a column ``seen``, as in the sheet of a plan, it is the state. A row with a dose
    is a visit, and so is, without that column, one that says by whom. Instead of a state a row may
    say another outcome, such as ``not at home``; then there was no visit. Rows that say neither a
    state nor a visit are left out.

    Parameters
    ----------
    day
        The date of all rows, where the sheet has no column of dates.
    """
    column = "seen" if "seen" in sheet.columns else "state"
    said, kinds = _texts(sheet, column), _read_kinds(sheet, column, programme.states)
    states = _read_states(sheet, column, programme.states, kinds)
    by = _read_workers(sheet, workers)
    doses = _read_doses(sheet, programme, by, states)
    times, words = _read_times(sheet), _read_notes(sheet)
    is_used = [bool(state or dose) for state, dose in zip(said, doses, strict=True)]
    dates: list[date | None] = [day] * len(sheet)
    if day is None or "date" in sheet.columns:
        dates = read_dates(sheet, "date", programme.calendar, optional=day is not None)
    folded = _Names(arms)
    entries = []
    for row, text in enumerate(sheet.strings("who")):
        name = folded.find(text)
        if not is_used[row]:
            continue
        if name is None:
            sheet.found.append(unknown(f"{sheet.place(row)}, column 'who'", arms, text))
        when = dates[row] or day
        if name is not None and when is not None:
            dose = "" if kinds[row] else doses[row]
            happened = (states[row], by[row], dose, kinds[row], times[row], words[row])
            entries.append(Entry(sheet.place(row), when, name, *happened))
    return entries


class _Names:
    """Finds names whatever their capitals, where that leaves no doubt."""

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = set(names)
        self._folded: dict[str, str | None] = {}
        for name in self._exact:
            key = _folded(name)
            self._folded[key] = None if key in self._folded else name

    def find(self, text: str) -> str | None:
        """Return the name that ``text`` means, if there is one."""
        return text if text in self._exact else self._folded.get(_folded(text))


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def find_name(text: str, names: Sequence[str]) -> str | None:
    """Return which of ``names`` is meant, whatever its capitals."""
    return _Names(names).find(text)


def _texts(sheet: Table, column: str) -> list[str]:
    return sheet.strings(column) if column in sheet.columns else [""] * len(sheet)


def _read_kinds(sheet: Table, column: str, states: Sequence[str]) -> list[str]:
    """Return outcomes that are no states; a state of the same name goes first."""
    own, folded = _Names(states), _Names(KINDS)
    return ["" if own.find(text) else folded.find(text) or "" for text in _texts(sheet, column)]


def _read_states(
    sheet: Table, column: str, states: Sequence[str], kinds: Sequence[str]
) -> list[str]:
    """Return the states that a column says, by name or number; other cells stay empty."""
    folded = _Names(states)
    found = []
    for row, text in enumerate(_texts(sheet, column)):
        is_none = not text or kinds[row]
        name = "" if is_none else folded.find(text) or _by_number(text, states)
        if name is None:
            sheet.found.append(
                f"{sheet.place(row)}, column {column!r} is {text!r}; one of {', '.join(states)}, "
                f"or 0 to {len(states) - 1}, or one of {', '.join(KINDS)}, is "
                f"wanted{closest(text, [*states, *KINDS])}."
            )
        found.append(name or "")
    return found


def _read_times(sheet: Table) -> list[str]:
    """Return times of the day as ``09:40``."""
    times = []
    for row, text in enumerate(_texts(sheet, "time")):
        found = re.fullmatch(r"(\d{1,2})[:.](\d{2})(?::\d{2})?", text)
        if text and (found is None or int(found[1]) > 23 or int(found[2]) > 59):
            sheet.found.append(
                f"{sheet.place(row)}, column 'time' is {text!r}; one such as 09:40 is wanted."
            )
        times.append("" if found is None else f"{int(found[1]):02}:{found[2]}")
    return times


def _read_notes(sheet: Table) -> list[str]:
    notes = _texts(sheet, "note")
    for row, text in enumerate(notes):
        if len(text) > _LONGEST_NOTE:
            sheet.found.append(
                f"{sheet.place(row)}, column 'note' has {len(text)} characters; at most "
                f"{_LONGEST_NOTE} are wanted."
            )
    return notes


def _by_number(text: str, names: Sequence[str]) -> str | None:
    try:
        number = float(text.replace(",", "."))
    except ValueError:
        return None
    inside = number.is_integer() and 0 <= number < len(names)
    return names[int(number)] if inside else None


def _read_workers(sheet: Table, workers: Sequence[str]) -> list[str]:
    """Return who visited; somebody who is not on the roster is fine, unless it is a slip."""
    folded, found = _Names(workers), []
    for row, text in enumerate(_texts(sheet, "by")):
        name = folded.find(text)
        if name is None and text and nearest(text, workers):
            sheet.found.append(
                f"{sheet.place(row)}, column 'by' names {text!r}, who is not on the roster"
                f"{closest(text, workers)}."
            )
        found.append(name or text)
    return found


def _read_doses(
    sheet: Table, programme: Programme, by: Sequence[str], states: Sequence[str]
) -> list[str]:
    names = list(programme.doses)
    if "dose" not in sheet.columns:
        return [names[0] if who else "" for who in by]
    numbers = {value: name for name, value in programme.doses.items()}
    folded = _Names(names)
    is_plan = "seen" in sheet.columns
    doses = []
    for row, text in enumerate(sheet.strings("dose")):
        dose = "" if _folded(text) in _NO_DOSE else folded.find(text) or _by_value(text, numbers)
        if dose is None:
            sheet.found.append(
                f"{sheet.place(row)}, column 'dose' is {text!r}; one of {', '.join(names)} is "
                f"wanted{closest(text, names)}."
            )
        # In the sheet of a plan the dose is what was meant to be given.
        is_given = not is_plan or states[row]
        doses.append((dose or "") if is_given else "")
    return doses


def _by_value(text: str, numbers: Mapping[float, str]) -> str | None:
    try:
        return numbers.get(float(text.replace(",", ".")))
    except ValueError:
        return None


def put_entries(
    connection: sql.Connection,
    arms: Sequence[Member],
    entries: Sequence[Entry],
    correct: bool = False,
) -> Noted:
    """Write entries into the log; what is there already is not written again.

    Raises
    ------
    FileError
        One line for each entry that contradicts the log, unless it is there to ``correct`` it, and
        for each at whose date the arm was not there.
    """
    by_name = {arm.name: arm for arm in arms}
    wrong = [_not_there(one, by_name[one.who]) for one in entries]
    wrong = [line for line in wrong if line]
    seen: list[Wanted] = [
        (one, (by_name[one.who].id, one.date), one.state) for one in entries if one.state
    ]
    given: list[Wanted] = [
        (one, (by_name[one.who].id, one.date, one.by), one.dose) for one in entries if one.dose
    ]
    other: list[Wanted] = [
        (one, (by_name[one.who].id, one.date, one.by), one.kind) for one in entries if one.kind
    ]
    given = _without_nameless(connection, given)
    if correct:
        _make_room(connection, by_name, entries)
    puts = [
        _put(connection, sightings, "state", seen, correct, wrong),
        _put(connection, visits, "dose", given, correct, wrong),
        _put(connection, outcomes, "kind", other, correct, wrong),
    ]
    for one in () if wrong else puts[2].touched:
        flaw = move_member(connection, by_name[one.who], one.kind, one.date)
        wrong += [f"{one.place}: {flaw}."] if flaw else []
    if wrong:
        raise FileError(*wrong)
    known = len(entries) - len({id(one) for put in puts for one in put.touched})
    corrected = sum(put.corrected for put in puts)
    return Noted(puts[0].new, puts[1].new, corrected, known, puts[2].new)


def _make_room(
    connection: sql.Connection, arms: Mapping[str, Member], entries: Iterable[Entry]
) -> None:
    """Take back visits that were none after all, and attempts that were visits after all."""
    for one in entries:
        was_not = one.kind in (*ATTEMPTS, CANCELLED)
        for table in (visits, sightings) if was_not else (outcomes,) if one.dose else ():
            same = sql.and_(table.c.arm == arms[one.who].id, table.c.date == one.date)
            if table is outcomes:
                same = sql.and_(same, table.c.kind.in_((*ATTEMPTS, CANCELLED)))
            connection.execute(table.delete().where(same))


def _not_there(one: Entry, arm: Member) -> str:
    if arm.is_member(one.date) or one.kind == ENTERED:
        return ""
    if one.kind in ENDS and arm.left is not None and one.date >= arm.left:
        # Said again of somebody who is gone: nothing is lost by keeping it.
        return ""
    is_early = arm.joined is not None and one.date < arm.joined
    why = f"joined on {arm.joined}" if is_early else f"left on {arm.left}"
    return f"{one.place}: {one.who} {why}, so there is nothing to record on {one.date}."


def _without_nameless(connection: sql.Connection, wanted: Sequence[Wanted]) -> list[Wanted]:
    """Leave out visits by nobody knows whom where one by somebody is known on that date."""
    named = {key[:2] for _, key, _ in wanted if key[2]}
    there = sql.select(visits.c.arm, visits.c.date).where(visits.c.by != "")
    if any(not key[2] for _, key, _ in wanted):
        named |= {tuple(row) for row in connection.execute(there)}
    return [one for one in wanted if one[1][2] or one[1][:2] not in named]


@dataclass(frozen=True)
class _Put:
    new: int
    corrected: int
    touched: Sequence[Entry]


def _put(
    connection: sql.Connection,
    table: sql.Table,
    field: str,
    wanted: Sequence[Wanted],
    correct: bool,
    wrong: list[str],
) -> _Put:
    """Write values by key; note in ``wrong`` what contradicts the table, or itself."""
    if not wanted:
        return _Put(0, 0, ())
    keys = ("arm", "date", "by")[: len(wanted[0][1])]
    columns = [table.c[key] for key in keys]
    dates = [one.date for one, _, _ in wanted]
    values = [table.c[name] for name in (field, *_BESIDE)]
    there = sql.select(*columns, *values).where(table.c.date.between(min(dates), max(dates)))
    known = {tuple(row[: len(keys)]): tuple(row[len(keys) :]) for row in connection.execute(there)}
    fresh: dict[tuple[object, ...], tuple[str, ...]] = {}
    changes: dict[tuple[object, ...], tuple[str, ...]] = {}
    touched = []
    for one, key, value in wanted:
        before = known.get(key)
        _, time, note = before or ("", "", "")
        after = (value, one.time or time, one.note or note)
        known[key] = after
        if before == after:
            continue
        touched.append(one)
        # What was not said before is added; what was said otherwise is corrected on demand.
        is_more = before is not None and all(
            old in ("", new) for old, new in zip(before, after, strict=True)
        )
        if before is None or (key in fresh and is_more):
            fresh[key] = after
        elif is_more or (correct and key not in fresh and key not in changes):
            changes[key] = after
        else:
            remedy = "" if key in fresh else "; --correct replaces it"
            wrong.append(
                f"{one.place}: {one.who} on {one.date} has the {field} {_said(before)} already, "
                f"not {_said(after)}{remedy}."
            )
    if wrong:
        return _Put(0, 0, ())
    names, actor = (field, *_BESIDE), actor_of(connection)
    if fresh:
        rows = [
            {
                **dict(zip(keys, key, strict=True)),
                **dict(zip(names, fresh[key], strict=True)),
                "recorder": actor,
            }
            for key in fresh
        ]
        connection.execute(table.insert(), rows)
    for key, wanted_now in changes.items():
        where = sql.and_(*(column == part for column, part in zip(columns, key, strict=True)))
        now_said = dict(zip(names, wanted_now, strict=True))
        change = table.update().where(where).values(**now_said, recorder=actor, at=now())
        connection.execute(change)
    return _Put(len(fresh), len(changes), touched)


def _said(value: tuple[str, ...]) -> str:
    """Say a value with its time and note, where there are any."""
    return ", ".join(repr(part) for part in value if part)
