"""A plan in the hand: as rows of a sheet, as a page for each worker, as a calendar."""

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from html import escape
from pathlib import Path

from sequoia.errors import FileError
from sequoia.io import write_bytes, write_text
from sequoia.problem.spreadsheet import Cell, csv_text, xlsx_bytes
from sequoia_programme.members import Member, members
from sequoia_programme.outcomes import ATTEMPTS
from sequoia_programme.pdf import pdf_bytes, require_browser
from sequoia_programme.places import in_degrees
from sequoia_programme.plans import PlannedTask, StoredPlan
from sequoia_programme.schema import ARM
from sequoia_programme.settings import Programme

PDF = ".pdf"
ENDINGS = (".csv", ".xlsx", PDF, ".html", ".ics")
# What is filled in by hand stands last.
HEADS = ("date", "order", "by", "when", "who", "dose", "minutes", "state", "gain", "seen")
# The longest line of a calendar, in bytes (RFC 5545, section 3.1).
_LONGEST = 75


def require_endings(targets: Sequence[Path]) -> None:
    """Raise unless a plan can be written to all of ``targets``."""
    for target in targets:
        if target.suffix not in ENDINGS:
            wanted = f"{', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}"
            raise FileError(f"{target} ends in {target.suffix!r}; {wanted} is wanted.")
        if target.suffix == PDF:
            require_browser(target)


def write_plan(programme: Programme, plan: StoredPlan, target: Path) -> None:
    """Write a plan to a file; its ending says how."""
    content = plan_bytes(programme, plan, target.suffix)
    if target.suffix in (".html", ".csv"):
        write_text(target, content.decode())
    else:
        write_bytes(target, content)


def plan_bytes(programme: Programme, plan: StoredPlan, ending: str) -> bytes:
    """Return a plan as the content of a file; its ending says how."""
    if ending == ".xlsx":
        pages = {worker or "plan": list(_rows(own)) for worker, own in by_worker(plan)}
        return xlsx_bytes({"plan": list(_rows(plan.tasks)), **_also(pages)})
    if ending == ".ics":
        return calendar_text(programme, plan).encode()
    if ending == PDF:
        return pdf_bytes(page_text(programme, plan))
    if ending == ".html":
        return page_text(programme, plan).encode()
    return csv_text(_rows(plan.tasks)).encode()


def _also(pages: dict[str, list[Sequence[Cell]]]) -> dict[str, list[Sequence[Cell]]]:
    """Return a page for each worker, where there are several, under names that Excel takes."""
    if len(pages) < 2:
        return {}
    named: dict[str, list[Sequence[Cell]]] = {}
    for worker, rows in pages.items():
        name = re.sub(r"[\[\]:*?/\\']", " ", worker).strip()[:25] or "worker"
        number = 2
        fresh = name
        while fresh.casefold() in {"plan", "history", *(one.casefold() for one in named)}:
            fresh, number = f"{name} {number}", number + 1
        named[fresh] = rows
    return named


def long_date(day: date) -> str:
    """Say a date in full: ``Monday 2 November 2026``."""
    return f"{day:%A} {day.day} {day:%B %Y}"


def by_worker(plan: StoredPlan) -> list[tuple[str, list[PlannedTask]]]:
    """Return the tasks of each worker, in the order of the plan."""
    own: dict[str, list[PlannedTask]] = {}
    for task in plan.tasks:
        own.setdefault(task.by, []).append(task)
    return list(own.items())


def _rows(tasks: Sequence[PlannedTask]) -> Iterator[Sequence[Cell]]:
    yield HEADS
    order: dict[tuple[date, str], int] = {}
    for one in tasks:
        key = (one.date, one.by)
        order[key] = order.get(key, 0) + 1
        gain = round(one.gain, 4)
        yield (
            *(one.date, order[key], one.by, one.when, one.who, one.dose),
            *(one.minutes, one.state, gain, ""),
        )


_STYLE = """
body { font: 12pt/1.4 system-ui, sans-serif; color: #111; margin: 2rem; }
section { break-after: page; }
section:last-child { break-after: auto; }
h1 { font-size: 1.4rem; margin: 0; }
p { margin: .2rem 0 1rem; color: #555; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #bbb; padding: .45rem .6rem; text-align: left; }
td.number, th.number { text-align: right; }
td.seen { min-width: 8rem; }
@page { margin: 1.5cm; }
@media print {
  body { margin: 0; font-size: 11pt; }
  thead { display: table-header-group; }
  tr { break-inside: avoid; }
}
"""


def page_text(programme: Programme, plan: StoredPlan) -> str:
    """Return a page for each worker, to be printed; nothing is fetched."""
    sections = "\n".join(
        _section(programme, day, worker, own)
        for day in _by_step(programme, plan)
        for worker, own in by_worker(day)
    )
    empty = f"<section><h1>{escape(programme.name)}</h1><p>{long_date(plan.date)}: "
    empty += "nothing to do.</p></section>"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(programme.name)}, {plan.date}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{sections or empty}\n</body>\n</html>\n"
    )


def _by_step(programme: Programme, plan: StoredPlan) -> list[StoredPlan]:
    """Return the plan of each day or, where steps are weeks, of each week."""
    calendar = programme.calendar
    steps: dict[date, list[PlannedTask]] = {}
    for task in plan.tasks:
        steps.setdefault(calendar.date_of(calendar.step_of(task.date)), []).append(task)
    return [replace(plan, date=day, tasks=steps[day]) for day in sorted(steps)]


