"""Priced arms: what each arm is worth on its own when its doses have prices."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sequoia.bounds.horizon import Horizon
from sequoia.errors import ProblemError
from sequoia.problem import Problem
from sequoia.validation import BoolArray, FloatArray, IntArray, require

# Classes whose values are computed at once: with 2 levels and 4 states, 4 MB of transition chances.
_CHUNK = 16_384
# Policy iteration ends after a handful; this is for rounding that goes round in circles.
_MAX_ITERATIONS = 1_000
# An improvement that rounding explains, beside the value; what it may hide is added in the end.
_ROUNDING = 1e-11
# What sums of chances may miss of 1.
_SUM = 1e-9


@dataclass(frozen=True, eq=False)
class ArmClasses:
    """Classes of arms that share a model and the prices of their doses.

    A price of a dose level is paid in each step in which an arm gets it. Given the prices, arms
    are independent, so a class is one small dynamic program for all its members.

    Attributes
    ----------
    rewards
        Expected reward of the next state, by model, level and state, ``(G, L, S)``.
    kernels
        Transition probabilities, ``(G, L, S, S)``.
    model
        The model of each class, ``(C,)``.
    price_class
        Which row of a price table each class pays, ``(C,)``.
    initial_mass
        Expected number of members of each class that start in each state, ``(C, S)``.
    allowed
        Which levels an action can bring about in which state, by class, ``(C, L, S)``.
    """

    rewards: FloatArray
    kernels: FloatArray
    model: IntArray
    price_class: IntArray
    initial_mass: FloatArray
    allowed: BoolArray
    horizon: Horizon

    @property
    def n_classes(self) -> int:
        """``C``."""
        return len(self.model)

    @property
    def n_price_classes(self) -> int:
        """Number of rows of a price table."""
        return int(self.price_class.max(initial=-1)) + 1

    def only(self, classes: IntArray, scale: FloatArray) -> "ArmClasses":
        """Return some classes, the mass of each multiplied by its entry of ``scale``."""
        return ArmClasses(
            self.rewards,
            self.kernels,
            self.model[classes],
            self.price_class[classes],
            self.initial_mass[classes] * scale[:, None],
            self.allowed[classes],
            self.horizon,
        )

    def times(self, factor: float) -> "ArmClasses":
        """Return the same classes with rewards multiplied by ``factor``."""
        return replace(self, rewards=self.rewards * factor)

    def chunks(self) -> Iterator[slice]:
        """Cut the classes into pieces that fit a processor's cache."""
        for begin in range(0, self.n_classes, _CHUNK):
            yield slice(begin, min(begin + _CHUNK, self.n_classes))

    def tables(self, part: slice) -> tuple[FloatArray, FloatArray]:
        """Return rewards ``(c, L, S)`` and kernels ``(c, L, S, S)`` of some classes."""
        model = self.model[part]
        return self.rewards[model], self.kernels[model]

    def dual_value(self, prices: FloatArray) -> FloatArray:
        """Return what each class earns at best, net of prices, from its start, ``(C,)``.

        Parameters
        ----------
        prices
            By block, price class and level, ``(B, T, L)``.
        """
        result = np.empty(self.n_classes)
        for part in self.chunks():
            for block, values in self._backward(prices, part):
                if block == 0:
                    result[part] = (self.initial_mass[part] * values).sum(axis=1)
        return result

    def values(self, prices: FloatArray) -> FloatArray:
        """Return the worth of each state, net of prices, at the start of each block.

        The result is ``(B + 1, C, S)``; its last entry stands for what comes after the last
        block: nothing, or for an endless horizon the last block once more.
        """
        blocks = self.horizon.n_blocks
        result = np.zeros((blocks + 1, self.n_classes, self.initial_mass.shape[1]))
        for part in self.chunks():
            for block, values in self._backward(prices, part):
                result[block, part] = values
        if self.horizon.is_endless:
            result[-1] = result[-2]
        return result

    def _backward(self, prices: FloatArray, part: slice) -> Iterator[tuple[int, FloatArray]]:
        """Yield each block, last first, with the values of its states, ``(c, S)``.

        ``V_b(s) = max_d r(s, d) - price_b(d) + discount sum_s' P(s' | s, d) V_{b+1}(s')``.
        """
        rewards, kernels = self.tables(part)
        price_class = self.price_class[part]
        barred = np.where(self.allowed[part], 0.0, -np.inf)
        values = np.zeros((len(rewards), rewards.shape[2]))
        discount = self.horizon.discount
        for block in range(self.horizon.n_blocks - 1, -1, -1):
            net = rewards - prices[block, price_class][:, :, None] + barred
            if self.horizon.is_endless and block == self.horizon.n_blocks - 1:
                values = _endless(net, kernels, discount)
            else:
                values = (net + discount * expected(kernels, values)).max(axis=1)
            yield block, values


def expected(kernels: FloatArray, values: FloatArray) -> FloatArray:
    """Return the expectation of ``values``, ``(c, S)``, after one step, ``(c, L, S)``."""
    count, levels, states, _ = kernels.shape
    flat = kernels.reshape(count, levels * states, states)
    result: FloatArray = (flat @ values[:, :, None]).reshape(count, levels, states)
    return result


def _endless(net: FloatArray, kernels: FloatArray, discount: float) -> FloatArray:
    """Return the optimal discounted value of each state, ``(c, S)``, by policy iteration.

    The values of a policy solve ``(I - discount P) v = r`` (Howard 1960). Where a better policy
    could gain at most ``g`` in a step, nobody earns more than ``v + g / (1 - discount)``: that is
    added, so the result is never too low.
    """
    count, _, states = net.shape
    rows, here = np.arange(count)[:, None], np.arange(states)
    eye = np.eye(states)
    policy = net.argmax(axis=1)
    for _ in range(_MAX_ITERATIONS):
        moves = kernels[rows, policy, here]
        values = np.linalg.solve(eye - discount * moves, net[rows, policy, here][:, :, None])
        values = values[:, :, 0]
        ahead = net + discount * expected(kernels, values)
        gain = ahead.max(axis=1) - values
        better = gain > _ROUNDING * (1 + np.abs(values))
        if not better.any():
            break
        policy = np.where(better, ahead.argmax(axis=1), policy)
    slack: FloatArray = np.maximum(gain.max(axis=1), 0.0) / (1 - discount)
    return values + slack[:, None]


def start_of(problem: Problem, start: ArrayLike | None) -> FloatArray:
    """Return start distributions ``(J, S)`` from states ``(J,)``, distributions, or nothing."""
    if start is None:
        return problem.start
    shape = (problem.arms.n_arms, problem.arms.n_states)
    given = np.asarray(start)
    if given.shape == shape:
        result = np.asarray(given, dtype=np.float64)
        sums = result.sum(axis=1)
        fine = np.abs(sums - 1) < _SUM
        require("start.sum(1)", sums, fine, "each row must sum to 1")
        require("start", result, result >= 0, "a probability is wanted")
        return result
    if given.shape != shape[:1]:
        raise ProblemError(f"start has shape {given.shape}; {shape[:1]} or {shape} is wanted.")
    inside = (given >= 0) & (given < shape[1])
    require("start", given, inside, f"states run from 0 to {shape[1] - 1}")
    result = np.zeros(shape)
    result[np.arange(shape[0]), given.astype(np.int64)] = 1.0
    return result
