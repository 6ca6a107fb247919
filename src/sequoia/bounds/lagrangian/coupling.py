"""The rows that tie the arms together in one step, each with a price."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.dual_rows import DualRows, implied_upper, rows_by_kind
from sequoia.problem import LinearSystem
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Coupling(DualRows):
    """Rows that hold on average in every step.

    They count, by price class and level, how many arms get it: ``use`` is ``(R, T * L)``. Prices of
    rows make prices of dose levels, which the arms pay:
    ``lambda[class, level] = sum_r price[r] use[r, class level]``.
    """

    def level_prices(self, prices: FloatArray, levels: int) -> FloatArray:
        """Return the prices of dose levels, ``(..., T, L)``, that row prices make."""
        result: FloatArray = prices @ self.use
        return result.reshape(*prices.shape[:-1], -1, levels)


def row_coupling(system: LinearSystem, columns: ActionEncoding) -> tuple[Coupling, IntArray]:
    """Couple arms that are their own action columns through the rows of a system.

    Returns
    -------
    coupling
        With one price class for all arms whose columns have the same coefficients.
    price_class
        Of each arm, ``(J,)``.
    """
    levels = columns.level_input.shape[1]
    level = columns.level_input.argmax(axis=1)
    rows, price_class, example = rows_by_kind(system, level)
    # Newton's method on prices needs rows of one size.
    rows = rows.equilibrated()
    entries = rows.use.tocoo()
    use = csr_array(
        (entries.data, (entries.row, entries.col * levels + level[example][entries.col])),
        shape=(rows.n_rows, len(example) * levels),
    )
    return Coupling(use, rows.own, rows.lower, rows.upper, rows.own_upper), price_class


def link_coupling(
    columns: ActionEncoding, vertices: FloatArray | None, is_closed: bool
) -> Coupling:
    """Couple each arm's dose levels to the inputs of a joint choice.

    Parameters
    ----------
    vertices
        Joint choices, ``(V, I)``, of which the inputs are a mixture; or nothing, for the linear
        relaxation of the rules.
    is_closed
        Whether a group that could get a dose may be left out (only where arms are columns).
    """
    count, levels = columns.level_input.shape
    arm, level = np.nonzero(columns.level_input >= 0)
    size = len(arm)
    one_each = np.ones(size), np.arange(size)
    links = csr_array((one_each[0], (one_each[1], arm * levels + level)), (size, count * levels))
    read = columns.level_input[arm, level]
    least = np.full(size, -np.inf if is_closed else 0.0)
    if vertices is None:
        system = columns.system
        reads = csr_array((one_each[0], (one_each[1], read)), (size, system.n_columns))
        rows, low, high = system.matrix, system.lower, system.upper
        upper = implied_upper(system)
    else:
        reads, rows = csr_array(vertices.T[read]), csr_array(np.ones((1, len(vertices))))
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
