"""Limits on the number of columns of an action, and on their cost.

``max w @ x`` over ``sum x <= most``, and over ``costs @ x <= room``, with ``0 <= x <= 1``: by
weight, or by weight for cost, the last in part (Dantzig 1957).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sequoia.problem import ActionSpace
from sequoia.validation import ActionArray, FloatArray

# What costs less than this share of the room is ranked as if it cost as much: no ratio is infinite.
_LEAST_SHARE = 1e-12


@dataclass(frozen=True, eq=False)
class KnapsackRelaxation:
    """Two relaxations of the rules over which linear functions are maximised at once.

    Attributes
    ----------
    most
        No action chooses more inputs.
    costs
        Of each input, ``(I,)``; ``None`` where all cost the same.
    room
        No action costs more.
    """

    most: int
    costs: FloatArray | None = None
    room: float = np.inf

    @classmethod
    def of(cls, space: ActionSpace, most: int) -> "KnapsackRelaxation":
        """Return that of a space where at most so many columns can be chosen."""
        costs, room = space.knapsack
        if not len(costs) or costs.min() == costs.max():
            return cls(most)
        return cls(most, costs, room)

    @cached_property
    def _divisors(self) -> FloatArray:
        """Costs to divide by, ``(I,)``: they rank inputs, while costs themselves are paid."""
        assert self.costs is not None
        largest = float(self.costs.max(initial=0.0))
        least = _LEAST_SHARE * (self.room if 0 < self.room < np.inf else largest)
        return np.maximum(self.costs, least or 1.0)

    def after(self, fixed: ActionArray) -> "KnapsackRelaxation":
        """Return what is left for the free inputs: 0 or 1 for a fixed input, -1 for the others."""
        is_chosen = fixed == 1
        most = self.most - int(is_chosen.sum())
        if self.costs is None:
            return KnapsackRelaxation(most)
        return KnapsackRelaxation(
            most, self.costs[fixed < 0], self.room - self.costs[is_chosen].sum()
        )

    def largest(self, rows: FloatArray) -> FloatArray:
        """Return an upper bound of each row, ``(..., I)``, over the actions."""
        total = self.largest_few(rows)
        return total if self.costs is None else np.minimum(total, self._affordable(rows))

    def reduced_cost_bounds(
        self, weights: FloatArray, action: ActionArray, largest: float
    ) -> FloatArray:
        """Return how far below ``largest`` actions are that have an input otherwise, ``(I,)``."""
        reduced = np.zeros(len(weights))
        for prices, paid in self._prices(np.maximum(weights, 0.0)):
            left = weights - prices
            most = paid + np.maximum(left, 0.0).sum()
            reduced = np.maximum(reduced, np.where(action > 0, left, -left) - (most - largest))
        return reduced

    def _prices(self, gains: FloatArray) -> Iterator[tuple[FloatArray, float]]:
        """Yield prices of the inputs, and what all that may be chosen pays at most."""
        ordered = np.append(np.sort(gains)[::-1], 0.0)
        for place in (self.most - 1, self.most):
            price = ordered[min(place, len(gains))]
            yield np.full(len(gains), price), price * self.most
        if self.costs is not None:
            ratios = gains / self._divisors
            order = np.argsort(-ratios)
            place = int(np.searchsorted(self.costs[order].cumsum(), self.room))
            price = ratios[order[place]] if place < len(gains) else 0.0
            yield price * self.costs, price * self.room

    def largest_few(self, rows: FloatArray) -> FloatArray:
        """Return a looser bound more quickly, by number alone."""
        gains = np.maximum(rows, 0.0)
        if self.most < rows.shape[-1]:
            gains = (
                np.partition(gains, -self.most)[..., -self.most :] if self.most else gains[..., :0]
            )
        total: FloatArray = gains.sum(axis=-1)
        return total

    def _affordable(self, rows: FloatArray) -> FloatArray:
        """Take what is worth most for its cost, the last of it in part."""
        assert self.costs is not None
        gains = np.maximum(rows, 0.0)
        order = np.argsort(-gains / self._divisors)
        costs, divisors = self.costs[order], self._divisors[order]
        left = self.room - costs.cumsum(axis=-1)
        share = np.clip(left / divisors + 1.0, 0.0, 1.0)
        total: FloatArray = (np.take_along_axis(gains, order, axis=-1) * share).sum(axis=-1)
        return total
