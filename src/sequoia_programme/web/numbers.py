"""Numbers without names: what was planned and done, and how groups stand."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta

from starlette.responses import Response

from sequoia_programme.history import find_history
from sequoia_programme.members import members
from sequoia_programme.people import last_states
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.web.call import Call

# How far back it goes.
_WEEKS = 4


@dataclass(frozen=True)
class DayNumbers:
    """A plan in numbers."""

    day: date
    planned: int
    done: int
    besides: int


@dataclass(frozen=True)
class GroupNumbers:
    """A group in numbers: how many were last seen in each state, and how many never."""

    group: str
    people: int
    states: Counter[str]


def show(call: Call) -> Response:
    """Show the numbers of the last weeks."""
    today = call.site.today()
    plans = find_history(call.programme, today - timedelta(weeks=_WEEKS), today)
    with call.programme.store.reading() as connection:
        people = [one for one in members(connection, ARM) if one.is_member(today)]
        staff = [one for one in members(connection, WORKER) if one.is_member(today)]
        states = last_states(connection, today)
    groups = sorted({one.group for one in people})
    return call.page(
        "numbers.html",
        weeks=_WEEKS,
        staff=len(staff),
        people=len(people),
        days=[
            DayNumbers(one.plan.date, len(one.plan.tasks), one.done, len(one.besides))
            for one in plans
        ],
        groups=[
            GroupNumbers(
                group,
                sum(one.group == group for one in people),
                Counter(states.get(one.id, "") for one in people if one.group == group),
            )
            for group in groups
        ],
    )
