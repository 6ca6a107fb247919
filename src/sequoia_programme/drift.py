"""Whether the transitions still hold: what was predicted of sightings, week by week, and seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
from scipy.stats import norm

from sequoia.records.segments import Segments
from sequoia.validation import FloatArray, IntArray
from sequoia_programme.estimates import find_estimates
from sequoia_programme.members import members
from sequoia_programme.schema import ARM
from sequoia_programme.settings import Programme
from sequoia_programme.to_log import DatedLog, to_log

# Where nothing drifts, one look in a hundred says that something does.
_FALSE_ALARMS = 0.01
# With fewer expected, or missed, sightings of a state its count is not nearly normal.
_FEWEST = 5.0


@dataclass(frozen=True, eq=False)
class WeekSeen:
    """Sightings of a week that were predicted from those before. Axes: S states.

    Attributes
    ----------
    first
        Its Monday.
    predicted, seen
        How many sightings of each state were expected, and how many there were, ``(S,)``.
    surprise
        How far these are apart, in standard errors, ``(S,)``; 0 where too few are expected.
    is_drift
        Whether chance is no good excuse for one of them.
    """

    first: date
    predicted: FloatArray
    seen: IntArray
    surprise: FloatArray
    is_drift: bool


@dataclass(frozen=True, eq=False)
class Drift:
    """The weeks that can be looked at, the last first, and where the transitions come from."""

    weeks: Sequence[WeekSeen]
    states: Sequence[str]
    transitions: str

    @property
    def is_drift(self) -> bool:
        """Whether the transitions should be estimated anew."""
        return any(week.is_drift for week in self.weeks)

    @property
    def words(self) -> str:
        """What it means, in a sentence."""
        if not self.weeks:
            return "Nobody was seen twice in these weeks, so nothing can be compared."
        if not self.is_drift:
            return "What was seen agrees with what was predicted, up to chance."
        worst = max(self.weeks, key=lambda week: float(np.abs(week.surprise).max()))
        state = int(np.abs(worst.surprise).argmax())
        how = "more" if worst.surprise[state] > 0 else "less"
        return (
            f"The transitions have drifted: in the week of {worst.first} {self.states[state]} was "
            f"seen {how} often than predicted ({worst.seen[state]} times, not "
            f"{worst.predicted[state]:.0f})."
        )


def find_drift(programme: Programme, day: date, weeks: int = 8) -> Drift:
    """Compare predictions with sightings in the ``weeks`` that end with that of ``day``.

    Each sighting is predicted from the one of the same arm before it, and the visits in between,
    with the transitions that plans use.
    """
    estimates = find_estimates(programme, day)
    with programme.store.open().reading() as connection:
        dated = to_log(programme, connection, members(connection, ARM), day)
    monday = day - timedelta(days=day.weekday())
    mondays = [monday - timedelta(weeks=back) for back in range(weeks)]
    counted = [(one, *_compare(programme, dated, estimates.kernels, one)) for one in mondays]
    counted = [one for one in counted if one[2].sum()]
    tests = max(1, len(counted) * len(programme.states))
    limit = float(norm.isf(_FALSE_ALARMS / (2 * tests)))
    found = []
    for first, predicted, seen, variance in counted:
        is_enough = (predicted >= _FEWEST) & (seen.sum() - predicted >= _FEWEST)
        apart = (seen - predicted) / np.sqrt(np.maximum(variance, 1e-12))
        surprise = np.where(is_enough, apart, 0.0)
        is_drift = bool((np.abs(surprise) > limit).any())
        found.append(WeekSeen(first, predicted, seen, surprise, is_drift))
    return Drift(found, programme.states, estimates.words)


def _compare(
    programme: Programme, dated: DatedLog, kernels: FloatArray, monday: date
) -> tuple[FloatArray, IntArray, FloatArray]:
    """Return counts that were predicted and seen in a week, and the variance of the former."""
    states, nothing = len(programme.states), np.zeros(len(programme.states))
    steps = programme.calendar.steps_of([monday, monday + timedelta(weeks=1)]) - dated.offset
    begin, last = max(0, int(steps[0])), min(int(steps[1]) - 1, dated.log.n_steps)
    if begin > last:
        return nothing, nothing.astype(np.int64), nothing
    groups, doses = kernels.shape[:2]
    ahead = Segments.of(dated.log.before(last), groups, doses, states, after=begin - 1)
    if not ahead.n_segments:
        return nothing, nothing.astype(np.int64), nothing
    chances = ahead.products(kernels)[ahead.node, ahead.start]
    seen = np.bincount(ahead.end, ahead.count, minlength=states).astype(np.int64)
    return ahead.count @ chances, seen, ahead.count @ (chances * (1 - chances))
