"""Good actions of many linear functions, not proven: packed under rows, or built by the space."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csc_array

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import NetworkError, ReluNet
from sequoia.optimize.result import ArgmaxResult
from sequoia.problem import ActionLimits, ActionSpace
from sequoia.problem.system import TOLERANCE
from sequoia.validation import ActionArray, BoolArray, FloatArray


class Packing:
    """Takes the columns of each state by weight, and by weight for what they use, while they fit.

    All states move together, one column of each at a time, so that thousands take milliseconds.
    Not proven; see `RolloutAuto`, which uses it in rollouts.

    Parameters
    ----------
    space
        Whose rules are rows over its action columns alone; see `applies_to`.
    limits
        Any limits of the environment: their rows are the same in all states.

    Attributes
    ----------
    rows
        The matrix of the rows that depend on the state.
    """

    def __init__(self, space: ActionSpace, limits: ActionLimits) -> None:
        self.rows, system = limits.matrix, space.compact
        both = sparse.vstack([system.matrix, -system.matrix, limits.matrix, -limits.matrix])
        matrix = csc_array(both)
        self._fixed = np.concatenate([system.upper, -system.lower])
        counts = np.diff(matrix.indptr)
        rows, columns = matrix.shape
        # Which rows each column is in, and with what; places that are left over are in no row.
        self._rows = np.full((columns, int(counts.max(initial=0))), rows)
        self._uses = np.zeros(self._rows.shape)
        column = np.repeat(np.arange(columns), counts)
        place = np.arange(matrix.nnz) - matrix.indptr[column]
        self._rows[column, place], self._uses[column, place] = matrix.indices, matrix.data
        self._matrix = matrix

    @staticmethod
    def applies_to(space: ActionSpace) -> bool:
        """Say whether the rules of a space are rows over its action columns."""
        return space.compact.n_columns == space.n_actions

    def best(self, weights: FloatArray, limits: ActionLimits) -> tuple[ActionArray, BoolArray]:
        """Return an action for each state, ``(B, N)``, and which of them are feasible."""
        room = self._room(limits)
        size = np.maximum(np.where(np.isfinite(room), np.abs(room), np.inf), 1e-9)
        share = (np.maximum(self._uses, 0) / size[:, self._rows]).sum(axis=2)
        keys = weights, weights / (share + 1e-9)
        packed = [self._packed(weights, key, limits, room) for key in keys]
        values = [np.where(ok, (a * weights).sum(axis=1), -np.inf) for a, ok in packed]
        second = values[1] > values[0]
        actions = np.where(second[:, None], packed[1][0], packed[0][0])
        return actions, np.where(second, packed[1][1], packed[0][1])

    def _room(self, limits: ActionLimits) -> FloatArray:
        """Return what each row may sum up to in each state, ``(B, R + 1)``; the last is free."""
        count = len(limits)
        parts = [np.broadcast_to(self._fixed, (count, len(self._fixed)))]
        parts += [limits.row_upper, -limits.row_lower, np.full((count, 1), np.inf)]
        room = np.concatenate(parts, axis=1)
        return room + TOLERANCE * np.where(np.isfinite(room), 1 + np.abs(room), 0.0)

    def _packed(
        self, weights: FloatArray, keys: FloatArray, limits: ActionLimits, room: FloatArray
    ) -> tuple[ActionArray, BoolArray]:
        actions = limits.lower.astype(np.int8)
        used = np.zeros(room.shape)
        used[:, :-1] = (self._matrix @ actions.T.astype(np.float64)).T
        is_open = (limits.upper == 1) & (actions == 0)
        # Where a row asks for something, columns that give it come first, even if they cost.
        late = used > room
        asks = np.flatnonzero(late.any(axis=1))
        wanted = is_open & (weights > 0)
        ranked = np.where(wanted, keys, -np.inf)
        if len(asks):
            gives = (late[asks][:, self._rows] & (self._uses < 0)).any(axis=2) & is_open[asks]
            wanted[asks] |= gives
            first = keys[asks] + 2 * np.abs(keys[asks]).max(axis=1, keepdims=True) + 1
            ranked[asks] = np.where(gives, first, ranked[asks])
        steps = int(wanted.sum(axis=1).max(initial=0))
        order = _first(ranked, steps)
        state = np.arange(len(weights))
        for rank in range(steps):
            column = order[:, rank]
            self._take(state, column, wanted[state, column], weights, actions, used, room)
        return actions, np.all(used <= room, axis=1)

    def _take(
        self,
        state: NDArray[Any],
        column: NDArray[Any],
        may: BoolArray,
        weights: FloatArray,
        actions: ActionArray,
        used: FloatArray,
        room: FloatArray,
    ) -> None:
        """Add one column in each state where it fits and gains, or gives what a row asks for."""
        rows, uses = self._rows[column], self._uses[column]
        before = used[state[:, None], rows]
        limit = room[state[:, None], rows]
        fits = ((before + uses <= limit) | (uses <= 0)).all(axis=1)
        gives = ((before > limit) & (uses < 0)).any(axis=1)
        take = may & fits & ((weights[state, column] > 0) | gives)
        chosen = state[take]
        actions[chosen, column[take]] = 1
        np.add.at(used, (chosen[:, None], rows[take]), uses[take])


def _first(keys: FloatArray, count: int) -> NDArray[Any]:
    """Return the columns of the largest keys of each row, the largest first, ``(B, count)``."""
    if count == 0:
        return np.empty((len(keys), 0), dtype=np.int64)
    if count < keys.shape[1]:
        few = np.argpartition(-keys, count - 1, axis=1)[:, :count]
        order = np.argsort(-np.take_along_axis(keys, few, axis=1), axis=1, kind="stable")
        return np.take_along_axis(few, order, axis=1)
    return np.argsort(-keys, axis=1, kind="stable")


class Construction:
    """Takes what the space constructs (`ActionSpace.construct_linear`) as it is."""

    name = "construction"

    def __init__(self, columns: ActionEncoding) -> None:
        self._columns = columns

    @staticmethod
    def is_good_in(columns: ActionEncoding) -> bool:
        """Say whether that is mostly within a per cent of the best."""
        return columns.dose_indicators is None and columns.space.constructs_well

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return a good action of each state; ``net`` must have no hidden layer."""
        actions = None if net.weights else self._columns.space.construct_linear(net.linear)
        if actions is None:
            raise NetworkError("the space constructs actions for linear networks alone.")
        values = net.values(self._columns.encode(actions)[:, None, :])[:, 0]
        return ArgmaxResult.unproven(actions, values)
