"""What each action column is worth in a state: linear in what is seen around it."""

from dataclasses import dataclass

import numpy as np

from sequoia.models.sight import Sight
from sequoia.problem.environment import States
from sequoia.validation import FloatArray, IntArray

# Numbers that are held at once: some ten megabytes.
_TOGETHER = 2_000_000


@dataclass(frozen=True, eq=False)
class LinearScores:
    """``u_i(s, t) = bias_i . tau(t) + sum over outlets e of column i: psi_node(e)(s) W_e tau(t)``.

    psi is `Sight.local` and tau `Sight.times`.

    Attributes
    ----------
    weights
        ``(E, p, T)``.
    bias
        ``(N, T)``.
    """

    sight: Sight
    weights: FloatArray
    bias: FloatArray

    def scores(self, states: States, steps: IntArray) -> FloatArray:
        """Return the score of each column, ``(B, N)``."""
        sight = self.sight
        found = np.empty((len(states), sight.n_columns))
        for part in batches(len(states), len(sight.node) * sight.n_local):
            times = sight.times(steps[part])
            seen = sight.local(states[part])[:, sight.node]
            by_outlet = np.einsum("bep,epk->bek", seen, self.weights, optimize=True)
            own = (by_outlet * times[:, None]).sum(axis=2)
            found[part] = own @ sight.outlets_to_columns + times @ self.bias.T
        return found


def batches(rows: int, size: int) -> list[slice]:
    """Cut rows of some size into parts that fit into memory."""
    few = max(1, _TOGETHER // max(size, 1))
    return [slice(first, min(first + few, rows)) for first in range(0, rows, few)]
