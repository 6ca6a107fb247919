"""Rows of probabilities that are shrunk towards guesses, as much as the data say.

The one step that the model of a log repeats, level by level: for group g, dose a and row r,

``P_{g,a,r} ~ Dirichlet(sum_b kappa_{b,a,r} m_{b,g,a,r})``,

where each ``m_b`` is a guess, a `BaseMeasure`, and ``kappa_b`` is how many observations it is
worth. Where a guess is good its worth is large, and rows that are seen seldom follow it; where it
is bad, rows speak for themselves. Guesses may be shrunk in turn, so levels can be stacked
(hierarchical Dirichlet models, Teh et al. 2006).

Several chains are drawn at once, as a first axis C of all arrays: for small logs, that takes hardly
more time than one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import digamma, gammaln, polygamma

from sequoia.validation import BoolArray, FloatArray, IntArray

# Worth of a guess, in observations: from hardly any to ten thousand, evenly in the logarithm; a
# finer grid changes estimates by far less than data do.
_WORTH = np.logspace(-0.5, 4.0, 13)
# The prior of a worth that only one row tells is that of uniform shrinkage (Christiansen and Morris
# 1997): for a group with `_SCALE` observations of the row, the weight w / (w + scale) of the guess
# is uniform from 0 to 1. It keeps few groups that happen to be alike from being taken for the same.
_SCALE = 3.0
_PRIOR = np.log(_WORTH) - 2 * np.log(_WORTH + _SCALE)
# One worth that all doses and rows tell is a scale with data enough. Every order of magnitude of
# w + scale is as likely beforehand (as Jeffreys 1946 has it for scales; the grid bounds it): the
# density of w is 1 / (w + scale). The prior by row falls as 1 / w^2 and would call a guess that is
# right for all rows hundreds of times less likely than one worth `_SCALE`. Rows that are hardly
# met, which need such a guess most, would then have too wide intervals.
_SHARED_PRIOR = np.log(_WORTH) - np.log(_WORTH + _SCALE)
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
        The rows, ``(C or 1, G or 1, L, R, V)``.
    is_worth_the_same
        Whether the guess is as good for all doses and rows: those that are seen seldom then learn
        from the others how far to trust it.
    """

    is_worth_the_same: bool

    @property
    def mean(self) -> FloatArray: ...  # noqa: D102 (above)

    def fit(self, counts: FloatArray) -> None:
        """Move to the most likely rows, given counts by group, ``(C, G, L, R, V)``."""
        ...

    def draw(self, tables: FloatArray, rng: np.random.Generator) -> None:
        """Move to a draw from the posterior, given how often groups asked, ``(C, G, L, R, V)``."""
        ...


class ShrunkRows:
    """Rows with their guesses, and what these are worth.

    Attributes
    ----------
    allowed
        Which entries can be more than 0, ``(G or 1, L, R, V)``.
    rows
        As fitted or drawn last, ``(C, G, L, R, V)``.
    worth
        Of each guess, ``(C, L, R)``; L and R are 1 where it is worth the same.
    """

    def __init__(self, allowed: BoolArray, bases: Sequence[BaseMeasure], groups: int) -> None:
        self.allowed, self.bases = allowed, bases
        self.worth = [np.full((1, *allowed.shape[1:3]), _FIRST_WORTH) for _ in bases]
        shape = (1, groups, *allowed.shape[1:])
        self.rows = normal(np.broadcast_to(self.prior, shape), allowed)

    @property
    def prior(self) -> FloatArray:
        """The weight of all guesses together, ``(C or 1, G or 1, L, R, V)``."""
        prior: FloatArray = sum(self._priors(self._guesses()), start=np.zeros(1))
        return prior

    def _guesses(self) -> list[FloatArray]:
        return [normal(base.mean, self.allowed) for base in self.bases]

    def _priors(self, guesses: Sequence[FloatArray]) -> list[FloatArray]:
        """Return what each guess counts for."""
        return [
            worth[:, None, :, :, None] * guess
            for worth, guess in zip(self.worth, guesses, strict=True)
        ]

    def fit(self, counts: FloatArray) -> None:
        """Move to the most likely guesses, worth and rows, given counts ``(C, G, L, R, V)``."""
        for base in self.bases:
            base.fit(counts)
        nonzero, guesses = _Seen.of(counts), self._guesses()
        for index in range(len(self.bases)):
            best = self._worth_posterior(index, guesses, nonzero).argmax(axis=0)
            self.worth[index] = _WORTH[best]
        self.rows = normal(counts + self.prior, self.allowed)

    def draw(self, counts: FloatArray, rng: np.random.Generator) -> None:
        """Move to a draw from the posterior: worth, guesses, then rows."""
        self.draw_guesses(counts, rng)
        self.rows = dirichlet(counts + self.prior, self.allowed, rng)

    def draw_guesses(self, counts: FloatArray, rng: np.random.Generator) -> None:
        """Draw what guesses are worth, and the guesses, rows integrated out."""
        nonzero, guesses = _Seen.of(counts), self._guesses()
        for index in range(len(self.bases)):
            chances = self._worth_posterior(index, guesses, nonzero)
            luck = rng.gumbel(size=chances.shape)
            self.worth[index] = _WORTH[(chances + luck).argmax(axis=0)]
        priors = [nonzero.at(prior) for prior in self._priors(guesses)]
        left: FloatArray = np.sum(priors, axis=0)
        tables = _tables(nonzero.many, left, rng)
        # Each table asked one of the guesses, in proportion to what they count for.
        for prior_of_base, base in zip(priors[:-1], self.bases[:-1], strict=True):
            asked = rng.binomial(tables, np.minimum(prior_of_base / left, 1.0))
            base.draw(nonzero.spread(asked), rng)
            tables, left = tables - asked, left - prior_of_base
        self.bases[-1].draw(nonzero.spread(tables), rng)

    def _worth_posterior(
        self, index: int, guesses: Sequence[FloatArray], seen: "_Seen"
    ) -> FloatArray:
        """Return the log-posterior of each worth of a guess, given the others', ``(K, C, L, R)``.

        Its likelihood is ``sum_g log B(alpha + n_g) - log B(alpha)``, P integrated out (Minka
        2000). Entries that were not seen add nothing to it.
        Where a guess is worth the same for all doses and rows, L and R are 1.
        """
        others, mass = np.zeros(1), np.zeros((1, 1, 1))
        for other, (worth, prior) in enumerate(zip(self.worth, self._priors(guesses), strict=True)):
            if other != index:
                others, mass = others + prior, mass + worth
        alpha = seen.at(others) + _WORTH[:, None] * seen.at(guesses[index])
        total = _WORTH[:, None] + seen.at_rows(mass[:, None])
        fit = seen.sum_groups(
            gammaln(alpha + seen.many) - gammaln(alpha),
            gammaln(total) - gammaln(total + seen.totals),
        )
        prior = _PRIOR
        if self.bases[index].is_worth_the_same:
            fit, prior = fit.sum(axis=(2, 3), keepdims=True), _SHARED_PRIOR
        result: FloatArray = fit + prior[:, None, None, None]
        return result


