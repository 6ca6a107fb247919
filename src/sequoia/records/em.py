"""The most likely transitions, given a prior: expectation–maximisation over the unseen states."""

from typing import NamedTuple

import numpy as np

from sequoia.errors import ProblemError
from sequoia.records.segments import Segments
from sequoia.validation import FloatArray

# Where no probability moves by more, estimates are far more accurate than any data makes them.
_ACCURACY = 1e-4
_MOST_ROUNDS = 200
_LEAST = 1e-12


class Mode(NamedTuple):
    """Kernels ``(G, L, S, S)``, expected counts there, and the log-likelihood."""

    kernels: FloatArray
    counts: FloatArray
    likelihood: float


def find_mode(segments: Segments, start: FloatArray, prior: FloatArray) -> Mode:
    """Maximise ``log L(P) + sum prior * log P`` (Dempster, Laird and Rubin 1977).

    Where most states are unseen, plain steps are slow. So two of them are extrapolated, by
    Varadhan and Roland's squared iteration (SQUAREM, 2008), as long as that is no worse.

    Parameters
    ----------
    prior
        Counts that are added to those of the data, ``(G, L, S, S)``; 0 for moves that never
        happen.
    """
    kernels = start
    counts, likelihood = segments.expected_counts(kernels)
    if not np.isfinite(likelihood):
        raise ProblemError(_impossible(segments, kernels))
    for _ in range(_MOST_ROUNDS):
        once = _update(counts + prior, kernels)
        first = once - kernels
        if np.abs(first).max() < _ACCURACY:
            kernels = once
            break
        counts, likelihood = segments.expected_counts(once)
        twice = _update(counts + prior, once)
        second = twice - once - first
        length = np.sqrt((first**2).sum() / max(float((second**2).sum()), 1e-300))
        ahead = kernels + 2 * length * first + length**2 * second
        ahead = np.where(twice > 0, np.maximum(ahead, _LEAST), 0.0)
        ahead /= ahead.sum(axis=-1, keepdims=True)
        tried, better = segments.expected_counts(ahead)
        goal = _log_prior(prior, ahead) + better
        if length > 1 and goal >= _log_prior(prior, once) + likelihood:
            kernels, counts, likelihood = ahead, tried, better
        else:
            kernels = twice
            counts, likelihood = segments.expected_counts(kernels)
    return Mode(kernels, counts, likelihood)


def _update(counts: FloatArray, kernels: FloatArray) -> FloatArray:
    """Return counts as rows that sum to 1; a row without any stays as it is."""
    total = counts.sum(axis=-1, keepdims=True)
    rows: FloatArray = np.where(total > 0, counts / np.where(total > 0, total, 1.0), kernels)
    return rows


def _log_prior(prior: FloatArray, kernels: FloatArray) -> float:
    return float((prior * np.log(np.maximum(kernels, _LEAST))).sum())


def _impossible(segments: Segments, kernels: FloatArray) -> str:
    chances = segments.chances(segments.products(kernels))
    worst = int(np.flatnonzero(~(chances > 0))[0])
    return (
        f"an arm was seen in state {segments.start[worst]} and next in state "
        f"{segments.end[worst]}, which cannot follow by the moves that are allowed."
    )
