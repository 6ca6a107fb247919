"""Scores of columns from comparisons: what a candidate is worth more is a sum over its changes."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import lsqr

from sequoia.learn.pairs import Pairs
from sequoia.models.scores import LinearScores
from sequoia.models.sight import Sight
from sequoia.validation import FloatArray, IntArray

# How strongly a column is drawn to what all share: in comparisons that it takes to believe its own.
_OWN_RIDGE, _SHARED_RIDGE = 3.0, 1e-2
# Steps of the iterative solver; the ridge makes fewer do.
_ITERATIONS = 60


def fit_scores(
    sight: Sight,
    pairs: Sequence[Pairs],
    advantages: Sequence[FloatArray],
) -> LinearScores:
    """Return scores u with ``sum_i (a'_i - a_i) u_i(s, t)`` near the advantage of each candidate.

    Ridge regression in two steps: what outlets of a kind share, then what is each one's own.
    """
    times, numbers = sight.n_times, sight.n_local * sight.n_times
    outlets, columns = len(sight.node), sight.n_columns
    y = np.concatenate(list(advantages))
    row, outlet, seen, bias = _entries(sight, pairs)
    kinds, kind = np.unique(sight.kinds[sight.node], return_inverse=True)
    shared = np.zeros((len(y), len(kinds) * numbers))
    for number in range(len(kinds)):
        own = kind[outlet] == number
        part = np.zeros((len(y), numbers))
        np.add.at(part, row[own], seen[own])
        shared[:, number * numbers : (number + 1) * numbers] = part
    gram = shared.T @ shared + _SHARED_RIDGE * np.eye(shared.shape[1])
    mean = np.linalg.solve(gram, shared.T @ y)
    rest = y - shared @ mean
    place = (outlet[:, None] * numbers + np.arange(numbers)).reshape(-1)
    by_outlet = sparse.csr_array(
        (seen.reshape(-1), (np.repeat(row, numbers), place)), (len(y), outlets * numbers)
    )
    design = sparse.hstack([by_outlet, bias], format="csr")
    apart = lsqr(design, rest, damp=np.sqrt(_OWN_RIDGE), iter_lim=_ITERATIONS)[0]
    weights = mean.reshape(len(kinds), numbers)[kind] + apart[: outlets * numbers].reshape(
        outlets, numbers
    )
    return LinearScores(
        sight,
        weights.reshape(outlets, sight.n_local, times),
        apart[outlets * numbers :].reshape(columns, times),
    )


def _entries(
    sight: Sight, pairs: Sequence[Pairs]
) -> tuple[IntArray, IntArray, FloatArray, sparse.csr_array]:
    """Return which outlets change in which candidates, and what is seen there.

    Row and outlet of each entry, ``(X,)``; psi tau times the change, ``(X, pT)``; and changes of
    columns times tau, ``(C, NT)``.
    """
    rows, outlets, seen, biases = [], [], [], []
    first = 0
    for own in pairs:
        apart, times = own.apart, sight.times(own.steps)[own.state]
        row, outlet = np.nonzero(apart[:, sight.column])
        local = sight.local(own.states)[own.state[row], sight.node[outlet]]
        change = apart[row, sight.column[outlet]]
        product = local[:, :, None] * times[row][:, None] * change[:, None, None]
        rows.append(row + first)
        outlets.append(outlet)
        seen.append(product.reshape(len(row), sight.n_local * sight.n_times))
        at, column = np.nonzero(apart)
        place = (column[:, None] * sight.n_times + np.arange(sight.n_times)).reshape(-1)
        content = (times[at] * apart[at, column][:, None]).reshape(-1)
        shape = (len(apart), sight.n_columns * sight.n_times)
        where = (np.repeat(at, sight.n_times), place)
        biases.append(sparse.csr_array((content, where), shape))
        first += len(apart)
    return (
        np.concatenate(rows),
        np.concatenate(outlets),
        np.concatenate(seen),
        sparse.csr_array(sparse.vstack(biases, format="csr")),
    )


def changes(pairs: Pairs, scores: FloatArray) -> FloatArray:
    """Return what scores of each state, ``(K, N)``, say of each candidate, ``(C,)``."""
    found: FloatArray = (pairs.apart * scores[pairs.state]).sum(axis=1)
    return found
