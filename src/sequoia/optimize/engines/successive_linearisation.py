"""Climb along the slopes of the network: go where they are largest, and look again.

``x_(k+1) = argmax over x of grad Q(x_k) @ x``: Frank and Wolfe (1956) with steps of one, so that
every point is an action.
"""

import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.oracles import LinearOracle
from sequoia.optimize.relu_net import ReluNet
from sequoia.validation import ActionArray, BoolArray, FloatArray

# Each is one question to the oracle; it ends earlier where a step does not help.
MOST_STEPS = 10


class SuccessiveLinearisation:
    """Finds good actions with a few questions about linear functions; no proof.

    The space answers them where it is quicker than an oracle (`ActionSpace.construct_linear`).

    Attributes
    ----------
    is_rough
        Whether it does.
    """

    def __init__(self, columns: ActionEncoding, oracle: LinearOracle | None = None) -> None:
        self._columns = columns
        nothing = np.zeros((0, columns.n_inputs))
        self.is_rough = (
            columns.dose_indicators is None and columns.space.construct_linear(nothing) is not None
        )
        self._oracle = None if self.is_rough else oracle

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
        columns = self._columns
        if self._oracle is not None:
            self._oracle.forget()
        actions = np.zeros((len(net), columns.space.n_actions), dtype=np.int8)
        values = np.full(len(net), -np.inf)
        active = np.arange(len(net))
        for _ in range(steps):
            trial, is_action = self._tops(slopes)
            inputs = columns.encode(trial)
            worth = net.only(active).values(inputs[:, None])[:, 0]
            is_better = is_action & (worth > values[active])
            active = active[is_better]
            if not len(active):
                break
            actions[active], values[active] = trial[is_better], worth[is_better]
            slopes = net.only(active).slopes(inputs[is_better])
        return actions, np.isfinite(values)

    def _tops(self, slopes: FloatArray) -> tuple[ActionArray, BoolArray]:
        """Return actions where linear functions are large, and for which an action was found."""
        built = self._columns.space.construct_linear(slopes) if self.is_rough else None
        if built is not None:
            return built, np.ones(len(built), dtype=np.bool_)
        points = np.zeros(slopes.shape)
        is_there = np.zeros(len(slopes), dtype=np.bool_)
        nothing = np.full(slopes.shape[1], -1, dtype=np.int8)
        for row, weights in enumerate(slopes):
            point = None if self._oracle is None else self._oracle.best(weights, nothing).point
            if point is not None:
                points[row], is_there[row] = point, True
        actions, is_action = self._columns.actions_at(points)
        return actions, is_there & is_action
