"""Climb along the slopes of the network: go where they are largest, and look again."""

import numpy as np

from sequoia.arrays import ActionArray, BoolArray, FloatArray
from sequoia.optimize.columns import Columns
from sequoia.optimize.heaviest import Oracle
from sequoia.optimize.relu_net import ReluNet

MOST_STEPS = 10


class Ascent:
    """Finds good actions with a few questions to an oracle for linear functions; no proof."""

    def __init__(self, columns: Columns, oracle: Oracle) -> None:
        self._columns = columns
        self._oracle = oracle

    def best(
        self, net: ReluNet, slopes: FloatArray, steps: int = MOST_STEPS
    ) -> tuple[ActionArray, BoolArray]:
        """Return an action for each state, ``(B, N)``, and for which states there is one.

        Parameters
        ----------
        slopes
            Where to go first, ``(B, I)``.
        steps
            How often to go at most.
        """
        columns, oracle = self._columns, self._oracle
        oracle.forget()
        nothing = np.full(net.n_inputs, -1, dtype=np.int8)
        points = np.zeros((len(net), net.n_inputs))
        actions = np.zeros((len(net), columns.space.n_actions), dtype=np.int8)
        values = np.full(len(net), -np.inf)
        active = np.arange(len(net))
        for _ in range(steps):
            tops = [oracle.best(row, nothing).point for row in slopes]
            is_there = np.array([top is not None for top in tops], dtype=np.bool_)
            active = active[is_there]
            if not len(active):
                break
            points[active] = [top for top in tops if top is not None]
            trial, is_action = columns.actions_at(points[active])
            worth = net.only(active).values(columns.encode(trial)[:, None])[:, 0]
            is_better = is_action & (worth > values[active])
            active, trial, worth = active[is_better], trial[is_better], worth[is_better]
            actions[active], values[active] = trial, worth
            slopes = net.only(active).slopes(points[active])
        return actions, np.isfinite(values)
