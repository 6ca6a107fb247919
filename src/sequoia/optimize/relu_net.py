"""ReLU networks over actions, one per state, that share their weights; bounds of their neurons."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike
from threadpoolctl import ThreadpoolController

from sequoia.errors import SequoiaError
from sequoia.optimize.dose_groups import DoseTables
from sequoia.validation import BoolArray, FloatArray, IntArray

# Far more than the rounding of sums of products, relative to the size of their terms.
ROUNDING = 1e-12
_CONTROLLER = ThreadpoolController()


class NetworkError(SequoiaError):
    """A network has the wrong shape, or values that are not numbers."""


@dataclass(frozen=True, eq=False)
class ReluNet:
    """B functions of the inputs ``x``, ``(I,)``, that differ only in what the state adds.

    ``value(x) = constant + linear @ x + output @ h`` with
    ``h = relu(W_D ... relu(W_1 @ x + first_bias) ... + bias_D)``.

    The state of the arms is already folded into ``first_bias``, ``linear`` and ``constant``, so
    ``x`` is the action alone (as `ActionEncoding` encodes it).

    Attributes
    ----------
    weights
        One matrix per hidden layer: ``(P_1, I)``, ``(P_2, P_1)``, …; none for a linear function.
    first_bias
        Bias of the first hidden layer by state, ``(B, P_1)``.
    biases
        Biases of the later hidden layers, ``(P_2,)``, ….
    output
        Weight of each unit of the last hidden layer, ``(P_D,)``.
    linear
        Weight of each input by state, ``(B, I)``.
    constant
        ``(B,)``.
    tables
        What ``output @ h`` is, where it is a sum of tables of doses; engines need not use it.
    """

    weights: tuple[FloatArray, ...]
    first_bias: FloatArray
    biases: tuple[FloatArray, ...]
    output: FloatArray
    linear: FloatArray
    constant: FloatArray
    tables: DoseTables | None = None

    @classmethod
    def of_linear(cls, linear: ArrayLike, constant: ArrayLike = 0.0) -> "ReluNet":
        """Return functions without a network: ``constant + linear @ x``."""
        weights = np.atleast_2d(np.asarray(linear, dtype=np.float64))
        batch = len(weights)
        base = np.broadcast_to(np.asarray(constant, dtype=np.float64), (batch,))
        nothing = np.empty(0)
        return cls((), np.empty((batch, 0)), (), nothing, weights, base)

    def __post_init__(self) -> None:
        batch, inputs = self.linear.shape
        if len(self.biases) != max(0, len(self.weights) - 1):
            raise NetworkError(
                f"network has {len(self.weights)} layers and {len(self.biases)} later biases."
            )
        size = inputs
        for layer, matrix in enumerate(self.weights):
            bias = self.first_bias if layer == 0 else self.biases[layer - 1]
            if matrix.shape[1] != size or bias.shape[-1] != len(matrix):
                raise NetworkError(
                    f"network layer {layer} has weights {matrix.shape} and bias {bias.shape}; "
                    f"(units, {size}) and (units,) are wanted."
                )
            size = len(matrix)
        if self.weights and self.output.shape != (size,):
            raise NetworkError(
                f"network output has shape {self.output.shape}; ({size},) is wanted."
            )
        if len(self.first_bias) != batch or self.constant.shape != (batch,):
            raise NetworkError("network parts are for different numbers of states.")
        parts = (*self.weights, self.first_bias, *self.biases, self.output, self.linear)
        if not all(np.isfinite(part).all() for part in (*parts, self.constant)):
            raise NetworkError("network has weights that are not finite numbers.")

    def __len__(self) -> int:
        return len(self.linear)

    @property
    def n_inputs(self) -> int:
        """``I``."""
        return int(self.linear.shape[1])

    def only(self, states: Sequence[int] | IntArray | slice) -> "ReluNet":
        """Return the functions of some of the states."""
        return ReluNet(
            self.weights,
            self.first_bias[states],
            self.biases,
            self.output,
            self.linear[states],
            self.constant[states],
            None if self.tables is None else self.tables.only(states),
        )

    def values(self, inputs: ArrayLike) -> FloatArray:
        """Return the value of each state's own inputs, ``(B, A, I)`` to ``(B, A)``, in float64."""
        x = np.asarray(inputs, dtype=np.float64)
        total: FloatArray = (x @ self.linear[:, :, None])[..., 0] + self.constant[:, None]
        if not self.weights:
            return total
        hidden = np.maximum(x @ self.weights[0].T + self.first_bias[:, None, :], 0.0)
        for matrix, bias in zip(self.weights[1:], self.biases, strict=True):
            hidden = np.maximum(hidden @ matrix.T + bias, 0.0)
        return total + hidden @ self.output

    def size_of_terms(self) -> FloatArray:
        """Return how large all terms of the value are together, whatever cancels, ``(B,)``.

        ``|constant| + |linear| 1 + |output| t_D`` with ``t_1 = |W_1| 1 + |first_bias|`` and
        ``t_d = |W_d| t_(d-1) + |bias_d|``, for inputs of at most 1. Rounding is in proportion.
        """
        size: FloatArray = np.abs(self.linear).sum(axis=1) + np.abs(self.constant)
        if not self.weights:
            return size
        terms = np.abs(self.weights[0]).sum(axis=1) + np.abs(self.first_bias)
        for matrix, bias in zip(self.weights[1:], self.biases, strict=True):
            terms = terms @ np.abs(matrix).T + np.abs(bias)
        total: FloatArray = size + terms @ np.abs(self.output)
        return total

    def alone(self) -> FloatArray:
        """Return what each input adds on its own, ``(B, I)``."""
        inputs = np.concatenate([np.zeros((1, self.n_inputs)), np.eye(self.n_inputs)])
        values = self.values(np.broadcast_to(inputs, (len(self), *inputs.shape)))
        gains: FloatArray = values[:, 1:] - values[:, :1]
        return gains

    def slopes(self, inputs: FloatArray) -> FloatArray:
        """Return how the value of each state rises with each of its inputs, ``(B, I)`` for both."""
        if not self.weights:
            return self.linear
        hidden = inputs
        is_on = []
        for depth, matrix in enumerate(self.weights):
            hidden = hidden @ matrix.T + (self.biases[depth - 1] if depth else self.first_bias)
            is_on.append(hidden > 0)
            hidden = np.maximum(hidden, 0.0)
        factor = np.broadcast_to(self.output, hidden.shape)
        for matrix, on in zip(reversed(self.weights), reversed(is_on), strict=True):
            factor = (factor * on) @ matrix
        return self.linear + factor


