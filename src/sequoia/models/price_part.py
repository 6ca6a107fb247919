"""The part of Q that prices know: tables per step, arm, state and dose level."""

from dataclasses import dataclass

import numpy as np

from sequoia.bounds.lagrangian.prices import Prices
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PricePart:
    """A first Q-function, linear in the dose levels, and the value of a state that goes with it.

    For every state and action, ``Q(s, a)`` of a step is the expected reward of the step plus the
    discounted expectation of `worth` of the next state. Hence what a network has to learn beside
    it is the expectation of ``max Q - worth`` in the next state: small, because prices are good,
    and steady, because the luck of single arms cancels.

    Attributes
    ----------
    q_values
        Worth of every dose level, ``(T, J, S, L)``; the last row holds from then on.
    values
        Worth of every state of an arm before its dose is chosen, ``(T, J, S)``.
    offset
        What the rules pay back after each step, ``(T,)``.
    payback
        What the rules pay back from each step on, ``(T,)``.
    """

    q_values: FloatArray
    values: FloatArray
    offset: FloatArray
    payback: FloatArray

    @classmethod
    def of(cls, prices: Prices, steps: int) -> "PricePart":
        """Tabulate prices for ``steps`` steps; stationary ones need one."""
        count = 1 if prices.is_stationary else steps
        offset = np.array([prices.offset(step) for step in range(count)])
        return cls(
            np.array([prices.q_values(step) for step in range(count)]),
            np.array([prices.values[prices.block(step)] for step in range(count)])[
                :, prices.arm_class
            ],
            offset,
            offset + prices.support[:count],
        )

    def to_arrays(self) -> dict[str, FloatArray]:
        """Return its tables by name."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def levels(self, states: IntArray, steps: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the worth of every level, ``(B, J, L)``, and a constant, ``(B,)``."""
        row = np.minimum(steps, len(self.q_values) - 1)
        arms = np.arange(self.q_values.shape[1])
        return self.q_values[row[:, None], arms, states], self.offset[row]
