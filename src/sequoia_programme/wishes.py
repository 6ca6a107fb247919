"""Wishes for a day, checked before they are kept: a name that nobody has is no wish."""

from datetime import date

from sequoia.planning.overrides import todays_wishes
from sequoia_programme.drafts import Overrides, set_wish
from sequoia_programme.settings import Programme
from sequoia_programme.situation import find_outline


def wish(
    programme: Programme, day: date, option: str, text: str, *, wanted: bool = True
) -> Overrides:
    """Add a wish such as ``("must", "Ada")``, or take it back; return all of them.

    Raises
    ------
    ProblemError
        Where the wish says nothing that can be planned for: a name that nobody has, no number.
    """
    if wanted:
        todays_wishes(find_outline(programme, day), {option: [text]})
    return set_wish(programme, day, option, text, wanted=wanted)