Function = TypeVar("Function", bound=Callable[..., object])


def on_one_thread(function: Function) -> Function:
    """Return ``function`` with its matrix products kept on one thread."""
    wrapped: Function = _CONTROLLER.wrap(limits=1, user_api="blas")(function)
    return wrapped


@dataclass(frozen=True, eq=False)
class PreactivationBounds:
    """Bounds of what each ReLU of one layer sees, ``(P,)`` each."""

    lower: FloatArray
    upper: FloatArray

    @cached_property
    def is_open(self) -> BoolArray:
        """The ReLUs that may be on or off, ``(P,)``."""
        result: BoolArray = (self.lower < 0) & (self.upper > 0)
        return result

    @cached_property
    def chord(self) -> tuple[FloatArray, FloatArray]:
        """Slope and shift of the line above each ReLU through the ends of its range."""
        low, high = np.minimum(self.lower, 0.0), np.maximum(self.upper, 0.0)
        width = np.where(high - low > 0, high - low, 1.0)
        slope = np.where(self.lower >= 0, 1.0, high / width)
        return slope, np.where(self.lower >= 0, 0.0, -slope * low)

    def largest(self, rows: FloatArray) -> FloatArray:
        """Return bounds of ``rows @ relu``, ``(R,)``, as if every ReLU were free in its range."""
        most, least = np.maximum(self.upper, 0.0), np.maximum(self.lower, 0.0)
        result: FloatArray = np.maximum(rows, 0.0) @ most + np.minimum(rows, 0.0) @ least
        return result
