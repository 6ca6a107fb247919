"""Everything in a programme as sheets, which can be imported again."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path

from sequoia.errors import FileError
from sequoia.io import make_folder, refuse_to_replace, write_bytes, write_text
from sequoia.problem.spreadsheet import CSV, XLSX, Cell, csv_text, xlsx_bytes
from sequoia_programme.history import events
from sequoia_programme.members import Member, members
from sequoia_programme.output import HEADS
from sequoia_programme.plans import plans_between
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme

Sheet = list[Sequence[Cell]]
SHEETS = ("roster", "staff", "log", "absences", "plans")


def export(programme: Programme, target: Path, force: bool = False) -> list[Path]:
    """Write all sheets into a workbook, or as CSV into a folder; return what was written."""
    if target.suffix not in ("", XLSX):
        raise FileError(f"{target} ends in {target.suffix!r}; a folder or .xlsx is wanted.")
    paths = [target] if target.suffix else [target / f"{name}{CSV}" for name in SHEETS]
    refuse_to_replace(paths, force)
    sheets = sheets_of(programme)
    if target.suffix:
        write_bytes(target, xlsx_bytes(sheets))
        return paths
    make_folder(target)
    for path in paths:
        write_text(path, csv_text(sheets[path.stem]))
    return paths


def sheets_of(programme: Programme) -> dict[str, Sheet]:
    """Return all sheets, by name; the first row of each has the names of its columns."""
    with programme.store.open().reading() as connection:
        arms, workers = members(connection, ARM), members(connection, WORKER)
        happened = events(connection, date.min, date.max)
        plans = plans_between(connection, date.min, date.max)
    log: Sheet = [("date", "who", "state", "by", "dose", "time", "note")]
    log += [
        (one.date, one.who, one.state or one.kind, one.by, one.dose, one.time, one.note)
        for one in happened
    ]
    away: Sheet = [("name", "first", "last")]
    away += [(one.name, *dates) for one in (*arms, *workers) for dates in one.away]
    planned: Sheet = [("policy", *HEADS[:-1], "overrides")]
    for plan in plans:
        asked = "; ".join(f"{key} {', '.join(texts)}" for key, texts in plan.overrides.items())
        for order, t in enumerate(plan.tasks, start=1):
            where = (t.date, order, t.by, t.when, t.who)
            planned.append((plan.policy, *where, t.dose, t.minutes, t.state, t.gain, asked))
    return {
        "roster": _roster(arms, has_groups=True),
        "staff": _roster(workers, has_groups=False),
        "log": log,
        "absences": away,
        "plans": planned,
    }


def _roster(people: Sequence[Member], has_groups: bool) -> Sheet:
    facts = list(dict.fromkeys(key for one in people for key in one.facts))
    group = ("group",) if has_groups else ()
    rows: Sheet = [("name", *group, "joined", "left", *facts)]
    for one in people:
        own = (one.group,) if has_groups else ()
        rows.append(
            (one.name, *own, one.joined, one.left, *(_number(one.facts.get(f, "")) for f in facts))
        )
    return rows


def _number(text: str) -> Cell:
    """Return a number where a text is one, written as it would be."""
    try:
        value = float(text)
    except ValueError:
        return text
    shown = int(value) if value.is_integer() and abs(value) < 1e15 else value
    return shown if str(shown) == text else text
