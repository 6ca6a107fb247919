"""Wishes for a day, checked before they are kept: a name that nobody has is no wish."""

from datetime import date

import numpy as np

from sequoia.errors import InfeasibleSpace
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.planning.overrides import todays_wishes, together
from sequoia_programme.drafts import Overrides, Wished, after_wish, set_wish
from sequoia_programme.settings import Programme
from sequoia_programme.situation import Situation, find_outline


def wish(
    programme: Programme,
    day: date,
    option: str,
    text: str,
    *,
    wanted: bool = True,
    instead: Wished | None = None,
) -> Overrides:
    """Add a wish such as ``("must", "Ada")``, or take it back; return all of them.

    Raises
    ------
    ProblemError
        Where the wish says nothing that can be planned for: a name that nobody has, no number.
    """
    if wanted:
        require_readable(programme, day, option, text)
    return set_wish(programme, day, option, text, wanted=wanted, instead=instead)


def require_readable(programme: Programme, day: date, option: str, text: str) -> None:
    """Raise unless a wish says something that can be planned for."""
    todays_wishes(find_outline(programme, day), {option: [text]})


def ways_out(situation: Situation, overrides: Overrides, newest: Wished) -> list[Wished]:
    """Return each wish without which all others, the newest among them, can be met.

    Empty where no single one is in the way.
    """
    others = [(key, text) for key, texts in overrides.items() for text in texts]
    return [
        (option, text)
        for option, text in others
        if (option, text) != newest
        and _can_be_met(situation, after_wish(overrides, option, text, wanted=False))
    ]


def _can_be_met(situation: Situation, overrides: Overrides) -> bool:
    """Whether any decision does all that is wished."""
    wishes = together(todays_wishes(situation.problem, overrides))
    space = situation.problem.with_rules(situation.absences.and_also(wishes)).space
    try:
        LinearArgmax(ActionEncoding.of_space(space)).maximise(np.zeros((1, space.n_actions)))
    except InfeasibleSpace:
        return False
    return True