def _section(
    programme: Programme, plan: StoredPlan, worker: str, tasks: Sequence[PlannedTask]
) -> str:
    has_slots, has_minutes = any(t.when for t in tasks), any(t.minutes for t in tasks)
    heads = ["", *(["when"] if has_slots else []), "who", "what", "state", "gain"]
    heads += [*(["minutes"] if has_minutes else []), "seen"]
    rows = []
    for order, task in enumerate(tasks, start=1):
        cells = [f"{order}", *([task.when] if has_slots else []), task.who, task.dose, task.state]
        cells += [f"{task.gain:+.2f}"]
        cells += [f"{task.minutes:g}" if task.minutes else ""] if has_minutes else []
        body = "".join(
            f"<td{_class(head)}>{escape(cell)}</td>"
            for head, cell in zip(heads[:-1], cells, strict=True)
        )
        rows.append(f'<tr>{body}<td class="seen"></td></tr>')
    total = sum(task.minutes or 0 for task in tasks)
    summary = f"{long_date(plan.date)} · {len(tasks)} to do"
    summary += f" · {total:g} minutes" if has_minutes else ""
    head = "".join(f"<th{_class(one)}>{escape(one)}</th>" for one in heads)
    states = ", ".join(programme.states)
    return (
        f"<section>\n<h1>{escape(worker or programme.name)}</h1>\n<p>{escape(summary)}</p>\n"
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n"
        + "\n".join(rows)
        + "\n</tbody>\n</table>\n"
        f"<p>Write what you saw in the last column: {escape(states)}; or "
        f"{escape(', '.join(ATTEMPTS))}.</p>\n</section>"
    )


def _class(head: str) -> str:
    return ' class="number"' if head in ("", "gain", "minutes") else ""


def calendar_text(programme: Programme, plan: StoredPlan) -> str:
    """Return an event for each task of a plan; see `calendars_text`."""
    return calendars_text(programme, [plan])


def calendars_text(programme: Programme, plans: Iterable[StoredPlan]) -> str:
    """Return an event for each task (iCalendar, RFC 5545), with its place where that is known.

    Times are local. Tasks of a worker follow each other from the beginning of the day where it is
    known how long each takes; a slot such as ``09:30`` is a time, as every stop of a route has one;
    else an event takes the day.
    """
    with programme.store.open().reading() as connection:
        people = {one.name: one for one in members(connection, ARM)}
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//sequoia//programme//EN"]
    for plan in plans:
        for _, own in by_worker(plan):
            for task, times in zip(own, times_of(programme, own), strict=True):
                lines += ["BEGIN:VEVENT", f"UID:{_uid(programme, task)}"]
                lines.append(f"DTSTAMP:{plan.made:%Y%m%dT%H%M%SZ}")
                lines += _span(task, times)
                lines.append(f"SUMMARY:{_escaped(f'{task.dose}: {task.who}')}")
                lines += _place(people.get(task.who))
                who = f"{task.by}. " if task.by else ""
                lines.append(f"DESCRIPTION:{_escaped(f'{who}{task.state}')}")
                lines.append("END:VEVENT")
    lines.append("END:VCALENDAR")
    return "".join(f"{folded}\r\n" for line in lines for folded in _folded(line))


def _place(person: Member | None) -> list[str]:
    """Return the lines that say where an event is."""
    if person is None:
        return []
    place = in_degrees(person)
    address = {key.casefold(): text for key, text in person.facts.items()}.get("address", "")
    lines = [f"LOCATION:{_escaped(address)}"] if address else []
    return [*lines, *([f"GEO:{place[1]:.6f};{place[0]:.6f}"] if place else [])]


def _uid(programme: Programme, task: PlannedTask) -> str:
    """Return the same for the same visit, so that a calendar replaces it when a plan changes."""
    words = "|".join((programme.name, str(task.date), task.by, task.when, task.who))
    return f"{hashlib.sha256(words.encode()).hexdigest()[:24]}@sequoia"


def _span(task: PlannedTask, times: tuple[datetime, datetime] | None) -> list[str]:
    if times is None:
        return [
            f"DTSTART;VALUE=DATE:{task.date:%Y%m%d}",
            f"DTEND;VALUE=DATE:{task.date + timedelta(days=1):%Y%m%d}",
        ]
    return [f"DTSTART:{times[0]:%Y%m%dT%H%M%S}", f"DTEND:{times[1]:%Y%m%dT%H%M%S}"]


def times_of(
    programme: Programme, tasks: Sequence[PlannedTask]
) -> list[tuple[datetime, datetime] | None]:
    """Return when each task of a worker begins and ends; ``None`` where nobody knows."""
    free: dict[date, datetime] = {}
    found: list[tuple[datetime, datetime] | None] = []
    for task in tasks:
        begins = _begins(programme, task, free.get(task.date))
        if begins is None:
            found.append(None)
            continue
        free[task.date] = begins + timedelta(minutes=task.minutes or 30)
        found.append((begins, free[task.date]))
    return found


def _begins(programme: Programme, task: PlannedTask, free: datetime | None) -> datetime | None:
    slot = re.match(r"(\d{1,2})[:.](\d{2})", task.when)
    morning = datetime.combine(task.date, programme.begins)
    if slot is not None and int(slot[1]) < 24 and int(slot[2]) < 60:
        midnight = datetime.combine(task.date, datetime.min.time())
        return midnight + timedelta(hours=int(slot[1]), minutes=int(slot[2]))
    return (free or morning) if task.minutes else None


def _escaped(text: str) -> str:
    for sign in ("\\", ";", ","):
        text = text.replace(sign, f"\\{sign}")
    return " ".join(text.split())


def _folded(line: str) -> Iterator[str]:
    """Yield the pieces of a line, none longer than allowed, no letter cut."""
    piece = ""
    for letter in line:
        if len((piece + letter).encode()) > _LONGEST:
            yield piece
            piece = " "
        piece += letter
    yield piece