@dataclass(frozen=True, eq=False)
class _Seen:
    """The counts that are not 0: most are, and cost nothing. Axes: N entries, M rows.

    Attributes
    ----------
    shape
        Of the counts, ``(C, G, L, R, V)``.
    where, many
        The entries, and the counts there, ``(N,)`` each.
    rows, totals
        The rows, and their counts, ``(M,)`` each.
    """

    shape: tuple[int, ...]
    where: tuple[IntArray, ...]
    many: FloatArray
    rows: tuple[IntArray, ...]
    totals: FloatArray

    @classmethod
    def of(cls, counts: FloatArray) -> "_Seen":
        """Return what is not 0."""
        where, totals = np.nonzero(counts), counts.sum(axis=-1)
        rows = np.nonzero(totals)
        return cls(counts.shape, where, counts[where], rows, totals[rows])

    def at(self, values: FloatArray) -> FloatArray:
        """Return the values at the entries, ``(N,)``."""
        return np.broadcast_to(values, self.shape)[self.where]

    def at_rows(self, values: FloatArray) -> FloatArray:
        """Return the values at the rows, ``(M,)``."""
        return np.broadcast_to(values, self.shape[:-1])[self.rows]

    def spread(self, values: IntArray) -> FloatArray:
        """Return values at the entries, and 0 elsewhere, in the shape of the counts."""
        result = np.zeros(self.shape)
        result[self.where] = values
        return result

    def sum_groups(self, entries: FloatArray, by_row: FloatArray) -> FloatArray:
        """Return sums of ``(K, N)`` and ``(K, M)`` over groups and entries, ``(K, C, L, R)``."""
        chains, _, doses, rows, _ = self.shape
        chain, _, dose, row = (
            np.concatenate(both) for both in zip(self.where, self.rows, strict=False)
        )
        cells = chains * doses * rows
        cell = (chain * doses + dose) * rows + row + cells * np.arange(len(entries))[:, None]
        values = np.concatenate([entries, by_row], axis=1)
        sums = np.bincount(cell.reshape(-1), values.reshape(-1), len(entries) * cells)
        return np.asarray(sums, dtype=np.float64).reshape(len(entries), chains, doses, rows)


def _tables(many: FloatArray, prior: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw how often groups asked for a guess: tables of a Chinese restaurant, ``(N,)``.

    Of n transitions, the (i + 1)-th is new with probability ``prior / (prior + i)``.
    """
    exact = np.minimum(many, _EXACT_TABLES).astype(np.int64)
    begins = np.concatenate([[0], exact.cumsum()])
    seated = np.arange(begins[-1]) - np.repeat(begins[:-1], exact)
    repeated = np.repeat(prior, exact)
    is_new = np.concatenate(
        [[0], (rng.random(len(repeated)) * (repeated + seated) < repeated).cumsum()]
    )
    tables: IntArray = np.diff(is_new[begins])
    large = many > _EXACT_TABLES
    if large.any():
        tables[large] += _more_tables(prior[large], many[large], rng)
    return tables


def _more_tables(prior: FloatArray, many: FloatArray, rng: np.random.Generator) -> IntArray:
    """Draw the tables of customers beyond the first few, about.

    With sums of ``p = prior / (prior + i)``, and of ``p^2``, over all i that are left.
    """
    mean = prior * (digamma(prior + many) - digamma(prior + _EXACT_TABLES))
    squares = prior**2 * (polygamma(1, prior + _EXACT_TABLES) - polygamma(1, prior + many))
    spread = np.sqrt(np.maximum(mean - squares, 0.0))
    drawn = np.rint(mean + spread * rng.standard_normal(len(many)))
    tables: IntArray = np.maximum(drawn, 0.0).astype(np.int64)
    return tables


def dirichlet(alpha: FloatArray, allowed: BoolArray, rng: np.random.Generator) -> FloatArray:
    """Draw rows; those that cannot happen are 0."""
    rows = rng.standard_gamma(np.where(allowed, alpha, 0.0))
    return normal(rows, allowed)


def normal(rows: FloatArray, allowed: BoolArray) -> FloatArray:
    """Return rows that sum to 1, 0 for what cannot happen and a little at least for what can."""
    rows = np.where(allowed, np.maximum(rows, LEAST), 0.0)
    result: FloatArray = rows / rows.sum(axis=-1, keepdims=True)
    return result
