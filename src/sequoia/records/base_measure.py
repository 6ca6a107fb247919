"""What the groups have in common: the transitions towards which each group is shrunk."""

from typing import Protocol

import numpy as np

from sequoia.validation import BoolArray, FloatArray

# Laplace's prior, one observation of each move that can happen: all rows are as likely. With
# less, rows that are hardly seen are drawn towards certainty, and intervals miss too often.
_PRIOR = 1.0
# A move that can happen never gets less than this: it could not come back in later draws.
_LEAST = 1e-8
# Standard deviation of the logit coefficients of standardised features: odds may well change by
# a factor of 10 from one standard deviation to the next, hardly by 1000.
_LOGIT_SCALE = 3.0
_NEWTON_STEPS, _HALVINGS = 8, 6


class BaseMeasure(Protocol):
    """Rows that groups share, ``mean`` of ``(G or 1, L, R, V)``."""

    mean: FloatArray

    def fit(self, counts: FloatArray) -> None:
        """Move to the most likely rows, given counts by group, ``(G, L, R, V)``."""
        ...

    def draw(self, tables: FloatArray, rng: np.random.Generator) -> None:
        """Move to a draw from the posterior, given how often groups asked, ``(G, L, R, V)``."""
        ...


class PooledRows:
    """The same rows for all groups, with a Dirichlet prior."""

    def __init__(self, allowed: BoolArray) -> None:
        self._prior = _PRIOR * allowed.astype(np.float64)
        self.mean = _normal(self._prior, allowed)[None]

    def fit(self, counts: FloatArray) -> None:
        """Take the posterior mean."""
        total = self._prior + counts.sum(axis=0)
        self.mean = _normal(total, self._prior > 0)[None]

    def draw(self, tables: FloatArray, rng: np.random.Generator) -> None:
        """Draw rows from their Dirichlet posterior."""
        total = rng.standard_gamma(self._prior + tables.sum(axis=0))
        self.mean = _normal(total, self._prior > 0)[None]


class LogitRows:
    """Rows by the features of a group: a multinomial logit for each dose and state.

    ``m_g(v) ∝ exp(x_g · w_v)`` over the moves that can happen, with Gaussian coefficients. A draw
    proposes from the Laplace approximation at the mode and is accepted by Metropolis and Hastings,
    so the approximation costs only time.

    Parameters
    ----------
    features
        By group, ``(G, F)``, standardised; a constant is added.
    """

    def __init__(self, allowed: BoolArray, features: FloatArray) -> None:
        self._inputs = np.column_stack([np.ones(len(features)), features])
        self._allowed = allowed
        self.mean = np.zeros((len(features), *allowed.shape))
        self._weights = {
            (dose, index): np.zeros((self._inputs.shape[1], int(row.sum()) - 1))
            for dose, table in enumerate(allowed)
            for index, row in enumerate(table)
        }
        self._spread()

    def fit(self, counts: FloatArray) -> None:
        """Take the most likely coefficients."""
        for place in self._weights:
            self._weights[place] = self._mode(place, counts)[0]
        self._spread()

    def draw(self, tables: FloatArray, rng: np.random.Generator) -> None:
        """Propose coefficients from a Gaussian at their mode; accept them or keep the old."""
        for place, old in self._weights.items():
            if not old.size:
                continue
            mode, factor = self._mode(place, tables)
            steps = np.linalg.solve(factor.T, rng.standard_normal(old.size))
            new = mode + steps.reshape(old.shape)
            back = factor.T @ (old - mode).reshape(-1)
            gain = self._posterior(place, new, tables) - self._posterior(place, old, tables)
            forth = factor.T @ steps
            if np.log(rng.random()) < gain + (forth @ forth - back @ back) / 2:
                self._weights[place] = new
        self._spread()

    def _rows(self, weights: FloatArray) -> FloatArray:
        """Return the chances of the moves that can happen, ``(G, V)``; the first is the base."""
        scores = np.column_stack([np.zeros(len(self._inputs)), self._inputs @ weights])
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        rows: FloatArray = chances / chances.sum(axis=1, keepdims=True)
        return rows

    def _spread(self) -> None:
        for place, weights in self._weights.items():
            rows = np.maximum(self._rows(weights), _LEAST)
            self.mean[:, *place, self._allowed[place]] = rows / rows.sum(axis=1, keepdims=True)

    def _posterior(self, place: tuple[int, int], weights: FloatArray, counts: FloatArray) -> float:
        own = counts[:, *place, self._allowed[place]]
        fit = (own * np.log(np.maximum(self._rows(weights), 1e-300))).sum()
        return float(fit - (weights**2).sum() / (2 * _LOGIT_SCALE**2))

    def _mode(self, place: tuple[int, int], counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mode, and the Cholesky factor of the precision there, by Newton's method.

        It begins at 0, so that a proposal does not depend on where the chain is.
        """
        own = counts[:, *place, self._allowed[place]]
        weights = np.zeros_like(self._weights[place])
        size, moves = weights.shape
        total = own.sum(axis=1)
        for _ in range(_NEWTON_STEPS):
            rows = self._rows(weights)[:, 1:]
            slope = self._inputs.T @ (own[:, 1:] - total[:, None] * rows)
            slope -= weights / _LOGIT_SCALE**2
            curve = np.eye(moves)[None] * rows[:, :, None] - rows[:, :, None] * rows[:, None, :]
            precision = np.einsum(
                "gf,gh,gvw->fvhw", self._inputs, self._inputs, total[:, None, None] * curve
            ).reshape(size * moves, size * moves)
            precision += np.eye(size * moves) / _LOGIT_SCALE**2
            ahead = np.linalg.solve(precision, slope.reshape(-1)).reshape(size, moves)
            before = self._posterior(place, weights, counts)
            for _ in range(_HALVINGS):
                if self._posterior(place, weights + ahead, counts) >= before:
                    break
                ahead = ahead / 2
            weights = weights + ahead
        return weights, np.linalg.cholesky(precision)


def _normal(rows: FloatArray, allowed: BoolArray) -> FloatArray:
    rows = np.where(allowed, np.maximum(rows, _LEAST), 0.0)
    result: FloatArray = rows / rows.sum(axis=-1, keepdims=True)
    return result
