"""Charts that a page draws itself, as SVG."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np

from sequoia.validation import FloatArray
from sequoia_programme.history import Event

# The size of a chart, and the room for its dates.
CHART_WIDTH, CHART_HEIGHT, _DATES = 720.0, 160.0, 24.0


@dataclass(frozen=True)
class BeliefChart:
    """What was believed of somebody's state, as areas that add up to certainty.

    Attributes
    ----------
    areas
        The outline of each state's area, the first state at the bottom, and its name.
    marks
        Where somebody was seen: to the right, whether by a visit, and what happened in words.
    first, last
        The dates at the ends.
    """

    areas: Sequence[tuple[str, str]]
    marks: Sequence[tuple[float, bool, str]]
    first: date
    last: date


def belief_chart(
    dates: Sequence[date], belief: FloatArray, events: Sequence[Event], states: Sequence[str]
) -> BeliefChart | None:
    """Return a chart of what was believed, ``(T, S)``; ``None`` where there is too little."""
    if len(dates) < 2:
        return None
    height = CHART_HEIGHT - _DATES
    right = np.linspace(0, CHART_WIDTH, len(dates))
    tops = np.concatenate([np.zeros((len(dates), 1)), np.cumsum(belief, axis=1)], axis=1)
    areas = []
    for number, name in enumerate(states):
        lower, upper = height * (1 - tops[:, number]), height * (1 - tops[:, number + 1])
        outline = [*zip(right, upper, strict=True), *zip(right[::-1], lower[::-1], strict=True)]
        areas.append((" ".join(f"{x:.1f},{y:.1f}" for x, y in outline), name))
    place = dict(zip(dates, right.tolist(), strict=True))
    marks = [
        (place[one.date], bool(one.dose), f"{one.date} {one.state or one.kind} {one.by}".strip())
        for one in events
        if one.date in place
    ]
    return BeliefChart(areas, marks, dates[0], dates[-1])


# The size of a bar and of the picture of predictions.
BAR_WIDTH, FORESIGHT_SIZE = 300.0, 240.0
# The largest circle of that picture.
_LARGEST = 14.0


@dataclass(frozen=True)
class Bar:
    """A number beside the largest one that is possible, with its interval.

    Attributes
    ----------
    key
        What it is, as a key of the words.
    width, low, high
        From 0 to `BAR_WIDTH`.
    """

    key: str
    mean: float
    half: float
    width: float
    low: float
    high: float


def bars(numbers: Sequence[tuple[str, float, float]], most: float) -> list[Bar]:
    """Return a bar for each key, mean and half of an interval; ``most`` fills the width."""

    def place(value: float) -> float:
        return float(np.clip(value / most if most > 0 else 0.0, 0, 1)) * BAR_WIDTH

    return [
        Bar(key, mean, half, place(mean), place(mean - half), place(mean + half))
        for key, mean, half in numbers
    ]


def foresight_dots(
    bins: Sequence[tuple[float, float, int]],
) -> list[tuple[float, float, float, str]]:
    """Return where predictions of about one probability lie, as x, y, radius and words."""
    most = max((count for *_, count in bins), default=1)
    return [
        (
            FORESIGHT_SIZE * predicted,
            FORESIGHT_SIZE * (1 - seen),
            max(2.0, _LARGEST * (count / most) ** 0.5),
            f"{100 * predicted:.0f} % → {100 * seen:.0f} % ({count})",
        )
        for predicted, seen, count in bins
    ]
