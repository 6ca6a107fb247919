"""Heaviest actions of a space that knows them, with some of its columns fixed."""

import numpy as np

from sequoia.arrays import ActionArray, FloatArray
from sequoia.optimize.neuron_bounds import Layer, heaviest_few
from sequoia.problem.spaces import ActionSpace

# How far from the heaviest an answer may be, relative to its weight; spaces promise 1e-9.
_SLACK = 2e-9


class Heaviest:
    """Maximises linear functions over the actions of a space.

    Attributes
    ----------
    most
        No action chooses more columns.
    """

    def __init__(self, space: ActionSpace) -> None:
        self.space = space
        counted = space.heaviest(np.ones(space.n_actions))
        self.most = space.n_actions if counted is None else int(counted.sum())

    def range_of(self, rows: FloatArray) -> Layer:
        """Return the smallest and the largest value of each row, ``(P, N)``, over all actions."""
        nothing = np.full(rows.shape[1], -1, dtype=np.int8)
        upper = np.array([self.best(row, nothing)[1] for row in rows])
        lower = -np.array([self.best(-row, nothing)[1] for row in rows])
        return Layer(lower, np.maximum(upper, lower))

    def best(self, weights: FloatArray, fixed: ActionArray) -> tuple[ActionArray | None, float]:
        """Return a heaviest action, and a weight that none exceeds.

        Without an action, the weight is minus infinity where what is fixed allows none, and
        finite where the space finds it too much work to tell.

        Parameters
        ----------
        weights
            ``(N,)``, zero for fixed columns.
        fixed
            0 or 1 for a fixed column, -1 for the others, ``(N,)``.
        """
        unit = float(np.abs(weights).max(initial=0.0)) or 1.0
        n_chosen = int((fixed == 1).sum())
        sign = np.array([-1.0, 1.0, 0.0])[fixed]
        reward = unit
        while True:
            action = self.space.heaviest(weights + reward * sign)
            if action is None:
                few = heaviest_few(weights[fixed < 0], self.most - n_chosen)
                return None, float(few)
            if ((fixed < 0) | (action == fixed)).all():
                weight = float(weights @ action)
                return action, weight + _SLACK * (abs(weight) + reward * n_chosen)
            # Then what breaks a fixed column loses more than all others can be worth.
            if reward > 2 * len(weights) * unit:
                return None, -np.inf
            reward *= 8.0
