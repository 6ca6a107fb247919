"""Prices of doses, and what they make each arm worth."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from sequoia.bounds.lagrangian.arm_classes import ArmClasses, expected
from sequoia.validation import FloatArray, IntArray

# What is worth just its toll is at the margin of a linear program, which takes a part of it: that
# is right to do as long as the budget lasts. So tolls are a millionth less.
_TIE = 1 - 1e-6


@dataclass(frozen=True, eq=False)
class Prices:
    """Prices of dose levels, by step, and the value tables that follow from them.

    For any state and feasible action,
    ``sum_j (theta[j, s_j] + phi[j, s_j, level_j]) + offset`` is at least the optimal value of
    taking that action in that state: prices only ever overestimate.

    Attributes
    ----------
    arm_classes
        The arms in classes.
    arm_class
        The class of each arm, ``(J,)``.
    table
        Price by block, price class and level, ``(B, T, L)``.
    support
        The most that the rules pay back in one step of each block, ``(B,)``.
    tolls
        The part of ``table`` that is for budgets over several steps, ``(B, T, L)``: what a dose
        costs although the rules of its own step allow it. ``None`` without such budgets.
    """

    arm_classes: ArmClasses
    arm_class: IntArray
    table: FloatArray
    support: FloatArray
    tolls: FloatArray | None = None

    def times(self, factor: float) -> "Prices":
        """Return the prices for rewards multiplied by ``factor``."""
        arm_classes = self.arm_classes.times(factor)
        tolls = None if self.tolls is None else self.tolls * factor
        table, support = self.table * factor, self.support * factor
        return Prices(arm_classes, self.arm_class, table, support, tolls)

    def _toll(self, step: int) -> FloatArray | float:
        """Return what doses of ``step`` cost for budgets over several steps, ``(J, L)``."""
        if self.tolls is None:
            return 0.0
        by_class = self.tolls[self.block(step)][self.arm_classes.price_class]
        toll: FloatArray = _TIE * by_class[self.arm_class]
        return toll

    @property
    def is_stationary(self) -> bool:
        """Whether the same prices hold in every step."""
        return self.arm_classes.horizon.n_blocks == 1 and self.arm_classes.horizon.is_endless

    @cached_property
    def values(self) -> FloatArray:
        """Worth of each state by block and class, net of prices, ``(B + 1, C, S)``."""
        return self.arm_classes.values(self.table)

    def block(self, step: int) -> int:
        """Return the block of ``step``; steps after the last block count as the last."""
        return min(max(step, 0), self.arm_classes.horizon.n_blocks - 1)

    def q_values(self, step: int = 0) -> FloatArray:
        """Return Q: reward of ``step`` and priced worth afterwards, ``(J, S, L)``.

        The price of the dose of ``step`` itself is not taken off: the rules are asked instead.
        """
        arm_classes = self.arm_classes
        following = self.values[self.block(step) + 1]
        result = np.empty((arm_classes.n_classes, *arm_classes.rewards.shape[:0:-1]))
        for part in arm_classes.chunks():
            rewards, kernels = arm_classes.tables(part)
            ahead = rewards + arm_classes.horizon.discount * expected(kernels, following[part])
            result[part] = ahead.transpose(0, 2, 1)
        toll = self._toll(step)
        return result[self.arm_class] - (toll if np.ndim(toll) == 0 else np.asarray(toll)[:, None])

    def theta(self, step: int = 0) -> FloatArray:
        """Return what each arm in each state is worth without a dose, ``(J, S)``."""
        return self.q_values(step)[:, :, 0]

    def phi(self, step: int = 0) -> FloatArray:
        """Return what each dose level adds to `theta`, ``(J, S, L)``; 0 for level 0."""
        q_values = self.q_values(step)
        return q_values - q_values[:, :, :1]

    def offset(self, step: int = 0) -> float:
        """Return what the rules pay back in all steps after ``step``."""
        horizon = self.arm_classes.horizon
        block = self.block(step)
        if horizon.is_endless and block == horizon.n_blocks - 1:
            return float(horizon.discount / (1 - horizon.discount) * self.support[-1])
        weights = horizon.weights[block + 1 :] / horizon.discount**block
        return float(weights @ self.support[block + 1 :])

    def weights(self, state: ArrayLike, step: int = 0) -> FloatArray:
        """Return Q of each level for every arm in its current state, ``(J, L)``."""
        arm_classes = self.arm_classes
        state = np.asarray(state)
        model = arm_classes.model[self.arm_class]
        following = self.values[self.block(step) + 1][self.arm_class]
        moves = arm_classes.kernels[model, :, state]
        ahead = (moves @ following[:, :, None])[:, :, 0]
        result: FloatArray = (
            arm_classes.rewards[model, :, state] + arm_classes.horizon.discount * ahead
        )
        return result - self._toll(step)
