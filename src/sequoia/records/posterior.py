"""Draws from the posterior of transitions: groups that differ, and what they have in common.

The model, for group g, dose a and state s:

- ``m_{a,s} ~ Dirichlet`` (or a multinomial logit in the features of the group): what is common;
- ``P_{g,a,s} ~ Dirichlet(kappa_{a,s} m_{a,s})``: a group's own row, shrunk towards it;
- states follow P, and some of them are seen.

Where moves are the same from every state, one row takes the place of those of all states.

``kappa`` is how many observations the common rows are worth to a group. Where groups differ little
it is large, and they share their data; where they differ much it is small. It is found from the
data, with its uncertainty, by its marginal likelihood.
"""

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from sequoia.records.base_measure import BaseMeasure
from sequoia.records.moves import Moves
from sequoia.records.segments import Segments
from sequoia.records.structure import is_rising, make_rising
from sequoia.validation import BoolArray, FloatArray

# Worth of the common rows, in observations: from hardly any to ten thousand, evenly in the
# logarithm. The prior is that of uniform shrinkage (Christiansen and Morris 1997): for a group
# with `_SCALE` observations of a row, the weight of the common row is uniform from 0 to 1.
_WORTH = np.logspace(-0.5, 4.0, 25)
_SCALE = 3.0
_PRIOR = np.log(_WORTH) - 2 * np.log(_WORTH + _SCALE)
# Tables are counted one by one up to so many customers; more are added by a Gaussian of the same
# mean and variance.
_EXACT_TABLES = 50
# Redrawn so often until larger doses do not hurt; after that, the nearest such rows are taken.
_REDRAWS = 30
_LEAST = 1e-12


class Posterior:
    """A Gibbs sampler: unseen states, worth of the common rows, common rows, rows of groups.

    Given P, unseen states are drawn by forward filtering and backward sampling (Scott 2002). Given
    their transitions, everything else is that of a hierarchical Dirichlet model (Teh et al. 2006).
    """

    def __init__(
        self,
        segments: Segments,
        moves: Moves,
        base: BaseMeasure,
        rows: FloatArray,
        never_hurts: bool,
        rng: np.random.Generator,
    ) -> None:
        self.segments = segments
        self.base = base
        self.rows = np.where(moves.allowed, np.maximum(rows, _LEAST), 0.0)
        self.worth = np.full(moves.allowed.shape[:2], 10.0)
        self._moves, self._never_hurts, self._rng = moves, never_hurts, rng

    @property
    def kernels(self) -> FloatArray:
        """The transitions that were drawn last, ``(G, L, S, S)``."""
        return self._moves.kernels(self.rows)

    def sweep(self) -> FloatArray:
        """Draw everything once; return the transitions that were counted, ``(G, L, S, S)``."""
        met = self.segments.sample_counts(self.kernels, self._rng).astype(np.float64)
        counts = self._moves.fold(met, self.rows, self._rng)
        mean = self.base.mean
        chances = worth_posterior(counts, mean, self._moves.allowed)
        luck = self._rng.gumbel(size=chances.shape)
        self.worth = _WORTH[(chances + luck).argmax(axis=0)]
        prior = self.worth[..., None] * mean
        self.base.draw(_tables(counts, prior, self._rng), self._rng)
        self.rows = self._draw_rows(counts + self.worth[..., None] * self.base.mean)
        return met

    def _draw_rows(self, alpha: FloatArray) -> FloatArray:
        allowed = self._moves.allowed
        rows = _dirichlet(alpha, allowed, self._rng)
        if not self._never_hurts:
            return rows
        for _ in range(_REDRAWS):
            wrong = np.argwhere(~is_rising(rows))
            if not len(wrong):
                return rows
            group, row = wrong.T
            again = _dirichlet(alpha[group, :, row], allowed[:, row].swapaxes(0, 1), self._rng)
            rows[group, :, row] = again
        return make_rising(rows, alpha.sum(axis=-1))


def worth_posterior(counts: FloatArray, mean: FloatArray, allowed: BoolArray) -> FloatArray:
    """Return the log-posterior of each worth, by dose and row, ``(K, L, R)``.

    Its likelihood is ``sum_g log B(kappa m + n_g) - log B(kappa m)``, P integrated out (Minka
    2000).
    """
    worth = _WORTH[:, None, None, None]
    total = counts.sum(axis=-1)
    alpha = np.where(allowed, worth[..., None] * mean, 1.0)
    own = np.where(allowed, gammaln(alpha + counts) - gammaln(alpha), 0.0).sum(axis=-1)
    fit = (own + gammaln(worth) - gammaln(worth + total)).sum(axis=1)
    result: FloatArray = fit + _PRIOR[:, None, None]
    return result


def likely_worth(counts: FloatArray, mean: FloatArray, allowed: BoolArray) -> FloatArray:
    """Return the most likely worth, by dose and row, ``(L, R)``."""
    worth: FloatArray = _WORTH[worth_posterior(counts, mean, allowed).argmax(axis=0)]
    return worth


def _tables(counts: FloatArray, prior: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw how often groups asked for a common row: tables of a Chinese restaurant.

    Of n transitions, the (i + 1)-th is new with probability ``prior / (prior + i)``.
    """
    prior = np.broadcast_to(prior, counts.shape)
    where = np.nonzero(counts)
    own, many = prior[where], counts[where]
    tables = np.zeros(len(many))
    for seated in range(min(int(many.max(initial=0)), _EXACT_TABLES)):
        tables += (many > seated) & (rng.random(len(many)) * (own + seated) < own)
    large = many > _EXACT_TABLES
    prior, many = own[large], many[large]
    # Sums of p = prior / (prior + i), and of p^2, over all i that are left.
    mean = prior * (digamma(prior + many) - digamma(prior + _EXACT_TABLES))
    squares = prior**2 * (polygamma(1, prior + _EXACT_TABLES) - polygamma(1, prior + many))
    spread = np.sqrt(np.maximum(mean - squares, 0.0))
    tables[large] += np.maximum(0.0, np.rint(mean + spread * rng.standard_normal(len(many))))
    result = np.zeros(counts.shape)
    result[where] = tables
    return result


def _dirichlet(alpha: FloatArray, allowed: BoolArray, rng: np.random.Generator) -> FloatArray:
    rows = rng.standard_gamma(np.where(allowed, alpha, 0.0))
    rows = np.where(allowed, np.maximum(rows, _LEAST), 0.0)
    result: FloatArray = rows / rows.sum(axis=-1, keepdims=True)
    return result
