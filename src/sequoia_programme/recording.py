"""Record what was seen and done: a few words on the command line, or a sheet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import sqlalchemy as sql

from sequoia.errors import ProblemError
from sequoia.problem.names import count
from sequoia.problem.spreadsheet import read_spreadsheet
from sequoia.problem.tables import Table, TableSet
from sequoia_programme.entries import HEADS, Entry, put_entries
from sequoia_programme.log_sheet import in_words, read_log, remarks_on
from sequoia_programme.members import members
from sequoia_programme.outcomes import ATTEMPTS
from sequoia_programme.plans import planned_by
from sequoia_programme.schema import ARM, receipts
from sequoia_programme.settings import Programme
from sequoia_programme.store import note


@dataclass(frozen=True)
class Recorded:
    """What was recorded, in words, and what is worth a look."""

    words: str
    remarks: Sequence[str]


def record(
    programme: Programme,
    outcomes: Sequence[str],
    day: date,
    *,
    sheet: Path | None = None,
    by: str = "",
    dose: str | None = None,
    time: str = "",
    remark: str = "",
    correct: bool = False,
    key: str = "",
    today: date | None = None,
) -> Recorded:
    """Record outcomes such as ``"Ada=good"`` or ``"Ada=not at home"``, or those of a sheet.

    All of them are in one transaction.

    Parameters
    ----------
    day
        The date of outcomes that do not say theirs.
    by
        Who visited; unless given, whoever had it in the plan of that date.
    dose
        What was given; unless given, the first dose of the programme. Nothing (``""``) where states
        were seen without a visit.
    time, remark
        The time of day of these outcomes, such as ``"09:40"``, and a note of each.
    key
        A text that nobody else uses. Whoever is not sure that a record arrived sends it again with
        the same key, and it is recorded once, whatever was recorded meanwhile.
    today
        Entries after it are worth a remark; after ``day`` unless given.
    """
    tables = [] if sheet is None else [read_spreadsheet(sheet, "log", HEADS)]
    if outcomes:
        tables.append(_as_sheet(programme, outcomes, by, dose, time, remark))
    content = TableSet({})
    with programme.store.open().writing() as connection:
        before = _receipt(connection, key)
        if before is not None:
            return Recorded(before, [])
        entries = [
            entry
            for table in tables
            for entry in read_log(programme, connection, table, content, day)
        ]
        content.settle()
        entries = [_with_worker(programme, connection, entry) for entry in entries]
        noted = put_entries(connection, members(connection, ARM), entries, correct)
        words = in_words(noted)
        note(connection, f"Recorded {words}: {_who(entries)}.")
        if key:
            connection.execute(receipts.insert().values(key=key, words=words))
    left_out = sum(map(len, tables)) - len(entries)
    remarks = remarks_on(entries, day if today is None else today)
    if left_out:
        remarks.append(f"{count(left_out, 'row')} without an outcome left out.")
    return Recorded(words, remarks)


def _receipt(connection: sql.Connection, key: str) -> str | None:
    """Return what was recorded with a key, if anything was."""
    chosen = sql.select(receipts.c.words).where(receipts.c.key == key)
    return connection.execute(chosen).scalar_one_or_none() if key else None


def _as_sheet(
    programme: Programme,
    outcomes: Sequence[str],
    by: str,
    dose: str | None,
    time: str,
    remark: str,
) -> Table:
    """Return outcomes as the sheet that somebody might have filled in."""
    pairs = [_pair(text) for text in outcomes]
    given = next(iter(programme.doses)) if dose is None else dose
    columns = {
        "who": [who for who, _ in pairs],
        "state": [state for _, state in pairs],
        "by": [by] * len(pairs),
        "dose": [given] * len(pairs),
        "time": [time.strip()] * len(pairs),
        "note": [remark.strip()] * len(pairs),
    }
    return _Outcomes("the command", columns)


class _Outcomes(Table):
    """Outcomes from the command line, named as they were given."""

    def place(self, row: int) -> str:
        """Say which outcome it is."""
        return f"{self.columns['who'][row]}={self.columns['state'][row]}"


def _pair(text: str) -> tuple[str, str]:
    who, sign, state = text.rpartition("=")
    if not sign or not who.strip() or not state.strip():
        raise ProblemError(f"{text!r} is no outcome; WHO=STATE, such as 'Ada=good', is wanted.")
    return who.strip(), state.strip()


def _with_worker(programme: Programme, connection: sql.Connection, entry: Entry) -> Entry:
    """Say who had a visit in the plan, where nobody said who made it."""
    if entry.by or not (entry.dose or entry.kind in ATTEMPTS):
        return entry
    day = programme.calendar.date_of(programme.calendar.step_of(entry.date))
    by = planned_by(connection, day, entry.who)
    return replace(entry, by=by)


def _who(entries: Sequence[Entry]) -> str:
    said = [f"{one.who} {one.state or one.dose or one.kind} on {one.date}" for one in entries[:5]]
    return ", ".join([*said, *(["…"] if len(entries) > 5 else [])])
