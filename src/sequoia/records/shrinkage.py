"""Rows of probabilities that are shrunk towards guesses, as much as the data say.

The one step that the model of a log repeats, level by level: for group g, dose a and row r,

``P_{g,a,r} ~ Dirichlet(sum_b kappa_{b,a,r} m_{b,g,a,r})``,

where each ``m_b`` is a guess, a `BaseMeasure`, and ``kappa_b`` is how many observations it is
worth. Where a guess is good its worth is large, and rows that are seen seldom follow it; where it
is bad, rows speak for themselves. Guesses may be shrunk in turn, so levels can be stacked
(hierarchical Dirichlet models, Teh et al. 2006).
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from sequoia.validation import BoolArray, FloatArray

# Worth of a guess, in observations: from hardly any to ten thousand, evenly in the logarithm; a
# finer grid changes estimates by far less than data do. The prior is that of uniform shrinkage
# (Christiansen and Morris 1997): for a group with `_SCALE` observations of a row, the weight of the
# guess is uniform from 0 to 1.
_WORTH = np.logspace(-0.5, 4.0, 13)
_SCALE = 3.0
_PRIOR = np.log(_WORTH) - 2 * np.log(_WORTH + _SCALE)
_FIRST_WORTH = 10.0
# Tables are counted one by one up to so many customers; more are added by a Gaussian of the same
# mean and variance.
_EXACT_TABLES = 50
# A move that can happen never gets less than this: it could not come back in later draws.
LEAST = 1e-8


class BaseMeasure(Protocol):
    """A guess at rows.

    Attributes
    ----------
    mean
        The rows, ``(G or 1, L, R, V)``.
    is_worth_the_same
        Whether the guess is as good for all doses and rows: those that are seen seldom then learn
        from the others how far to trust it.
    """

    is_worth_the_same: bool

    @property
    def mean(self) -> FloatArray: ...  # noqa: D102 (above)

    def fit(self, counts: FloatArray) -> None:
        """Move to the most likely rows, given counts by group, ``(G, L, R, V)``."""
        ...

    def draw(self, tables: FloatArray, rng: np.random.Generator) -> None:
        """Move to a draw from the posterior, given how often groups asked, ``(G, L, R, V)``."""
        ...


class ShrunkRows:
    """Rows with their guesses, and what these are worth.

    Attributes
    ----------
    allowed
        Which entries can be more than 0, ``(G or 1, L, R, V)``.
    rows
        As fitted or drawn last, ``(G, L, R, V)``.
    worth
        Of each guess, ``(B, L, R)``.
    """

    def __init__(self, allowed: BoolArray, bases: Sequence[BaseMeasure], groups: int) -> None:
        self.allowed, self.bases = allowed, bases
        self.worth = np.full((len(bases), *allowed.shape[1:3]), _FIRST_WORTH)
        shape = (groups, *allowed.shape[1:])
        self.rows = normal(np.broadcast_to(self.prior, shape), allowed)

    @property
    def prior(self) -> FloatArray:
        """What all guesses together count for, ``(G or 1, L, R, V)``."""
        prior: FloatArray = sum(self._priors(), start=np.zeros(1))
        return prior

    def _priors(self) -> list[FloatArray]:
        """Return what each guess counts for."""
        return [
            worth[..., None] * normal(base.mean, self.allowed)
            for worth, base in zip(self.worth, self.bases, strict=True)
        ]

    def fit(self, counts: FloatArray) -> None:
        """Move to the most likely guesses, worth and rows, given counts ``(G, L, R, V)``."""
        for base in self.bases:
            base.fit(counts)
        for index in range(len(self.bases)):
            best = self._worth_posterior(index, counts).argmax(axis=0)
            self.worth[index] = _WORTH[best]
        self.rows = normal(counts + self.prior, self.allowed)

    def draw(self, counts: FloatArray, rng: np.random.Generator) -> None:
        """Move to a draw from the posterior: worth, guesses, then rows."""
        self.draw_guesses(counts, rng)
        self.rows = dirichlet(counts + self.prior, self.allowed, rng)

    def draw_guesses(self, counts: FloatArray, rng: np.random.Generator) -> None:
        """Draw what guesses are worth, and the guesses, rows integrated out."""
        for index in range(len(self.bases)):
            chances = self._worth_posterior(index, counts)
            luck = rng.gumbel(size=chances.shape)
            self.worth[index] = _WORTH[(chances + luck).argmax(axis=0)]
        priors = self._priors()
        left = np.asarray(sum(priors))
        tables = _tables(counts, left, rng)
        # Each table asked one of the guesses, in proportion to what they count for.
        for own, base in zip(priors, self.bases, strict=True):
            share = np.divide(own, left, out=np.ones(left.shape), where=left > own)
            asked = rng.binomial(tables.astype(np.int64), share).astype(np.float64)
            base.draw(asked, rng)
            tables, left = tables - asked, left - own

    def _worth_posterior(self, index: int, counts: FloatArray) -> FloatArray:
        """Return the log-posterior of each worth of a guess, given the others', ``(K, L, R)``.

        Its likelihood is ``sum_g log B(alpha + n_g) - log B(alpha)``, P integrated out (Minka
        2000).
        Where a guess is worth the same for all doses and rows, L and R are 1.
        """
        base, priors = self.bases[index], self._priors()
        mean = priors.pop(index) / self.worth[index][..., None]
        others = sum(priors, start=np.zeros(1))
        mass = self.worth.sum(axis=0) - self.worth[index]
        worth = _WORTH[:, None, None, None]
        alpha = np.where(self.allowed, others + worth[..., None] * mean, 1.0)
        own = np.where(self.allowed, gammaln(alpha + counts) - gammaln(alpha), 0.0).sum(axis=-1)
        total = worth + mass
        fit = (own + gammaln(total) - gammaln(total + counts.sum(axis=-1))).sum(axis=1)
        if base.is_worth_the_same:
            fit = fit.sum(axis=(1, 2), keepdims=True)
        result: FloatArray = fit + _PRIOR[:, None, None]
        return result


def _tables(counts: FloatArray, prior: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw how often groups asked for a guess: tables of a Chinese restaurant.

    Of n transitions, the (i + 1)-th is new with probability ``prior / (prior + i)``.
    """
    prior = np.broadcast_to(prior, counts.shape)
    where = np.nonzero(counts)
    own, many = prior[where], counts[where]
    tables = np.zeros(len(many))
    for seated in range(min(int(many.max(initial=0)), _EXACT_TABLES)):
        tables += (many > seated) & (rng.random(len(many)) * (own + seated) < own)
    large = many > _EXACT_TABLES
    if large.any():
        tables[large] += _more_tables(own[large], many[large], rng)
    result = np.zeros(counts.shape)
    result[where] = tables
    return result


def _more_tables(prior: FloatArray, many: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Draw the tables of customers beyond the first few, about.

    With sums of ``p = prior / (prior + i)``, and of ``p^2``, over all i that are left.
    """
    mean = prior * (digamma(prior + many) - digamma(prior + _EXACT_TABLES))
    squares = prior**2 * (polygamma(1, prior + _EXACT_TABLES) - polygamma(1, prior + many))
    spread = np.sqrt(np.maximum(mean - squares, 0.0))
    drawn: FloatArray = np.maximum(0.0, np.rint(mean + spread * rng.standard_normal(len(many))))
    return drawn


def dirichlet(alpha: FloatArray, allowed: BoolArray, rng: np.random.Generator) -> FloatArray:
    """Draw rows; those that cannot happen are 0."""
    rows = rng.standard_gamma(np.where(allowed, alpha, 0.0))
    return normal(rows, allowed)


def normal(rows: FloatArray, allowed: BoolArray) -> FloatArray:
    """Return rows that sum to 1, 0 for what cannot happen and a little at least for what can."""
    rows = np.where(allowed, np.maximum(rows, LEAST), 0.0)
    result: FloatArray = rows / rows.sum(axis=-1, keepdims=True)
    return result
