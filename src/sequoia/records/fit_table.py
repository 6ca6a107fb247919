"""A fitted model in words and as a table."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sequoia.problem import Arms
from sequoia.problem.names import count
from sequoia.records.fit import FittedModel, Unsure

_MOST_UNSURE = 5
_MET = 0.5


class FitRow(NamedTuple):
    """One probability: from a state, by a dose, to a state."""

    group: str
    dose: str
    state: str
    to: str
    estimate: float
    low: float
    high: float
    met: float


def fit_rows(fitted: FittedModel, arms: Arms) -> Iterator[FitRow]:
    """Yield each probability with its 90 % interval; moves that never happen are left out."""
    low, high = fitted.interval
    for place in np.argwhere(high > 0).tolist():
        group, dose, state, to = place
        where = (group, dose, state, to)
        yield FitRow(
            arms.model_names[group],
            arms.say_dose(arms.doses[group, dose]),
            arms.say_state(state),
            arms.say_state(to),
            float(fitted.kernels[where]),
            float(low[where]),
            float(high[where]),
            float(fitted.counts[where]),
        )


def fit_words(fitted: FittedModel, arms: Arms) -> list[tuple[str, str]]:
    """Return what was fitted and what the data cannot tell, as labels and sentences."""
    low, high = fitted.interval
    groups, doses, states = fitted.kernels.shape[:3]
    rows = groups * doses * states
    pairs = [
        ("from", f"{count(fitted.n_rows, 'row')} of the log"),
        ("that is", f"{count(fitted.n_segments, 'pair')} of sightings, one after the other"),
        ("90 % intervals", f"{np.median((high - low)[high > 0]):.2f} wide, in the middle"),
    ]
    if fitted.unsure:
        share = f"{len(fitted.unsure)} of {count(rows, 'row')} of transitions"
        pairs.append(("cannot tell", f"{share}; the least known:"))
        pairs += [("", _say(arms, row)) for row in fitted.unsure[:_MOST_UNSURE]]
    else:
        pairs.append(("cannot tell", "nothing: all rows are known well"))
    return pairs


def _say(arms: Arms, row: Unsure) -> str:
    where = (
        f"{arms.model_names[row.group]}, dose {arms.say_dose(arms.doses[row.group, row.dose])}, "
        f"from {arms.state_in_words(row.state)}"
    )
    met = "never met" if row.met < _MET else f"met about {row.met:.0f} times"
    return f"{where}: {met}, interval {row.width:.2f} wide"
