"""Plans in the shadow: what would have been proposed, beside what people did; nothing is kept."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from sequoia.planning.planner import Worth
from sequoia_programme.history import find_visits
from sequoia_programme.settings import Programme
from sequoia_programme.situation import find_situation
from sequoia_programme.today import Planning


@dataclass(frozen=True)
class ShadowDay:
    """A day as it would have been planned, and as it was.

    Attributes
    ----------
    planned, done
        Whom the plan has, and who was visited.
    gain
        What the plan adds to idleness, and what was done adds, as prices saw it that morning.
    """

    date: date
    planned: Sequence[str]
    done: Sequence[str]
    gain: Worth
    gain_done: Worth

    @property
    def both(self) -> list[str]:
        """Who is in the plan, and was visited."""
        return [who for who in self.planned if who in set(self.done)]


def find_shadow(
    programme: Programme,
    days: Sequence[date],
    policy: str = "price",
    progress: Callable[[float], None] = lambda _: None,
) -> list[ShadowDay]:
    """Plan each of some days for what was known when it began, and compare it with the log.

    Transitions are those that were estimated last, which may know of later days.
    """
    found = []
    for number, day in enumerate(days):
        progress(number / len(days))
        situation = find_situation(programme, day)
        planning = Planning(situation, policy)
        made = planning.plan({})
        columns, planner = situation.columns, planning.planner
        events = {(one.who, one.dose) for one in find_visits(programme, day)}
        names = list(columns.doses)
        visited = {
            columns.of(who)[names.index(dose)]
            for who, dose in events
            if who in columns.arms and dose in names
        }
        action = np.array([name in visited for name in columns.names], dtype=np.int8)
        found.append(
            ShadowDay(
                day,
                [task.who for task in made.stored.tasks],
                sorted({who for who, _ in events}),
                made.found.worth - made.found.idle,
                planner.worth(action) - made.found.idle,
            )
        )
    return found
