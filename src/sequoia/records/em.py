"""The most likely transitions, given a prior: expectation–maximisation over the unseen states."""

from typing import NamedTuple

import numpy as np

from sequoia.errors import ProblemError
from sequoia.records.segments import Segments
from sequoia.records.structure import Moves
from sequoia.validation import FloatArray

# Where no probability moves by more, estimates are far more accurate than any data makes them.
_ACCURACY = 1e-4
_MOST_ROUNDS = 200
_LEAST = 1e-12


class Mode(NamedTuple):
    """Rows ``(G, L, R, V)``, expected counts of their entries there, and the log-likelihood."""

    rows: FloatArray
    counts: FloatArray
    likelihood: float


def find_mode(segments: Segments, moves: Moves, start: FloatArray, prior: FloatArray) -> Mode:
    """Maximise ``log L(P) + sum prior * log P`` (Dempster, Laird and Rubin 1977).

    Where most states are unseen, plain steps are slow. So two of them are extrapolated, by
    Varadhan and Roland's squared iteration (SQUAREM, 2008), as long as that is no worse.

    Parameters
    ----------
    start
        Rows to begin with, ``(G, L, R, V)``.
    prior
        Counts that are added to those of the data, ``(G, L, R, V)``; 0 for what never happens.
    """

    def expected(rows: FloatArray) -> tuple[FloatArray, float]:
        counts, likelihood = segments.expected_counts(moves.kernels(rows))
        return moves.fold(counts, rows) + prior, likelihood

    rows = start
    counts, likelihood = expected(rows)
    if not np.isfinite(likelihood):
        raise ProblemError(_impossible(segments, moves.kernels(rows)))
    for _ in range(_MOST_ROUNDS):
        once = _update(counts, rows)
        first = once - rows
        if np.abs(first).max() < _ACCURACY:
            rows = once
            break
        counts, likelihood = expected(once)
        twice = _update(counts, once)
        second = twice - once - first
        length = np.sqrt((first**2).sum() / max(float((second**2).sum()), 1e-300))
        ahead = rows + 2 * length * first + length**2 * second
        ahead = np.where(twice > 0, np.maximum(ahead, _LEAST), 0.0)
        ahead /= ahead.sum(axis=-1, keepdims=True)
        tried, better = expected(ahead)
        goal = _log_prior(prior, ahead) + better
        if length > 1 and goal >= _log_prior(prior, once) + likelihood:
            rows, counts, likelihood = ahead, tried, better
        else:
            rows = twice
            counts, likelihood = expected(rows)
    return Mode(rows, counts - prior, likelihood)


def _update(counts: FloatArray, rows: FloatArray) -> FloatArray:
    """Return counts as rows that sum to 1; a row without any stays as it is."""
    total = counts.sum(axis=-1, keepdims=True)
    new: FloatArray = np.where(total > 0, counts / np.where(total > 0, total, 1.0), rows)
    return new


def _log_prior(prior: FloatArray, rows: FloatArray) -> float:
    return float((prior * np.log(np.maximum(rows, _LEAST))).sum())


def _impossible(segments: Segments, kernels: FloatArray) -> str:
    chances = segments.chances(segments.products(kernels))
    worst = int(np.flatnonzero(~(chances > 0))[0])
    return (
        f"an arm was seen in state {segments.start[worst]} and next in state "
        f"{segments.end[worst]}, which cannot follow by the moves that are allowed."
    )
