"""My visits: what a worker has to do, in order, with what is needed at the door."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from urllib.parse import quote

from starlette.exceptions import HTTPException
from starlette.responses import Response

from sequoia_programme.accounts import PLAN
from sequoia_programme.history import Outcome, find_history
from sequoia_programme.members import Member, members
from sequoia_programme.output import times_of
from sequoia_programme.people import notes_of
from sequoia_programme.places import in_degrees
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.tokens import close_feed, open_feed
from sequoia_programme.web.call import Call, static_file

# Today, and what comes after it.
_STEPS = 2


@dataclass(frozen=True)
class Visit:
    """A visit, as whoever makes it needs it.

    Attributes
    ----------
    begins
        When; ``None`` where nobody knows.
    address, phone
        As the roster says; empty where it does not.
    way
        The address that opens a map on a phone; empty where no place is known.
    notes
        What was noted of the person, the last first.
    """

    outcome: Outcome
    begins: datetime | None
    address: str
    phone: str
    way: str
    notes: Sequence[str]


def show(call: Call) -> Response:
    """Show somebody's visits of today and the next day; the office may look at anybody's."""
    with call.programme.store.open().reading() as connection:
        staff = [one.name for one in members(connection, WORKER)]
        people = {one.name: one for one in members(connection, ARM)}
        notes = notes_of(connection)
    by = call.account.worker if call.account else ""
    if call.may(PLAN):
        by = call.text("by") or by
    calendar = call.programme.calendar
    step = calendar.step_of(call.site.today())
    days = [calendar.date_of(step + ahead) for ahead in range(_STEPS)]
    return call.page(
        "my.html",
        by=by,
        workers=staff if call.may(PLAN) else [],
        days=[(day, *_visits(call, day, by, people, notes)) for day in days],
    )


def _visits(
    call: Call, day: date, by: str, people: Mapping[str, Member], notes: Mapping[int, list[str]]
) -> tuple[bool, list[Visit]]:
    """Return whether the plan of a day is published, and the visits that somebody has in it."""
    found = find_history(call.programme, day, day)
    own = [one for plan in found for one in plan.outcomes if by and one.task.by == by]
    times = times_of(call.programme, [one.task for one in own])
    return bool(found), [
        _visit(outcome, span and span[0], people.get(outcome.task.who), notes)
        for outcome, span in zip(own, times, strict=True)
    ]


def _visit(
    outcome: Outcome,
    begins: datetime | None,
    person: Member | None,
    notes: Mapping[int, list[str]],
) -> Visit:
    if person is None:
        return Visit(outcome, begins, "", "", "", ())
    facts = {key.casefold(): text for key, text in person.facts.items()}
    address = facts.get("address", "")
    place = in_degrees(person)
    # RFC 5870; the phone asks with which of its maps to open it, and nobody else hears of it.
    way = f"geo:{place[1]:.6f},{place[0]:.6f}" if place else ""
    if not place and address:
        way = f"geo:0,0?q={quote(address)}"
    return Visit(outcome, begins, address, facts.get("phone", ""), way, notes.get(person.id, []))


def give_calendar(call: Call) -> Response:
    """Give somebody's calendar a new secret address, or none; the one before is void."""
    worker = call.account.worker if call.account else ""
    if not worker:
        raise HTTPException(403, "the account belongs to nobody of the staff")
    if call.text("end"):
        close_feed(call.programme, worker)
        return call.go("/account", call.words("account.calendar ended"))
    secret = open_feed(call.programme, worker)
    address = call.request.url.replace(path=f"/calendar/{secret}.ics", query="")
    return call.page("calendar.html", address=str(address))


def offline(_: Call) -> Response:
    """Return the script that keeps My visits on the phone; where it stands says what it serves."""
    return static_file("offline.js", "text/javascript")
