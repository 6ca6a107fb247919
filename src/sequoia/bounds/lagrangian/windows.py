"""Budgets over several steps in the relaxation: a price that is the same in all steps of a window.

With ``x_t`` the expected visits of step t that count, a budget says ``sum_{t in window} x_t <= m``.
Its multiplier ``mu >= 0`` is paid for each such visit, and gives back ``mu m``::

    L(lambda, mu) = sum_j V_j(lambda + mu) + sum_t h_t(lambda_t) + sum_windows mu m.
"""

from dataclasses import dataclass

import numpy as np

from sequoia.bounds.horizon import Horizon
from sequoia.problem import Problem
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Windows:
    """V windows, each of one budget.

    Attributes
    ----------
    use
        How much one dose of a price class and level counts, ``(V, T * L)``.
    blocks
        Which blocks are in each window, ``(V, B)``, 0 or 1.
    most
        What may be spent in each, ``(V,)``.
    """

    use: FloatArray
    blocks: FloatArray
    most: FloatArray

    def tolls(self, prices: FloatArray, levels: int) -> FloatArray:
        """Return what doses cost by block, price class and level, ``(B, T, L)``, at ``prices``."""
        paid: FloatArray = (self.blocks * prices[:, None]).T @ self.use
        return paid.reshape(self.blocks.shape[1], -1, levels)

    def support(self, prices: FloatArray) -> FloatArray:
        """Return what windows pay back, in their last block each, ``(B,)``."""
        size = self.blocks.shape[1]
        last = size - 1 - self.blocks[:, ::-1].argmax(axis=1)
        result: FloatArray = np.bincount(last, prices * self.most, minlength=size).astype(
            np.float64
        )
        return result


def windows_of(
    problem: Problem, start: FloatArray, horizon: Horizon, price_class: IntArray
) -> Windows | None:
    """Return the windows of a problem's budgets from ``start``, ``(J, S)``.

    ``None`` where it has none, or without an end: then they are left out, and a bound is higher.
    """
    purse = problem.purse
    if purse is None or horizon.is_endless:
        return None
    spent, step = (number[0] for number in purse.numbers(start.argmax(axis=1)[None]))
    counts = _counted(problem) @ purse.matrix.T.toarray()
    levels = problem.arms.n_doses
    use, blocks, most = [], [], []
    for row, limit in enumerate(purse.limits):
        by_class = np.zeros((int(price_class.max()) + 1, levels))
        by_class[price_class, 1:] = counts[:, row : row + 1]
        for first in range(-int(step[row]), horizon.steps, limit.steps):
            inside = (np.arange(horizon.steps) >= first) & (
                np.arange(horizon.steps) < first + limit.steps
            )
            use.append(by_class.reshape(-1))
            blocks.append(inside.astype(np.float64))
            most.append(limit.most - (int(spent[row]) if first <= 0 else 0))
    return Windows(np.array(use), np.array(blocks), np.array(most, dtype=np.float64))


def _counted(problem: Problem) -> FloatArray:
    """Return which arm's dose tells that a column is chosen, ``(J, N)``, each column once.

    An arm that several columns reach does not tell which; what nobody tells is not counted, so that
    a bound stays one.
    """
    influence = problem.influence
    told = np.zeros(influence.shape)
    alone = np.flatnonzero(np.diff(influence.indptr) == 1)
    columns, first = np.unique(influence.indices[influence.indptr[alone]], return_index=True)
    told[alone[first], columns] = 1.0
    return told
