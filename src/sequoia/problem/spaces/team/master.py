"""The program that chooses routes for a weight per arm, perhaps under rows over arms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem.system import LinearSystem
from sequoia.solvers import Program, Solution
from sequoia.validation import FloatArray, IntArray

# The group of walkers that a path is of, and its stops.
Key = tuple[int, Iterable[int]]
# No row is worth more than so many of the largest weight; at first, paths may break rows for it.
_DEAREST = 20.0


class Prices(NamedTuple):
    """What a stop at each arm is worth to a route, ``(J,)``, and prices of rows, ``(R,)``."""

    stops: FloatArray
    rows: FloatArray

    def mixed(self, other: "Prices", share: float) -> "Prices":
        """Return prices between both, which are these by a share."""
        return Prices(
            *(share * own + (1 - share) * new for own, new in zip(self, other, strict=True))
        )


@dataclass(frozen=True)
class Bracket:
    """Routes, what they are worth, and what no routes are worth more than."""

    routes: list[list[int]]
    value: float
    bound: float


@dataclass(frozen=True, eq=False)
class Master:
    """The program that chooses routes.

    It has a column for each arm and each path::

        max w a  with  a_j <= sum of x_r over paths through j  (price p_j >= 0),
                       sum of x_r over the paths of a group <= its walkers,
                       l <= G a <= u                           (price m).

    So no routes are worth more than, for any such prices,
    ``sum_j max(0, w - p - m G)_j + sum over walkers of max_r p(r) + max(m l, m u)``.

    Attributes
    ----------
    groups
        Walkers who are alike.
    rows
        Further rules over arms.
    """

    groups: Sequence[IntArray]
    rows: LinearSystem

    @property
    def rooms(self) -> FloatArray:
        """How many walkers are in each group, ``(G,)``."""
        return np.array([len(group) for group in self.groups], dtype=np.float64)

    def program(self, weights: FloatArray, keys: Sequence[Key], is_whole: bool) -> Program:
        """Return the program over some paths; in fractions, rows may be broken at a price."""
        n_arms, n_groups, n_rows = len(weights), len(self.groups), self.rows.n_rows
        size, rows = n_arms + len(keys), self.rows.matrix.tocoo()
        broken = np.arange(0 if is_whole else n_rows)
        path = n_arms + np.arange(len(keys))
        stops = [
            (arm, column)
            for column, (_, arms) in zip(path.tolist(), keys, strict=True)
            for arm in arms
        ]
        stop, of = np.array(stops, dtype=np.int64).reshape(-1, 2).T
        arm, below = np.arange(n_arms), n_arms + n_groups
        # Blocks of rows, columns and values: an arm is served by paths, paths are of groups, rules.
        blocks = [
            (arm, arm, np.ones(n_arms)),
            (stop, of, np.full(len(stop), -1.0)),
            (
                n_arms + np.array([group for group, _ in keys], dtype=np.int64),
                path,
                np.ones(len(keys)),
            ),
            (below + rows.row, rows.col, rows.data),
            (below + broken, size + broken, np.ones(len(broken))),
            (below + broken, size + len(broken) + broken, np.full(len(broken), -1.0)),
        ]
        row, column, value = (np.concatenate(part) for part in zip(*blocks, strict=True))
        objective = self.objective(weights, len(keys), is_whole)
        total = len(objective)
        matrix = csr_array((value, (row, column)), (below + n_rows, total))
        upper = np.concatenate([np.zeros(n_arms), self.rooms, self.rows.upper])
        lower = np.concatenate([np.full(below, -np.inf), self.rows.lower])
        return Program(
            objective,
            matrix,
            lower,
            upper,
            np.zeros(total),
            np.concatenate([np.ones(size), np.full(total - size, np.inf)]),
            # With whole routes and no rows, arms are whole by themselves.
            np.arange(total) >= (0 if n_rows else n_arms)
            if is_whole
            else np.zeros(total, dtype=np.bool_),
        )

    def objective(self, weights: FloatArray, n_paths: int, is_whole: bool) -> FloatArray:
        """Return what the columns of `program` are worth."""
        penalty = np.full(0 if is_whole else 2 * self.rows.n_rows, -_DEAREST)
        return np.concatenate([weights, np.zeros(n_paths), penalty])

    def prices(self, solved: Solution, otherwise: Prices) -> Prices:
        """Return the prices of a solution in fractions, or others where it has none."""
        if solved.row_duals is None:
            return otherwise
        n_arms = len(otherwise.stops)
        rows = solved.row_duals[n_arms + len(self.groups) :]
        is_low, is_high = np.isfinite(self.rows.lower), np.isfinite(self.rows.upper)
        rows = np.where(is_low, np.minimum(rows, 0), 0) + np.where(is_high, np.maximum(rows, 0), 0)
        return Prices(np.maximum(solved.row_duals[:n_arms], 0.0), rows)

    def bound(self, weights: FloatArray, prices: Prices, best: FloatArray) -> float:
        """Return what no routes are worth more than.

        ``best`` is what no path of each group is worth more than at these prices, ``(G,)``.
        """
        own = self.rows
        side = np.where(prices.rows > 0, own.upper, np.where(prices.rows < 0, own.lower, 0.0))
        left = weights - prices.stops - prices.rows @ own.matrix
        return float(np.maximum(left, 0.0).sum() + prices.rows @ side + self.rooms @ best)
