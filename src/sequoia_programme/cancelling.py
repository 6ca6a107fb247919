"""Visits of a published plan that will not be made, by our own decision."""

from collections.abc import Sequence
from datetime import date

from sequoia.errors import ProblemError
from sequoia.problem.names import closest
from sequoia_programme.entries import Entry, find_name, put_entries
from sequoia_programme.members import members
from sequoia_programme.outcomes import CANCELLED
from sequoia_programme.plans import plans_between
from sequoia_programme.schema import ARM
from sequoia_programme.settings import Programme
from sequoia_programme.store import note


def cancel_visits(programme: Programme, day: date, who: Sequence[str]) -> list[str]:
    """Cancel visits of the plan that is published for a date; return whose they were."""
    with programme.store.open().writing() as connection:
        holding = plans_between(connection, day, day)
        if not holding:
            raise ProblemError(f"no plan is published for {day}.")
        planned = {task.who: task for task in holding[0].tasks}
        names = []
        for text in who:
            name = find_name(text, list(planned))
            if name is None:
                raise ProblemError(
                    f"the plan of {day} has no visit to {text!r}{closest(text, list(planned))}."
                )
            names.append(name)
        entries = [
            Entry(name, planned[name].date, name, "", planned[name].by, "", CANCELLED)
            for name in names
        ]
        put_entries(connection, members(connection, ARM), entries)
        note(connection, f"Cancelled visits of {day}: {', '.join(names)}.")
    return names
