"""Draws from the posterior of transitions: groups that differ, and what they have in common.

The model, for group g, dose a and state s:

- ``m_{a,s}``: what is common to groups, shrunk towards what is common to doses (or a multinomial
  logit in the features of the group);
- ``q_{g,a,s}``: what moves over the same distances from every state would be for this group;
- ``P_{g,a,s} ~ Dirichlet(kappa_{a,s} m_{a,s} + lambda_a q_{g,a,s})``: a group's own row;
- states follow P, and some of them are seen.

Where moves are known to be the same from every state, one row takes the place of those of all
states, and there is no ``q``. Guesses at the rows of groups come first: by dose, by features, by
distance.
"""

import numpy as np

from sequoia.records.segments import Segments
from sequoia.records.shrinkage import LEAST, BaseMeasure, ShrunkRows, dirichlet, normal
from sequoia.records.structure import Moves, SameMoves, Structure, is_rising, make_rising, moves_by
from sequoia.validation import BoolArray, FloatArray

# Laplace's prior, one observation of each move that can happen: all rows are as likely. With
# less, rows that are hardly seen are drawn towards certainty, and intervals miss too often.
_PRIOR = 1.0
# Standard deviation of the logit coefficients of standardised features: odds may well change by
# a factor of 10 from one standard deviation to the next, hardly by 1000.
_LOGIT_SCALE = 3.0
_NEWTON_STEPS, _HALVINGS = 8, 6
# Redrawn so often until larger doses do not hurt; after that, the nearest such rows are taken.
_REDRAWS = 30


class CommonRows:
    """The same rows for all groups, with a Dirichlet prior; ``allowed`` is ``(L, R, V)``."""

    is_worth_the_same = False

    def __init__(self, allowed: BoolArray) -> None:
        self._allowed = allowed
        self.mean = normal(np.ones((1, 1, *allowed.shape)), allowed)

    def fit(self, counts: FloatArray) -> None:
        """Take the posterior mean."""
        self.mean = normal(_PRIOR + counts.sum(axis=1, keepdims=True), self._allowed)

    def draw(self, tables: FloatArray, rng: np.random.Generator) -> None:
        """Draw rows from their Dirichlet posterior."""
        self.mean = dirichlet(_PRIOR + tables.sum(axis=1, keepdims=True), self._allowed, rng)


class SteadyRows:
    """Rows by which a group moves over the same distances, as likely, from every state.

    If states are ordered, and that is about so, states that are seldom seen learn from the others.
    The distances of a group are shrunk towards those of all groups.

    Parameters
    ----------
    allowed
        ``(L, S, S)``.
    """

    is_worth_the_same = True

    def __init__(self, allowed: BoolArray, groups: int) -> None:
        self._moves = SameMoves(np.ones_like(allowed))
        over = self._moves.allowed
        self._distances = ShrunkRows(over[None], [PooledRows(over, by_state=False)], groups)

    @property
    def mean(self) -> FloatArray:
        """Transitions, ``(C, G, L, S, S)``."""
        return self._moves.kernels(self._distances.rows)

    def fit(self, counts: FloatArray) -> None:
        """Fit distances."""
        self._distances.fit(self._moves.fold(counts, self._distances.rows))

    def draw(self, tables: FloatArray, rng: np.random.Generator) -> None:
        """Draw distances."""
        self._distances.draw(self._moves.fold(tables, self._distances.rows, rng), rng)


