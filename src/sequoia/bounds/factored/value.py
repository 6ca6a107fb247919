"""The value function that clusters make, and what doses are worth by it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from sequoia.bounds.factored.local_table import Graph, LocalTable
from sequoia.bounds.horizon import Horizon
from sequoia.problem import Problem
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FactoredValue:
    """``V_t(s) = c_t + sum_C v_tC(s_C)``: never less than the optimal value of a state.

    Attributes
    ----------
    values
        Of the joint states of each cluster, by block, ``(B + 1, U)`` each.
    support
        What the rules pay back at most in one step of each block, ``(B,)``.
    """

    problem: Problem
    tables: Sequence[LocalTable]
    values: Sequence[FloatArray]
    support: FloatArray
    horizon: Horizon
    _ahead: dict[tuple[int, int], FloatArray] = field(default_factory=dict, repr=False)

    def block(self, step: int) -> int:
        """Return the block of ``step``; steps after the last block count as the last."""
        return min(max(step, 0), self.horizon.n_blocks - 1)

    def constant(self, step: int) -> float:
        """Return ``c_t``: what the rules pay back from ``step`` on."""
        horizon, block = self.horizon, self.block(step)
        weights = horizon.weights[block:] / horizon.discount**block
        return float(weights @ self.support[block:])

    def constant_after(self, step: int) -> float:
        """Return ``c_{t+1}``: nothing after the last step, the same for ever where none is last."""
        if self.horizon.is_endless or step + 1 < self.horizon.n_blocks:
            return self.constant(step + 1)
        return 0.0

    def state_values(self, states: IntArray, step: int) -> FloatArray:
        """Return what each of some states is worth at ``step``, ``(B, J)`` to ``(B,)``."""
        block, count = self.block(step), self.problem.arms.n_states
        total = np.full(len(states), self.constant(step))
        for table, values in zip(self.tables, self.values, strict=True):
            total += values[block][table.joint(states, count)]
        return total

    def dose_values(self, states: IntArray, step: int) -> list[FloatArray]:
        """Return Q by cluster and combination of its doses, ``(B, D)`` each.

        The sum over clusters at the doses of an action is the expected reward of ``step`` and the
        discounted value of the next state, up to the constant of the next step.
        """
        graph, count = Graph.of(self.problem), self.problem.arms.n_states
        block = self.block(step)
        result = []
        for index, table in enumerate(self.tables):
            ahead = self._outlook(index, block)
            joint = table.joint(states, count)
            result.append(ahead[joint, _context(table, graph, states)])
        return result

    def _outlook(self, index: int, block: int) -> FloatArray:
        """Return Q of each configuration, ``(U, X, D)``."""
        outlook = self._ahead.get((index, block))
        if outlook is None:
            table = self.tables[index]
            following = table.expect(self.values[index][block + 1])
            flat = table.rewards + self.horizon.discount * following
            outlook = flat.reshape(table.n_joint, len(table.outer), len(table.doses))
            self._ahead[index, block] = outlook
        return outlook

    def levels(self, states: IntArray, step: int) -> tuple[FloatArray, FloatArray]:
        """Return a linear Q: of each arm's dose level, ``(B, J, L)``, and a constant, ``(B,)``.

        Each cluster's Q, a function of all its doses, is replaced by the linear one that is
        closest to it, few doses counting most; exact where clusters are single arms.
        """
        arms = self.problem.arms
        result = np.zeros((len(states), arms.n_arms, arms.n_doses))
        total = np.full(len(states), self.horizon.discount * self.constant_after(step))
        for table, worth in zip(self.tables, self.dose_values(states, step), strict=True):
            shape = (len(states), len(table.arms), arms.n_doses)
            effects = np.zeros(shape)
            fitted = worth @ linear_fit(table, arms.n_doses).T
            total += fitted[:, 0]
            effects[:, :, 1:] = fitted[:, 1:].reshape(len(states), len(table.arms), -1)
            result[:, table.arms] += effects
        return result, total


def _context(table: LocalTable, graph: Graph, states: IntArray) -> IntArray:
    """Return the context of a cluster in states of all arms, ``(B,)``."""
    exerted = graph.sources[states]
    if len(table.outer) == 1:
        return np.zeros(len(states), dtype=np.int64)
    if len(table.listed):
        known, context = table.exertions, exerted[:, table.listed]
    else:
        inside = np.zeros(states.shape[1], dtype=np.int64)
        inside[table.arms] = 1
        weights = graph.weights[table.arms]
        raw = (exerted * (1 - inside)) @ weights.T
        known, context = table.outer, np.minimum(raw, graph.most)
    # Contexts are sorted, so their numbers in a mixed base are too.
    number, wanted = np.zeros(len(known), np.int64), np.zeros(len(context), np.int64)
    for place in range(known.shape[1]):
        values = np.unique(known[:, place])
        number = number * len(values) + np.searchsorted(values, known[:, place])
        wanted = wanted * len(values) + np.searchsorted(values, context[:, place])
    return np.searchsorted(number, wanted)


def linear_inputs(table: LocalTable, levels: int) -> FloatArray:
    """Return 1 and which arm has which level above 0 in each combination of doses, ``(D, F)``."""
    at_level = table.doses[:, :, None] == np.arange(1, levels)
    flat = at_level.reshape(len(at_level), -1).astype(np.float64)
    return np.concatenate([np.ones((len(flat), 1)), flat], axis=1)


def linear_fit(table: LocalTable, levels: int) -> FloatArray:
    """Return the least-squares map from a table of doses to a constant and effects, ``(F, D)``."""
    inputs = linear_inputs(table, levels)
    # Rules leave few doses to a cluster: each further one counts a quarter.
    weight = 0.5 ** np.count_nonzero(table.doses, axis=1)
    result: FloatArray = np.linalg.pinv(inputs * weight[:, None]) * weight
    return result
