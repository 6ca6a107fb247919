"""People: found, looked at one by one, added, paused, gone."""

from starlette.responses import JSONResponse, Response

from sequoia_programme.absences import set_absent, set_back
from sequoia_programme.people import (
    STANDINGS,
    add_note,
    add_person,
    find_names,
    find_people,
    find_person,
    set_left,
)
from sequoia_programme.quality import read_quality
from sequoia_programme.schema import ARM
from sequoia_programme.web.call import Call
from sequoia_programme.web.picture import belief_chart
from sequoia_programme.web.today import todays_proposal

_ON_A_PAGE = 50


def show(call: Call) -> Response:
    """List people."""
    page = call.number("page", 1, least=1)
    asked = {name: call.text(name) for name in ("search", "group", "standing", "state")}
    if "standing" not in call.request.query_params:
        asked["standing"] = STANDINGS[0]
    day = call.site.today()
    found = find_people(
        call.programme, day, **asked, first=(page - 1) * _ON_A_PAGE, most=_ON_A_PAGE
    )
    proposal = todays_proposal(call, 0.0)
    quality = read_quality(call.programme)
    return call.page(
        "people.html",
        found=found,
        asked=asked,
        number=page,
        pages=max(1, -(-found.total // _ON_A_PAGE)),
        standings=STANDINGS,
        knowledge={} if proposal is None else proposal.knowledge,
        planned=() if proposal is None else {task.who for task in proposal.plan.tasks},
        due={} if quality is None else quality.next_visits,
    )


def names(call: Call) -> Response:
    """Return some names, for who writes one."""
    return JSONResponse(find_names(call.programme, call.text("search")))


def one(call: Call) -> Response:
    """Show somebody."""
    person = find_person(call.programme, call.text("who"), call.site.today())
    chart = belief_chart(person.dates, person.belief, person.events, call.programme.states)
    proposal = todays_proposal(call, 0.0)
    planned = {} if proposal is None else {task.who: task.by for task in proposal.plan.tasks}
    quality = read_quality(call.programme)
    return call.page("person.html", person=person, chart=chart, planned=planned, quality=quality)


def add(call: Call) -> Response:
    """Add somebody, or change what is known of them."""
    name = call.text("name")
    fields = ("cost", "minutes", "x", "y")
    facts = {key: call.text(key) for key in fields if call.text(key)}
    values = {"group": call.text("group")}
    joined = call.day("joined") if call.text("joined") else None
    add_person(call.programme, name, ARM, facts, **values, **({"joined": joined} if joined else {}))
    return call.go("/people/one", call.words("people.added", name=name), who=name)


def pause(call: Call) -> Response:
    """Note that somebody is away for a while, or back."""
    who = call.text("who")
    if call.text("back"):
        who = set_back(call.programme, who, call.site.today())
        return call.go("/people/one", call.words("people.back", name=who), who=who)
    first = call.day("first")
    last = call.day("last") if call.text("last") else first
    who = set_absent(call.programme, who, first, last)
    return call.go("/people/one", call.words("people.paused", name=who), who=who)


def leave(call: Call) -> Response:
    """Note that somebody leaves the programme, or is in it again."""
    day = None if call.text("back") else call.day("left")
    who = set_left(call.programme, call.text("who"), day)
    message = "people.back" if day is None else "people.left"
    return call.go("/people/one", call.words(message, name=who), who=who)


def note(call: Call) -> Response:
    """Note something about somebody."""
    who = add_note(call.programme, call.text("who"), call.text("words", longest=2000))
    return call.go("/people/one", call.words("people.noted"), who=who)
