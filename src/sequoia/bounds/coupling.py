"""What ties the arms together in one step: rows with prices."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.arrays import FloatArray, IntArray
from sequoia.bounds.choices import Choices
from sequoia.problem import LinearSystem


@dataclass(frozen=True, eq=False)
class Coupling:
    """Rows ``lower <= use @ doses + own @ columns <= upper`` that hold on average in every step.

    ``doses`` counts, by tariff and level, how many arms get it. A price per row makes prices of
    dose levels, which the arms pay, and `support` is the most that the rows can pay back.

    Attributes
    ----------
    use
        ``(R, T * L)``.
    own
        ``(R, M)``; columns that belong to no arm, between 0 and ``own_upper``.
    """

    use: csr_array
    own: csr_array
    lower: FloatArray
    upper: FloatArray
    own_upper: FloatArray

    @property
    def n_rows(self) -> int:
        """``R``."""
        return len(self.lower)

    def signed(self, prices: FloatArray) -> FloatArray:
        """Return row prices ``(..., R)`` with the sign that keeps `support` finite."""
        prices = np.where(np.isfinite(self.upper), prices, np.minimum(prices, 0.0))
        return np.where(np.isfinite(self.lower), prices, np.maximum(prices, 0.0))

    def tariffs(self, prices: FloatArray, levels: int) -> FloatArray:
        """Return the prices of dose levels, ``(..., T, L)``, that row prices make."""
        result: FloatArray = prices @ self.use
        return result.reshape(*prices.shape[:-1], -1, levels)

    def support(self, prices: FloatArray) -> FloatArray:
        """Return the most that rows can pay back in one step at ``prices``, ``(..., R)``."""
        high = np.where(np.isfinite(self.upper), self.upper, 0.0) * np.maximum(prices, 0.0)
        low = np.where(np.isfinite(self.lower), self.lower, 0.0) * np.minimum(prices, 0.0)
        worth = np.maximum(-(prices @ self.own), 0.0)
        with np.errstate(invalid="ignore"):
            paid = np.where(worth > 0, worth * self.own_upper, 0.0)
        total: FloatArray = (high + low).sum(axis=-1) + paid.sum(axis=-1)
        return total

    @cached_property
    def is_finite(self) -> bool:
        """Whether every column that belongs to no arm is bounded."""
        return bool(np.isfinite(self.own_upper).all())


def row_coupling(choices: Choices) -> tuple[Coupling, IntArray]:
    """Couple arms that are their own action columns through the rows of the rules.

    Returns
    -------
    coupling
        With one tariff for all arms whose columns have the same coefficients.
    tariff
        Of each arm, ``(J,)``.
    """
    system = choices.system
    count, levels = choices.channel.shape
    columns = system.matrix.tocsc()
    arms, own = columns[:, :count], columns[:, count:]
    level = choices.channel.argmax(axis=1)
    tariff, example = _alike(arms, level)
    level = level[example]
    entries = arms[:, example].tocoo()
    use = csr_array(
        (entries.data, (entries.row, entries.col * levels + level[entries.col])),
        shape=(system.n_rows, len(example) * levels),
    )
    upper = _implied_upper(system)[count:]
    return Coupling(use, csr_array(own), system.lower, system.upper, upper), tariff


def _alike(columns: sparse.csc_array, level: IntArray) -> tuple[IntArray, IntArray]:
    """Return a number for each column, equal for equal columns and levels, and examples."""
    # A random combination of rows tells different columns apart; equal ones add up alike.
    columns.sort_indices()
    keys = np.random.default_rng(0).standard_normal(columns.shape[0])
    _, kind = np.unique(columns.T @ keys, return_inverse=True)
    both = kind.reshape(-1) * (int(level.max(initial=0)) + 1) + level
    _, example, tariff = np.unique(both, return_index=True, return_inverse=True)
    return tariff.reshape(-1), example


def link_coupling(choices: Choices, vertices: FloatArray | None, is_closed: bool) -> Coupling:
    """Couple each arm's dose levels to the channels of a joint choice.

    Parameters
    ----------
    vertices
        Joint choices, ``(V, K)``, of which the columns are a mixture; or nothing, for the linear
        relaxation of the rules.
    is_closed
        Whether a group that could get a dose may be left out (only where arms are columns).
    """
    count, levels = choices.channel.shape
    arm, level = np.nonzero(choices.channel >= 0)
    size = len(arm)
    links = csr_array(
        (np.ones(size), (np.arange(size), arm * levels + level)), shape=(size, count * levels)
    )
    channel = choices.channel[arm, level]
    least = np.full(size, -np.inf if is_closed else 0.0)
    if vertices is None:
        system = choices.system
        reads, rows = choices.reads[channel], system.matrix
        low, high, upper = system.lower, system.upper, _implied_upper(system)
    else:
        reads, rows = csr_array(vertices.T[channel]), csr_array(np.ones((1, len(vertices))))
        low = high = np.ones(1)
        upper = np.ones(len(vertices))
    use = csr_array(links)
    use.resize((size + rows.shape[0], count * levels))
    return Coupling(
        use,
        sparse.vstack([-reads, rows], format="csr"),
        np.concatenate([least, low]),
        np.concatenate([np.zeros(size), high]),
        upper,
    )


def _implied_upper(system: LinearSystem) -> FloatArray:
    """Return column bounds, where they are infinite taken from rows without negative entries."""
    upper = system.column_upper.copy()
    if np.isfinite(upper).all():
        return upper
    rows = system.matrix.tocsr()
    for row in range(system.n_rows):
        part = slice(rows.indptr[row], rows.indptr[row + 1])
        values, columns = rows.data[part], rows.indices[part]
        if (values > 0).all() and np.isfinite(system.upper[row]):
            upper[columns] = np.minimum(upper[columns], system.upper[row] / values)
    return upper
