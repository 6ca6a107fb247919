"""Staff and rules: who works when, who is away, what the rules say."""

from starlette.responses import Response

from sequoia_programme.absences import set_absent, set_back
from sequoia_programme.members import members
from sequoia_programme.people import add_person, set_left
from sequoia_programme.quality import read_quality
from sequoia_programme.rules import (
    AT_MOST_ONE,
    FLOORS,
    KINDS,
    WrittenRule,
    add_rule,
    read_number,
    remove_rule,
    written_rules,
)
from sequoia_programme.schema import WORKER
from sequoia_programme.web.call import Call
from sequoia_programme.web.today import todays_proposal


def show(call: Call) -> Response:
    """Show who works, and the rules."""
    day = call.site.today()
    with call.programme.store.open().reading() as connection:
        staff = members(connection, WORKER)
    facts = list(dict.fromkeys(key for one in staff for key in one.facts)) or ["capacity"]
    proposal = todays_proposal(call, 0.0)
    quality = read_quality(call.programme)
    return call.page(
        "staff.html",
        staff=staff,
        day=day,
        facts=facts,
        usual_rule="" if proposal is None else proposal.rules[0],
        rules=written_rules(call.programme),
        costs={} if quality is None else {one.rule: one.month for one in quality.rules},
        kinds=KINDS,
    )


def add_one_rule(call: Call) -> Response:
    """Add a rule to the programme."""
    rule = _rule(call)
    add_rule(call.programme, rule, call.site.today())
    return call.go("/staff", call.words("staff.rule added", rule=call.words.rule(rule)))


def remove_one_rule(call: Call) -> Response:
    """Remove a rule from the programme."""
    rule = _rule(call)
    remove_rule(call.programme, rule, call.site.today())
    return call.go("/staff", call.words("staff.rule removed", rule=call.words.rule(rule)))


def _rule(call: Call) -> WrittenRule:
    kind, text = call.text("kind"), call.text("names")
    several = text.split(";") if kind == AT_MOST_ONE else [text]
    names = tuple(one.strip() for one in several if one.strip())
    return WrittenRule(kind, names, *(read_number(call.text("number")) if kind == FLOORS else ()))


def change(call: Call) -> Response:
    """Add somebody, or change their hours."""
    name = call.text("name")
    facts = {
        key.removeprefix("fact "): str(value).strip()
        for key, value in call.form.items()
        if key.startswith("fact ") and isinstance(value, str)
    }
    add_person(call.programme, name, WORKER, facts)
    return call.go("/staff", call.words("staff.changed", name=name))


def absent(call: Call) -> Response:
    """Note that somebody is away, or back."""
    who = call.text("who")
    if call.text("back"):
        who = set_back(call.programme, who, call.site.today())
        return call.go("/staff", call.words("people.back", name=who))
    first = call.day("first")
    last = call.day("last") if call.text("last") else first
    who = set_absent(call.programme, who, first, last)
    return call.go("/staff", call.words("people.paused", name=who))


def leave(call: Call) -> Response:
    """Note that somebody leaves, or is there again."""
    day = None if call.text("back") else call.day("left")
    who = set_left(call.programme, call.text("who"), day)
    return call.go("/staff", call.words("people.back" if day is None else "people.left", name=who))
