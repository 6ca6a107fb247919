"""Today: the plan, why it is so, what is wished, and what that costs."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from typing import Any

from starlette.exceptions import HTTPException
from starlette.responses import Response

from sequoia.errors import InfeasibleSpace, SequoiaError
from sequoia.planning.overrides import OVERRIDES
from sequoia_programme.accounts import PLAN, WORK
from sequoia_programme.drafts import (
    Overrides,
    Wished,
    after_wish,
    last_change,
    undo_wish,
    wishes_for,
)
from sequoia_programme.history import Event, Outcome, PlanHistory, find_history, find_visits
from sequoia_programme.members import Member, members
from sequoia_programme.output import ENDINGS, by_worker, plan_bytes
from sequoia_programme.pdf import find_browser
from sequoia_programme.plans import PlannedTask, StoredPlan, changes, plans_between
from sequoia_programme.proposal import Proposal
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.standing import standing
from sequoia_programme.today import publish as publish_plan
from sequoia_programme.today import withdraw as withdraw_plan
from sequoia_programme.web.call import Call, download
from sequoia_programme.web.map import Map, draw_map
from sequoia_programme.web.planner import StillComputing
from sequoia_programme.wishes import require_readable
from sequoia_programme.wishes import wish as make_wish

VIEWS = ("worker", "slot", "map")
# How many colours of workers the style sheet has.
_COLOURS = 8
# What must be answered now waits longer.
_LONG_PATIENCE = 60.0
# How long a wish waits to hear whether it can be met; one that is kept before shows its plan later.
_WISH_PATIENCE = 5.0
_KINDS = {
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".ics": "text/calendar",
    ".csv": "text/csv",
    ".html": "text/html",
    ".pdf": "application/pdf",
}


@dataclass(frozen=True)
class Duty:
    """A worker's day.

    Attributes
    ----------
    minutes, capacity
        How many are planned, and how many there are; ``None`` where nobody counts them.
    is_away
        Whether they are absent, by the records or by a wish.
    colour
        The number of their colour, in the list and on the map.
    half
        The wish for half a day; empty where nobody counts hours.
    """

    worker: str
    tasks: Sequence[PlannedTask]
    minutes: float | None
    capacity: float | None
    is_away: bool
    colour: int
    half: str = ""


@dataclass(frozen=True)
class Morning:
    """What is known of a day before its plan: who is there, what is wished and published.

    Attributes
    ----------
    last_change
        The last change of its wishes; empty where none was made since its plan.
    """

    day: date
    wishes: Overrides
    last_change: str
    published: StoredPlan | None
    workers: Sequence[Member]

    @property
    def is_draft(self) -> bool:
        """Whether something was wished since its plan was published."""
        return bool(self.last_change)


@dataclass(frozen=True)
class Refusal:
    """A wish that was not kept, and why.

    Attributes
    ----------
    text
        What was written, to be mended.
    ways_out
        Wishes that stand in its way: without any one of them it can be met.
    """

    option: str
    text: str
    lines: Sequence[str]
    ways_out: Sequence[Wished] = ()


def home(call: Call) -> Response:
    """Show what somebody is here for: the plan of a day, their own visits, or numbers."""
    if call.may(PLAN):
        return _show(call, _morning(call))
    return call.go("/my" if call.may(WORK) else "/numbers")


def _show(call: Call, morning: Morning, refused: Refusal | None = None) -> Response:
    view = call.text("view") if call.text("view") in VIEWS else VIEWS[0]
    usual: dict[str, Any] = {**_frame(call, morning), "view": view, "wrong": [], "refused": refused}
    if morning.published is not None and not morning.is_draft:
        history = find_history(call.programme, morning.day, morning.day)[0]
        return _page(call, morning, morning.published, {**usual, "history": history})
    if call.text("stopped"):
        return _without_plan(call, morning, {**usual, "stopped": True})
    try:
        proposal = _proposal(call, morning, call.site.patience)
    except StillComputing:
        version = standing(call.programme)
        progress = call.site.planner.progress(morning.day, version, morning.wishes)
        return _without_plan(call, morning, {**usual, "progress": progress})
    except SequoiaError as error:
        if not _has_people(call, morning.day):
            return call.page("begin.html", day=morning.day, has_staff=bool(morning.workers))
        return _without_plan(call, morning, {**usual, "wrong": error.lines})
    published = morning.published
    changed = [] if published is None else changes(published, proposal.plan)
    values = {**usual, "proposal": proposal, "halves": proposal.half_days, "changes": changed}
    return _page(call, morning, proposal.plan, values)


def _without_plan(call: Call, morning: Morning, values: Mapping[str, Any]) -> Response:
    """Show what was published, which holds until there is another plan."""
    holding = morning.published or StoredPlan(morning.day, "", "", {}, ())
    return _page(call, morning, holding, values)


def _page(call: Call, morning: Morning, plan: StoredPlan, values: Mapping[str, Any]) -> Response:
    absent = {*morning.wishes.get("absent", ())}
    outcomes = {}
    history = values.get("history")
    if isinstance(history, PlanHistory):
        outcomes = {one.task.who: one for one in history.outcomes}
    duties = _duties(morning, plan, absent, values.get("halves", {}))
    usual: dict[str, Any] = {
        "plan": plan,
        "duties": duties,
        "colours": {duty.worker: duty.colour for duty in duties},
        "slots": _by_slot(plan),
        "workers": [one.name for one in morning.workers],
        "prints": find_browser() is not None,
        "map": _map(call, plan) if values["view"] == "map" else None,
        "outcomes": outcomes,
        "proposal": None,
        "history": None,
        "changes": [],
        "progress": None,
        "stopped": False,
    }
    return call.page("today.html", 422 if values["refused"] else 200, **{**usual, **values})


def why(call: Call) -> Response:
    """Say what it would cost to drop or to include somebody."""
    morning, who = _morning(call), call.text("who")
    found = call.site.planner.why(
        morning.day,
        standing(call.programme),
        morning.wishes,
        f"arm:{who}",
        _LONG_PATIENCE,
        _who(call),
    )
    planned = {task.who for task in _proposal(call, morning, _LONG_PATIENCE).plan.tasks}
    others = {task.where for task in found.instead}
    return call.page(
        "why.html",
        why=found,
        day=morning.day,
        gained=sorted(others - planned),
        lost=sorted(planned - others),
    )


def compare(call: Call) -> Response:
    """Show a day beside the one before."""
    morning = _morning(call)
    calendar = call.programme.calendar
    before = calendar.date_of(calendar.step_of(morning.day) - 1)
    past = find_history(call.programme, before, before)
    plan: StoredPlan | None = None
    with suppress(StillComputing, SequoiaError):
        plan = _holding(call, morning)
    today = {} if plan is None else {task.who: task for task in plan.tasks}
    yesterday = {one.task.who: one for one in past[0].outcomes} if past else {}
    besides = past[0].besides if past else find_visits(call.programme, before)
    others = {one.who: one for one in besides if one.who not in yesterday}
    rows: list[tuple[str, Outcome | None, Event | None, PlannedTask | None]] = [
        (who, yesterday.get(who), others.get(who), today.get(who))
        for who in dict.fromkeys([*yesterday, *others, *today])
    ]
    return call.page(
        "compare.html",
        day=morning.day,
        before=before,
        rows=rows,
        has_past=bool(past),
        plan=plan,
    )


def file(call: Call) -> Response:
    """Return the plan as a file."""
    ending = str(call.request.path_params["ending"])
    if ending not in ENDINGS:
        raise HTTPException(404)
    plan = _holding(call, _morning(call))
    content = plan_bytes(call.programme, plan, ending)
    return download(content, _KINDS[ending], f"{call.programme.name}-{plan.date}{ending}")


def wish(call: Call) -> Response:
    """Add a wish, or take it back; the button says which, such as ``must:Ada``.

    One that cannot be read, or not be met beside the others, changes nothing, and the page says
    why.
    """
    morning = _morning(call)
    wanted = bool(call.text("add"))
    option, text = _wished(call, call.text("add" if wanted else "remove"))
    if option not in OVERRIDES:
        raise HTTPException(400, "no such wish")
    instead = _wished(call, call.text("instead")) if call.text("instead") else None
    if wanted:
        refused = _refusal(call, morning, option, text, instead)
        if refused is not None:
            return _show(call, morning, refused)
    make_wish(call.programme, morning.day, option, text, wanted=wanted, instead=instead)
    return _back(call, morning.day)


def _wished(call: Call, sent: str) -> Wished:
    option, _, text = sent.partition(":")
    if option == "lock" and call.text("worker"):
        text = f"{call.text('worker')}={call.text('who')}"
    return option, text or call.text("text")


def _refusal(
    call: Call, morning: Morning, option: str, text: str, instead: Wished | None
) -> Refusal | None:
    """Return why a wish cannot be kept, if so."""
    try:
        require_readable(call.programme, morning.day, option, text)
    except SequoiaError as error:
        return Refusal(option, text, error.lines)
    wishes = after_wish(morning.wishes, option, text, instead=instead)
    version, planner = standing(call.programme), call.site.planner
    try:
        planner.proposal(morning.day, version, wishes, _WISH_PATIENCE, _who(call))
    except InfeasibleSpace as error:
        ways = planner.ways_out(
            morning.day, version, wishes, (option, text), _LONG_PATIENCE, _who(call)
        )
        return Refusal(option, text, error.lines, ways)
    except (StillComputing, SequoiaError):
        # It may be fine, or nothing could be planned anyway: the page of the day says so.
        return None
    return None


def undo(call: Call) -> Response:
    """Take the last change of the wishes back, if it is still the one that was seen."""
    day = _step(call)
    # A script that saw nothing takes back whatever is last.
    done = undo_wish(call.programme, day, call.text("last") or None)
    return _back(call, day, call.words("today.undone" if done else "today.nothing to undo"))


def stop(call: Call) -> Response:
    """Stop to make the plan of a day; what was published stays."""
    morning = _morning(call)
    version = standing(call.programme)
    call.site.planner.cancel(morning.day, version, morning.wishes, _who(call))
    return call.go("/", date=morning.day, stopped=1)


def publish(call: Call) -> Response:
    """Publish the plan that was seen; if it is another one by now, show that first."""
    morning = _morning(call)
    proposal = _proposal(call, morning, _LONG_PATIENCE)
    if proposal.plan.digest != call.text("digest"):
        return _back(call, morning.day, call.words("today.changed meanwhile"))
    done = publish_plan(call.programme, proposal.plan)
    message = "today.published now" if done else "today.changed meanwhile"
    return _back(call, morning.day, call.words(message))


def withdraw(call: Call) -> Response:
    """Take the published plan back, if it is still the one that was seen."""
    day = _step(call)
    done = withdraw_plan(call.programme, day, call.text("digest"))
    return _back(call, day, call.words("today.withdrawn" if done else "today.nothing to undo"))


def todays_proposal(call: Call, patience: float) -> Proposal | None:
    """Return the plan that is proposed for today, if it is ready in time."""
    calendar = call.programme.calendar
    day = calendar.date_of(calendar.step_of(call.site.today()))
    with call.programme.store.open().reading() as connection:
        wishes = wishes_for(connection, day)
    try:
        version = standing(call.programme)
        return call.site.planner.proposal(day, version, wishes, patience, _who(call))
    except (StillComputing, SequoiaError):
        return None


def _step(call: Call) -> date:
    """Return the first date of the step that is asked for."""
    calendar = call.programme.calendar
    return calendar.date_of(calendar.step_of(call.day()))


def _morning(call: Call) -> Morning:
    day = _step(call)
    with call.programme.store.open().reading() as connection:
        published = plans_between(connection, day, day)
        return Morning(
            day=day,
            wishes=wishes_for(connection, day),
            last_change=last_change(connection, day),
            published=published[0] if published else None,
            workers=[one for one in members(connection, WORKER) if one.is_member(day)],
        )


def _proposal(call: Call, morning: Morning, patience: float) -> Proposal:
    version = standing(call.programme)
    return call.site.planner.proposal(morning.day, version, morning.wishes, patience, _who(call))


def _who(call: Call) -> str:
    """Return whose turn it is when a plan is made."""
    return call.account.name if call.account else ""


def _holding(call: Call, morning: Morning) -> StoredPlan:
    """Return the published plan; where a draft is newer, the proposed one."""
    if morning.published is not None and not morning.is_draft:
        return morning.published
    return _proposal(call, morning, _LONG_PATIENCE).plan


def _frame(call: Call, morning: Morning) -> dict[str, object]:
    """Return what every view of a day shows."""
    calendar = call.programme.calendar
    step = calendar.step_of(morning.day)
    return {
        "day": morning.day,
        "before": calendar.date_of(step - 1),
        "after": calendar.date_of(step + 1),
        "wishes": morning.wishes,
        "is_draft": morning.is_draft,
        "last_change": morning.last_change,
        "published": morning.published,
    }


def _duties(
    morning: Morning, plan: StoredPlan, absent: set[str], halves: Mapping[str, float]
) -> list[Duty]:
    """Return everybody's day: those who are there, and whoever else has tasks."""
    own = dict(by_worker(plan))
    other = dict(text.rpartition("=")[::2] for text in morning.wishes.get("hours", ()))
    duties: list[Duty] = []
    for one in morning.workers:
        tasks = own.pop(one.name, [])
        is_away = one.name in absent or one.is_away(morning.day)
        capacity = _number(one.facts.get("capacity", ""))
        # Where a plan is published none is computed: then minutes of a sheet have to do.
        hours = halves.get(one.name, (capacity or 0.0) / 2)
        half = f"{one.name}={hours:g}" if hours else ""
        if capacity is not None:
            capacity = _number(other.get(one.name, "")) or capacity
        colour = len(duties) % _COLOURS
        duties.append(Duty(one.name, tasks, _minutes(tasks), capacity, is_away, colour, half))
    for name, tasks in own.items():
        colour = len(duties) % _COLOURS
        duties.append(Duty(name, tasks, _minutes(tasks), None, False, colour))
    return duties


def _minutes(tasks: Sequence[PlannedTask]) -> float | None:
    if any(task.minutes is None for task in tasks):
        return None
    return sum(task.minutes or 0.0 for task in tasks)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _by_slot(plan: StoredPlan) -> dict[str, list[PlannedTask]]:
    slots: dict[str, list[PlannedTask]] = {}
    for task in plan.tasks:
        if task.when:
            slots.setdefault(task.when, []).append(task)
    return slots


def _has_people(call: Call, day: date) -> bool:
    with call.programme.store.reading() as connection:
        return any(one.is_member(day) for one in members(connection, ARM))


def _map(call: Call, plan: StoredPlan) -> Map | None:
    with call.programme.store.open().reading() as connection:
        people = [one for one in members(connection, ARM) if one.is_member(plan.date)]
    return draw_map(people, plan.tasks)


def _back(call: Call, day: date, message: str = "") -> Response:
    view = call.text("view")
    query = {"view": view} if view in VIEWS[1:] else {}
    return call.go("/", message, date=day, **query)