class PooledRows:
    """The same rows for all groups; those of a dose are shrunk towards what doses have in common.

    So a dose that was seldom given learns from the others which moves happen at all. Where rows
    are those of states, they also learn from each other, by `SteadyRows`.

    Parameters
    ----------
    allowed
        ``(L, R, V)``.
    by_state
        Whether rows are those of states: ``R = V``.
    """

    is_worth_the_same = False

    def __init__(self, allowed: BoolArray, by_state: bool) -> None:
        # Doses take the place of groups.
        some: BoolArray = np.any(allowed, axis=0, keepdims=True)
        bases: list[BaseMeasure] = [CommonRows(some)]
        if by_state:
            bases.append(SteadyRows(some, len(allowed)))
        self._by_dose = ShrunkRows(allowed[:, None], bases, len(allowed))

    @property
    def mean(self) -> FloatArray:
        """Rows by dose, ``(C, 1, L, R, V)``."""
        return self._by_dose.rows.swapaxes(1, 2)

    def fit(self, counts: FloatArray) -> None:
        """Fit the rows of all groups together."""
        self._by_dose.fit(counts.sum(axis=1)[:, :, None])

    def draw(self, tables: FloatArray, rng: np.random.Generator) -> None:
        """Draw the rows of doses, and what they have in common."""
        self._by_dose.draw(tables.sum(axis=1)[:, :, None], rng)


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

    is_worth_the_same = False

    def __init__(self, allowed: BoolArray, features: FloatArray) -> None:
        self._inputs = np.column_stack([np.ones(len(features)), features])
        self._allowed = allowed
        self._weights = {
            (dose, index): np.zeros((1, self._inputs.shape[1], int(row.sum()) - 1))
            for dose, table in enumerate(allowed)
            for index, row in enumerate(table)
        }
        self._spread()

    def fit(self, counts: FloatArray) -> None:
        """Take the most likely coefficients."""
        for place in self._weights:
            self._weights[place] = self._mode(self._own(place, counts))[0]
        self._spread()

    def draw(self, tables: FloatArray, rng: np.random.Generator) -> None:
        """Propose coefficients from a Gaussian at their mode; accept them or keep the old."""
        for place, old in self._weights.items():
            if not old.size:
                continue
            counts = self._own(place, tables)
            mode, factor = self._mode(counts)
            luck = rng.standard_normal((len(mode), mode[0].size, 1))
            # The factor F of the precision has F F' = precision: steps are F'^-1 times the luck.
            new = mode + np.linalg.solve(factor.swapaxes(1, 2), luck).reshape(mode.shape)
            back = factor.swapaxes(1, 2) @ (old - mode).reshape(*luck.shape)
            gain = _log_posterior(self._inputs, new, counts)
            gain -= _log_posterior(self._inputs, old, counts)
            gain += ((luck**2).sum(axis=(1, 2)) - (back**2).sum(axis=(1, 2))) / 2
            is_taken = np.log(rng.random(len(mode))) < gain
            self._weights[place] = np.where(is_taken[:, None, None], new, old)
        self._spread()

    def _own(self, place: tuple[int, int], counts: FloatArray) -> FloatArray:
        """Return the counts of a dose and state for what can happen, ``(C, G, V)``."""
        return counts[:, :, *place, self._allowed[place]]

    def _spread(self) -> None:
        chains = max(len(weights) for weights in self._weights.values())
        self.mean = np.zeros((chains, len(self._inputs), *self._allowed.shape))
        for place, weights in self._weights.items():
            rows = np.maximum(_chances(self._inputs, weights), LEAST)
            self.mean[:, :, *place, self._allowed[place]] = rows / rows.sum(axis=-1, keepdims=True)

    def _mode(self, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mode ``(C, F, V - 1)``, and the Cholesky factors of the precision there.

        By Newton's method. It begins at 0, so that a proposal does not depend on where the chain
        is.
        """
        inputs, total = self._inputs, counts.sum(axis=2)
        chains, size, moves = len(counts), inputs.shape[1], counts.shape[2] - 1
        weights = np.zeros((chains, size, moves))
        reached = _log_posterior(inputs, weights, counts)
        for _ in range(_NEWTON_STEPS):
            rows = _chances(inputs, weights)[..., 1:]
            slope = inputs.T @ (counts[..., 1:] - total[..., None] * rows)
            slope -= weights / _LOGIT_SCALE**2
            curve = np.eye(moves) * rows[..., None] - rows[..., None] * rows[..., None, :]
            # sum_g x_gf x_gh n_g curve_gvw, as one product of matrices.
            pairs = (inputs[:, :, None] * inputs[:, None, :]).reshape(len(inputs), -1)
            spread = (total[..., None, None] * curve).reshape(chains, len(inputs), -1)
            precision = (pairs.T @ spread).reshape(chains, size, size, moves, moves)
            precision = precision.transpose(0, 1, 3, 2, 4).reshape(chains, size * moves, -1)
            precision = precision + np.eye(size * moves) / _LOGIT_SCALE**2
            ahead = np.linalg.solve(precision, slope.reshape(chains, -1, 1)).reshape(weights.shape)
            for _ in range(_HALVINGS):
                value = _log_posterior(inputs, weights + ahead, counts)
                is_worse = value < reached
                if not is_worse.any():
                    break
                ahead = np.where(is_worse[:, None, None], ahead / 2, ahead)
            weights, reached = weights + ahead, value
        return weights, np.linalg.cholesky(precision)


def _chances(inputs: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the chances of the moves that can happen, ``(C, G, V)``; the first is the base."""
    scores = inputs @ weights
    scores = np.concatenate([np.zeros((*scores.shape[:2], 1)), scores], axis=2)
    chances = np.exp(scores - scores.max(axis=2, keepdims=True))
    rows: FloatArray = chances / chances.sum(axis=2, keepdims=True)
    return rows


def _log_posterior(inputs: FloatArray, weights: FloatArray, counts: FloatArray) -> FloatArray:
    """Return the logarithm of the posterior of coefficients, up to a constant, ``(C,)``."""
    logs = np.log(np.maximum(_chances(inputs, weights), 1e-300))
    prior = (weights**2).sum(axis=(1, 2)) / (2 * _LOGIT_SCALE**2)
    result: FloatArray = (counts * logs).sum(axis=(1, 2)) - prior
    return result


class Posterior:
    """Gibbs samplers: unseen states, worth of the guesses, guesses, rows of groups.

    Given P, unseen states are drawn by forward filtering and backward sampling (Scott 2002). Given
    their transitions, everything else is that of a hierarchical Dirichlet model (Teh et al. 2006).

    Parameters
    ----------
    features
        Of each group, standardised, ``(G, F)``, if there are any.
    """

    def __init__(
        self,
        segments: Segments,
        structure: Structure,
        features: FloatArray | None,
        rng: np.random.Generator,
    ) -> None:
        groups, doses, states = segments.shape
        self.segments = segments
        self.moves: Moves = moves_by(structure, doses, states)
        allowed = self.moves.allowed
        by_state = not structure.same_moves
        bases: list[BaseMeasure] = [
            PooledRows(allowed, by_state) if features is None else LogitRows(allowed, features)
        ]
        if by_state:
            bases.append(SteadyRows(allowed, groups))
        self.shrunk = ShrunkRows(allowed[None], bases, groups)
        self._never_hurts, self._rng = structure.never_hurts, rng

    @property
    def kernels(self) -> FloatArray:
        """The transitions that were drawn last, ``(C, G, L, S, S)``."""
        return self.moves.kernels(self.shrunk.rows)

    def begin(self, rows: FloatArray, chains: int) -> None:
        """Begin so many chains at these rows, ``(G, L, R, V)``; each has the log for itself."""
        self.shrunk.rows = np.repeat(normal(rows, self.moves.allowed)[None], chains, axis=0)
        self.segments = self.segments.copies(chains)

    def sweep(self) -> FloatArray:
        """Draw everything once; return the transitions that were counted, ``(C, G, L, S, S)``."""
        kernels = self.kernels
        flat = kernels.reshape(-1, *kernels.shape[2:])
        met = self.segments.sample_counts(flat, self._rng).reshape(kernels.shape).astype(np.float64)
        counts = self.moves.fold(met, self.shrunk.rows, self._rng)
        if self._never_hurts:
            self.shrunk.draw_guesses(counts, self._rng)
            self.shrunk.rows = self._draw_rising(counts + self.shrunk.prior)
        else:
            self.shrunk.draw(counts, self._rng)
        return met

    def _draw_rising(self, alpha: FloatArray) -> FloatArray:
        """Draw rows under which larger doses never hurt."""
        allowed, shape = self.moves.allowed, alpha.shape
        alpha = alpha.reshape(-1, *shape[2:])
        rows = dirichlet(alpha, allowed, self._rng)
        for _ in range(_REDRAWS):
            wrong = np.argwhere(~is_rising(rows))
            if not len(wrong):
                return rows.reshape(shape)
            group, row = wrong.T
            again = dirichlet(alpha[group, :, row], allowed[:, row].swapaxes(0, 1), self._rng)
            rows[group, :, row] = again
        return make_rising(rows, alpha.sum(axis=-1)).reshape(shape)
