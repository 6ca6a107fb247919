"""Whether a fitted model foresees what it has not seen: the last steps of a log, held out."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sequoia.errors import ProblemError
from sequoia.records.fit import FittedModel
from sequoia.records.log import Log
from sequoia.records.segments import Segments
from sequoia.validation import FloatArray, IntArray

# Of the log, the last fifth is foreseen from the rest.
SHARE = 0.2
_BINS = np.linspace(0.0, 1.0, 11)
# A probability of 0 for what then happens would cost infinitely much.
_LEAST = 1e-6
# Steps of the expected frequency, in standard errors, beyond which chance is no good excuse.
_DOUBT = 2.6


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predictions of states compared with sightings. Axes: B bins of probability.

    Attributes
    ----------
    predicted, seen
        Mean predicted probability, and how often the state was then seen, ``(B,)``.
    count
        Predictions in each bin, ``(B,)``: one for each sighting and state.
    n_sightings
        Sightings that were predicted.
    log_score, baseline
        Mean logarithm of the probability of what was seen: the model's, and that of who always
        says how often states were seen before. More is better.
    since
        The first step that was held out.
    """

    predicted: FloatArray
    seen: FloatArray
    count: IntArray
    n_sightings: int
    log_score: float
    baseline: float
    since: int

    @property
    def is_fine(self) -> bool:
        """Whether chance explains how far frequencies are from predictions."""
        spread = np.sqrt(self.predicted * (1 - self.predicted) / self.count) + 1 / self.count
        return bool((np.abs(self.seen - self.predicted) <= _DOUBT * spread).all())

    @property
    def words(self) -> str:
        """The meaning, in a sentence or two."""
        agrees = "agree with" if self.is_fine else "differ from"
        gain = np.exp(self.log_score - self.baseline)
        if gain > 1.005:
            how = f"{gain:.2f} times as much probability on what was then seen"
        else:
            how = "no more probability on what was then seen"
        return (
            f"Frequencies {agrees} predictions for {self.n_sightings} sightings since step "
            f"{self.since}. The model put {how} than the frequencies of states before."
        )


def calibrate(log: Log, n_states: int, refit: Callable[[Log], FittedModel]) -> Calibration:
    """Fit the first four fifths of a log, and predict each sighting of the rest from the last one.

    Parameters
    ----------
    refit
        Fits a log, such as ``partial(fit, n_states=3, n_doses=2)``.

    Raises
    ------
    ProblemError
        When nothing was seen in the last steps that can be predicted.
    """
    since = max(1, int(np.ceil((1 - SHARE) * log.n_steps)))
    past = log.before(since)
    fitted = refit(past)
    groups, doses, _ = fitted.kernels.shape[:3]
    ahead = Segments.of(log, groups, doses, n_states, after=since)
    if not ahead.n_segments:
        raise ProblemError(f"nobody was seen twice with the second time after step {since}.")
    chances = ahead.products(fitted.kernels)[ahead.node, ahead.start]
    happened = np.eye(n_states)[ahead.end]
    weights = np.repeat(ahead.count, n_states)
    place = np.clip(np.digitize(chances.reshape(-1), _BINS) - 1, 0, len(_BINS) - 2)
    count = np.bincount(place, weights)
    predicted = np.bincount(place, weights * chances.reshape(-1))
    observed = np.bincount(place, weights * happened.reshape(-1))
    kept = count > 0
    before = np.bincount(past.sightings[:, 2], minlength=n_states) + 1.0
    total = ahead.count.sum()
    log_chances = np.log(np.maximum(chances[np.arange(len(chances)), ahead.end], _LEAST))
    plain = np.log(before / before.sum())[ahead.end]
    return Calibration(
        (predicted / np.maximum(count, 1))[kept],
        (observed / np.maximum(count, 1))[kept],
        count[kept].astype(np.int64),
        int(total),
        float(ahead.count @ log_chances / total),
        float(ahead.count @ plain / total),
        since,
    )
