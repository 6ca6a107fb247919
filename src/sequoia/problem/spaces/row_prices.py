"""A good action under a few extra rows, by prices of these rows around a space's own best action.

With rows ``g(a) = G a - c <= 0`` and prices ``p >= 0``, no action that keeps them is worth more
than ``L(p) = max_a (w - p G) a + p c``, which the space bounds (Geoffrion 1974). Each action that
it returns is a cut of L, and the prices of the next question are the lowest point of all cuts so
far (Kelley 1960).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse import csr_array

from sequoia.solvers import Highs, Program
from sequoia.validation import ActionArray, FloatArray

# A handful of rows settles after about ten questions.
_MOST_QUESTIONS = 16
# No row is worth more than some columns together; larger prices only make first steps too wide.
_DEAREST = 4.0
# Where no action keeps all rows, prices are doubled so often, from so much of the largest weight.
_MOST_DEARER, _LEAST = 8, 0.02

Ask = Callable[[FloatArray], tuple[ActionArray, float] | None]


@dataclass
class RowPrices:
    """Bounds and actions for one set of weights, ``(N,)``, under rows ``G a <= c``."""

    weights: FloatArray
    matrix: FloatArray
    limit: FloatArray
    bound: float = np.inf
    best: ActionArray | None = None
    actions: list[ActionArray] = field(default_factory=list)

    def search(
        self, ask: Ask, mend: Callable[[ActionArray], ActionArray | None], gap: float
    ) -> bool:
        """Ask until the gap is closed or nothing is new; return whether the space answered."""
        prices = np.zeros(len(self.limit))
        asked: set[bytes] = set()
        for _ in range(_MOST_QUESTIONS):
            answer = ask(self.weights - prices @ self.matrix)
            if answer is None:
                return False
            action, bound = answer
            self.bound = min(self.bound, bound + float(prices @ self.limit))
            self._keep(action, mend)
            if action.tobytes() in asked or self.bound - self.value <= gap * abs(self.value):
                break
            asked.add(action.tobytes())
            self.actions.append(action)
            prices = self._next_prices()
        # At the lowest point rows are kept on average; dearer ones are kept for certain.
        prices = np.maximum(prices, _LEAST * float(np.abs(self.weights).max(initial=1.0)))
        for _ in range(_MOST_DEARER if self.best is None else 0):
            prices = 2 * prices
            answer = ask(self.weights - prices @ self.matrix)
            if answer is None or self._keep(answer[0], mend):
                break
        return True

    @property
    def value(self) -> float:
        """The worth of the best action that keeps all rows."""
        return -np.inf if self.best is None else float(self.weights @ self.best)

    def _keep(self, action: ActionArray, mend: Callable[[ActionArray], ActionArray | None]) -> bool:
        """Remember an action, or what is left of it, if it keeps all rows and is the best."""
        for tried in (action, mend(action)):
            if tried is None or (self.matrix @ tried > self.limit + 1e-9).any():
                continue
            if self.weights @ tried > self.value:
                self.best = tried
        return self.best is not None

    def _next_prices(self) -> FloatArray:
        """Return the prices at which all cuts together are lowest."""
        size = len(self.limit)
        values = np.array([self.weights @ action for action in self.actions])
        excess = np.array([self.matrix @ action - self.limit for action in self.actions])
        most = _DEAREST * float(np.abs(self.weights).max(initial=1.0))
        # theta + excess . p >= value for each action; least theta, then the least prices.
        rows = np.column_stack([np.ones(len(values)), excess])
        solved = Highs().solve(
            Program(
                np.concatenate([[-1.0], np.full(size, -1e-6)]),
                csr_array(rows),
                values,
                np.full(len(values), np.inf),
                np.concatenate([[-np.inf], np.zeros(size)]),
                np.concatenate([[np.inf], np.full(size, most)]),
                np.zeros(size + 1, dtype=np.bool_),
            )
        )
        return np.zeros(size) if solved.values is None else np.maximum(solved.values[1:], 0.0)
