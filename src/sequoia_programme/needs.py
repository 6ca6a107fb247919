"""Who may visit whom, and how much: what people need, what workers offer, breaks, most visits.

One idea for skills, languages and the sex of who comes: a person needs some things, a worker offers
some, and whoever visits offers all that the person needs.
"""

import re
from collections.abc import Sequence

from sequoia.problem import ActionSpace, Bar, Rules
from sequoia.problem.names import closest
from sequoia_programme.columns import Columns
from sequoia_programme.entries import find_name
from sequoia_programme.members import Member

# Columns of the roster: what somebody needs, and who is not to come.
NEEDS, NOT_BY = "needs", "not by"
# Columns of the staff: what somebody offers, minutes without visits, visits in a step.
OFFERS, BREAK, MOST = "offers", "break", "most visits"


def visiting_rules(
    columns: Columns,
    space: ActionSpace,
    arms: Sequence[Member],
    workers: Sequence[Member],
    found: list[str],
) -> tuple[Rules, list[str]]:
    """Return the rules that the roster and the staff say, and remarks; note what is wrong."""
    offers = {one.name: _listed(one, OFFERS) for one in workers}
    bars, remarks = [], []
    for one in arms:
        for need in _listed(one, NEEDS):
            without = [name for name, own in offers.items() if find_name(need, own) is None]
            if len(without) == len(offers):
                known = sorted({each for own in offers.values() for each in own})
                remarks.append(
                    f"{one.name} needs {need!r}, which nobody offers{closest(need, known)}."
                )
            bars += [
                Bar(action, without, f"{one.name} needs {need}") for action in columns.of(one.name)
            ]
        for text in _listed(one, NOT_BY):
            who = find_name(text, list(offers))
            # Somebody who left, or comes later, visits nobody today.
            if who is not None:
                why = f"{one.name} is not visited by {who}"
                bars += [Bar(action, [who], why) for action in columns.of(one.name)]
    hours = {
        one.name: max(0.0, space.base.usual_hours(one.name) - number)
        for one in workers
        if (number := _number(one, BREAK, found))
    }
    most = {
        one.name: int(number)
        for one in workers
        if (number := _number(one, MOST, found)) is not None
    }
    return Rules(bars=[bar for bar in bars if bar.workers], hours=hours, most=most), remarks


def _listed(one: Member, column: str) -> list[str]:
    """Return the parts of a cell, which semicolons or commas separate."""
    return [part.strip() for part in re.split("[;,]", one.facts.get(column, "")) if part.strip()]


def _number(one: Member, column: str, found: list[str]) -> float | None:
    text = one.facts.get(column, "")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        found.append(f"the staff, {one.name}, column {column!r} is {text!r}; a number is wanted.")
        return None
    return number
