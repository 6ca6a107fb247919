"""The result of an engine that looks for a best action, and the interface of engines."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sequoia.optimize.relu_net import ReluNet
from sequoia.proof import PROOF_GAP
from sequoia.solvers import HIDDEN_SHARE
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class ArgmaxResult:
    """The best actions found for a batch of states.

    Attributes
    ----------
    actions
        ``(B, N)``, each feasible; all zero, and worth nothing, where none was found in time.
    values
        Value of each by a forward pass in float64, ``(B,)``; ``-inf`` where there is none.
    bounds
        No feasible action of that state exceeds it, ``(B,)``; ``inf`` where nothing is proven.
    is_proven
        Whether the engine has proven each action to be best, up to its gap, ``(B,)``.
    is_late
        Whether the clock ended the search, ``(B,)``; then the action may depend on the machine.
    """

    actions: ActionArray
    values: FloatArray
    bounds: FloatArray
    is_proven: BoolArray
    is_late: BoolArray

    @classmethod
    def proven(cls, actions: ActionArray, values: FloatArray) -> "ArgmaxResult":
        """Return actions that are known to be best."""
        return cls(actions, values, values, np.ones(len(values), np.bool_), _never(values))

    @classmethod
    def unproven(cls, actions: ActionArray, values: FloatArray) -> "ArgmaxResult":
        """Return actions about which nothing is proven."""
        return cls(actions, values, np.full(len(values), np.inf), _never(values), _never(values))

    @classmethod
    def of_one(
        cls,
        action: ActionArray,
        value: float,
        bound: float,
        is_proven: bool,
        is_late: bool = False,
    ) -> "ArgmaxResult":
        """Return the result of a single state; ``action`` is ``(N,)``."""
        flags = np.array([is_proven]), np.array([is_late])
        return cls(action[None], np.array([value]), np.array([bound]), *flags)

    @classmethod
    def joined(cls, results: "Sequence[ArgmaxResult]") -> "ArgmaxResult":
        """Return results one after the other."""
        if not results:
            return cls.unproven(np.empty((0, 0), dtype=np.int8), np.empty(0))
        if len(results) == 1:
            return results[0]
        return cls(
            np.concatenate([result.actions for result in results]),
            np.concatenate([result.values for result in results]),
            np.concatenate([result.bounds for result in results]),
            np.concatenate([result.is_proven for result in results]),
            np.concatenate([result.is_late for result in results]),
        )

    def __len__(self) -> int:
        return len(self.values)

    def only(self, states: Sequence[int] | IntArray | slice) -> "ArgmaxResult":
        """Return the results of some of the states."""
        return ArgmaxResult(
            self.actions[states],
            self.values[states],
            self.bounds[states],
            self.is_proven[states],
            self.is_late[states],
        )

    @property
    def is_found(self) -> BoolArray:
        """For which states there is an action, ``(B,)``."""
        return np.isfinite(self.values)

    @property
    def gaps(self) -> FloatArray:
        """Proven distance from the best, relative to the value, ``(B,)``."""
        left = np.maximum(self.bounds - self.values, 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(left > 0, left / np.abs(self.values), 0.0)


def _never(values: FloatArray) -> BoolArray:
    return np.zeros(len(values), dtype=np.bool_)


def is_close(bound: float, value: float, unit: float) -> bool:
    """Say whether a bound proves a value to be best.

    A solver's bound may be above the value by the gap it was asked for, and by what it does not see
    of a program whose largest term is ``unit`` (`HIDDEN_SHARE`). Together they may be a few times
    `PROOF_GAP` of the value. So where terms cancel to less than a thousandth of ``unit``, nothing
    is called proven; but a value of nothing is, where the bound is nothing, too.
    """
    if value == 0:
        return bound <= 2 * HIDDEN_SHARE * unit
    return bound <= value + 4 * PROOF_GAP * abs(value)


class Argmax(Protocol):
    """Finds ``max_a net(a)`` over a space, for a batch of states that share one network."""

    name: str

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best action found for each state, and what is proven about it."""
        ...
