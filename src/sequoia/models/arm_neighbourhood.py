"""What the shared network sees of arms: their state, what a dose does, and what is at stake."""

import numpy as np

from sequoia.models.factored_part import FactoredPart
from sequoia.models.neighbourhood import (
    Neighbourhood,
    Outlets,
    Single,
    degrees,
    message_matrices,
)
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Problem
from sequoia.problem.environment import States
from sequoia.validation import FloatArray, IntArray


class ArmNeighbourhood(Neighbourhood):
    """A node for every arm of a problem.

    Of each arm under its pressure: its state; the rewards of its states; the pressure; and by dose
    level, where it goes, what it then earns and presses. For dose levels above none, the difference
    to none is given, because that is what an action buys. Further what one unit less pressure would
    save the arm, its degrees, the time left, and the share of each state among all arms; and what
    each dose level changes in a factored value of the next state, where one is given.
    """

    def __init__(
        self, problem: Problem, encoding: ActionEncoding, factored: FactoredPart | None
    ) -> None:
        self._problem, self._factored = problem, factored
        models = _models(problem)
        # Arms with the same models share a row of the table.
        self._rows, self._row_of = np.unique(models, axis=0, return_inverse=True)
        self._row_of = self._row_of.reshape(-1)
        table = _table(problem, self._rows)
        self._n_pressures, self._n_states = table.shape[1:3]
        self._table = table.reshape(-1, table.shape[-1]).astype(np.float32)
        components = problem.dependencies.components
        self._degrees = degrees(components).astype(np.float32)
        self.n_nodes = problem.arms.n_arms
        self.n_features = self._table.shape[1] + 2 + 1 + self._n_states
        self.is_guessed = factored is not None
        if factored is not None:
            self.n_features += problem.arms.n_doses - 1
        self.matrices = message_matrices(components)
        node, level = np.nonzero(encoding.level_input >= 0)
        self.outlets = Outlets(node, level - 1, encoding.level_input[node, level])

    def see(self, states: States, steps: IntArray) -> Single:
        """Return the features of each arm in each state, ``(J, B, F)``."""
        states = np.asarray(states)
        row = self._row_of * self._n_pressures
        if self._problem.contagion is not None:
            row = row + self._problem.contagion.pressure(states)
        where = (row * self._n_states + states).T
        own = self._table.shape[1]
        seen = np.empty((*where.shape, self.n_features), dtype=np.float32)
        seen[:, :, :own] = self._table[where]
        seen[:, :, own : own + 2] = self._degrees[:, None]
        seen[:, :, own + 2] = 1 - np.asarray(steps) / self._problem.horizon
        for state in range(self._n_states):
            seen[:, :, own + 3 + state] = (states == state).mean(axis=1)
        if self._factored is not None:
            seen[:, :, own + 3 + self._n_states :] = self._factored.effects(states, steps)
        return seen


def _models(problem: Problem) -> IntArray:
    """Return the model that each arm follows under each pressure, ``(J, P)``."""
    if problem.contagion is None:
        return problem.arms.model[:, None]
    return problem.contagion.models


def _table(problem: Problem, models: IntArray) -> FloatArray:
    """Return what is seen of an arm by kind of arm, pressure and state, ``(R, P, S, F)``."""
    arms = problem.arms
    size, pressures, states = *models.shape, arms.n_states
    sources = np.zeros(states) if problem.contagion is None else problem.contagion.sources
    sources = sources / max(float(sources.max(initial=0)), 1.0)
    kernels = arms.kernels[models].transpose(0, 1, 3, 2, 4)  # (R, P, S, L, S)
    rewards = arms.rewards[models] / max(float(np.abs(arms.rewards).max()), 1e-12)
    earned = np.einsum("rpslt,rpt->rpsl", kernels, rewards)
    pressed = kernels @ sources
    lower = np.maximum(np.arange(pressures) - 1, 0)
    share = np.arange(pressures) / max(pressures - 1, 1)
    shape = (size, pressures, states)
    parts = [
        np.broadcast_to(np.eye(states), (*shape, states)),
        np.broadcast_to(rewards[:, :, None], (*shape, states)),
        np.broadcast_to(share[None, :, None, None], (*shape, 1)),
        _against_none(kernels).reshape(*shape, -1),
        _against_none(earned[..., None]).reshape(*shape, -1),
        _against_none(pressed[..., None]).reshape(*shape, -1),
        (earned[:, lower] - earned)[..., :1],
        (pressed[:, lower] - pressed)[..., :1],
    ]
    return np.concatenate(parts, axis=-1)


def _against_none(by_level: FloatArray) -> FloatArray:
    """Keep dose level 0, and of each other level the difference to it; levels are axis 3."""
    return np.concatenate([by_level[:, :, :, :1], by_level[:, :, :, 1:] - by_level[:, :, :, :1]], 3)
