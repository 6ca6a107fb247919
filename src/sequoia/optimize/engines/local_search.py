"""Batched local search: many states and starts improve at once. Fast, and not proven."""

from collections.abc import Callable
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.successive_linearisation import MOST_STEPS, SuccessiveLinearisation
from sequoia.optimize.linear.dual_rows import column_kinds
from sequoia.optimize.linear.oracles import LpOracle, has_oracle, oracle_for
from sequoia.optimize.relu_net import ReluNet, on_one_thread
from sequoia.optimize.result import ArgmaxResult
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

Single = NDArray[np.float32]

# How many columns may go in, and out; of how many of these two at once. So a search looks at
# (1 + 12) ** 2 and (1 + 12 + 15) ** 2 exchanges a round, whatever the number of columns.
_POOL = 12
_PAIRED = 6
# Searches that move together: their exchanges times hidden units stay in the cache.
_TOGETHER = 16
# Each round raises the value, so that it ends by itself; in case it does not.
_MAX_ROUNDS = 500
# A relaxation with more rows takes milliseconds, and is asked for every start.
_MAX_ROWS_TO_RELAX = 200
# Some 100 MB of what is known to be feasible.
_MAX_VERDICTS = 1_000_000
# Where an action takes long to check, so many moves a round, the best first.
_MOST_TRIED = 128
# How often to look from the best so far, and by what slopes are multiplied, so that another action
# comes out.
_WANDERINGS, _MORE_OR_LESS = 4, (0.8, 1.2)


class LocalSearch:
    """Add, drop and swap columns while the value rises.

    Columns that look alike to the rules form a class; the best few of every class are considered,
    one or two in for one or two out. So the moves follow from the space's own rows.

    Parameters
    ----------
    starts
        Further starts per state: what would be good if inputs weighed somewhat else. Where the
        space answers roughly (`ActionSpace.construct_linear`), one good start is looked for.
    """

    name = "local"

    def __init__(self, columns: ActionEncoding, starts: int = 1, seed: int = 0) -> None:
        columns.require_feasible()
        self._columns = columns
        self._starts = starts
        self._seed = seed
        self._class_of = column_kinds(columns.space.compact)[0]
        marks = np.random.default_rng(1).integers(1, 2**63, self._class_of.max() + 1, np.uint64)
        self.marks = np.append(marks[self._class_of], np.uint64(0))
        self._verdicts: dict[int, bool] = {}
        rules = columns.space.compact
        simple = rules.n_rows == 1 or rules.n_rows > _MAX_ROWS_TO_RELAX
        self._relaxed = None if simple else LpOracle(ActionEncoding.of_space(columns.space))
        has_quick_oracle = columns.space.base.has_quick_program and has_oracle(columns)
        oracle = oracle_for(columns) if has_quick_oracle else None
        self._linearisation = SuccessiveLinearisation(columns, oracle)
        # Tours take long to check.
        self.most_tried = _MOST_TRIED if self._linearisation.is_rough else _MAX_VERDICTS

    @on_one_thread
    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return a local optimum for each state: the best over all starts."""
        # The answer depends on the question alone, not on what was asked before.
        self._rng = np.random.default_rng(self._seed)
        if self._relaxed is not None:
            self._relaxed.forget()
        begin = self._begin(net)
        batch, runs = len(net), len(begin)
        owner = np.tile(np.arange(batch), runs)
        improved = self.improve(net.only(owner), np.concatenate(begin))
        inputs = self._columns.encode(improved).reshape(runs, batch, -1)
        values = net.values(inputs.transpose(1, 0, 2))
        pick = values.argmax(axis=1)
        state = np.arange(batch)
        actions = improved.reshape(runs, batch, -1)[pick, state]
        return ArgmaxResult.unproven(actions, values[state, pick])

    def _begin(self, net: ReluNet) -> list[ActionArray]:
        """Return feasible actions for each state to begin from, ``(B, N)`` each."""
        first = self._guess(net, net.alone())
        if self._linearisation.is_rough:
            return [self._wandered(net, first)]
        slopes = net.slopes(self._columns.encode(first))
        spread = slopes.std(axis=1, keepdims=True)
        wrong = [
            slopes + spread * self._rng.standard_normal(slopes.shape) for _ in range(self._starts)
        ]
        return [first, *(self._guess(net, signs, steps=1) for signs in wrong)]

    def _guess(self, net: ReluNet, slopes: FloatArray, steps: int = MOST_STEPS) -> ActionArray:
        """Return a feasible action for each state that is good if inputs weigh ``slopes``."""
        actions, is_known = self._linearisation.best(net, slopes, steps)
        if not is_known.all():
            actions[~is_known] = self._ranked_guess(slopes[~is_known])
        return actions

    def _wandered(self, net: ReluNet, actions: ActionArray) -> ActionArray:
        """Return better actions: what looks good from the best so far, more or less."""
        values = net.values(self._columns.encode(actions)[:, None])[:, 0]
        for _ in range(_WANDERINGS):
            slopes = net.slopes(self._columns.encode(actions))
            more_or_less = self._rng.uniform(*_MORE_OR_LESS, slopes.shape)
            trial = self._guess(net, slopes * more_or_less, steps=1)
            worth = net.values(self._columns.encode(trial)[:, None])[:, 0]
            actions = np.where((worth > values)[:, None], trial, actions)
            values = np.maximum(worth, values)
        return actions

    def _ranked_guess(self, slopes: FloatArray) -> ActionArray:
        """Return a feasible action for each state, ``(B, N)``.

        The linear relaxation of the rules ranks the columns by weight, and they are taken in that
        order while they fit.
        """
        space = self._columns.space
        weights = slopes[:, : space.n_actions]
        batch = len(weights)
        actions = np.zeros(weights.shape, dtype=np.int8)
        if not space.contains(actions[:1])[0]:
            return np.array([space.sample(self._rng).action for _ in range(batch)])
        for rank in self._ranked(weights).T:
            trial = actions.copy()
            trial[np.arange(batch), rank] = 1
            useful = weights[np.arange(batch), rank] > 0
            fits = self.verdicts(self.keys(trial), trial.__getitem__)
            actions[fits & useful] = trial[fits & useful]
        return actions

    def _ranked(self, weights: FloatArray) -> IntArray:
        """Return the columns of each state in the order in which to take them, ``(B, N)``."""
        if self._relaxed is None:
            return np.argsort(-weights, axis=1)
        nothing = np.full(weights.shape[1], -1, dtype=np.int8)
        shares = np.zeros_like(weights)
        for index, row in enumerate(weights):
            point = self._relaxed.best(row, nothing).point
            shares[index] = 0.0 if point is None else point
        scale = np.abs(weights).max(axis=1, keepdims=True) + 1e-9
        return np.argsort(-(shares + 1e-3 * weights / scale), axis=1)

    def improve(self, net: ReluNet, actions: ActionArray) -> ActionArray:
        """Return a local optimum reached from each given feasible action, ``(B, N)``."""
        parts = [slice(i, i + _TOGETHER) for i in range(0, len(actions), _TOGETHER)]
        return np.concatenate(
            [_Search(self, net.only(part), actions[part].copy()).run() for part in parts]
        )

    def keys(self, actions: ActionArray) -> NDArray[np.uint64]:
        """Return a number for each action, equal where the same classes are chosen as often."""
        result: NDArray[np.uint64] = actions.astype(np.uint64) @ self.marks[:-1]
        return result

    def verdicts(
        self, keys: NDArray[np.uint64], action_at: Callable[[IntArray], ActionArray]
    ) -> BoolArray:
        """Say which keys stand for surely feasible actions; what is found out is kept.

        ``action_at`` gives an action for each of some positions in ``keys``.
        """
        different, first, position = np.unique(keys, return_index=True, return_inverse=True)
        known = self._verdicts
        if len(known) > _MAX_VERDICTS:
            known.clear()
        listed = different.tolist()
        fresh = [i for i, key in enumerate(listed) if key not in known]
        if fresh:
            allowed = self._columns.space.contains_quick(action_at(first[fresh]))
            known.update(zip((listed[i] for i in fresh), allowed.tolist(), strict=True))
        return np.array([known[key] for key in listed], dtype=np.bool_)[position]


class _Search:
    """The state of one batch of searches."""

    def __init__(self, engine: LocalSearch, net: ReluNet, actions: ActionArray) -> None:
        self._engine = engine
        self._columns = engine._columns
        self._net = net
        self._actions = actions
        self._n = actions.shape[1]
        single = np.float32
        self._bias = net.first_bias.astype(single)
        self._linear = net.linear.astype(single)
        self._first = net.weights[0].astype(single) if net.weights else None
        self._later = [
            (matrix.T.astype(single), bias.astype(single))
            for matrix, bias in zip(net.weights[1:], net.biases, strict=True)
        ]
        self._output = net.output.astype(single)

    def run(self) -> ActionArray:
        """Improve every search until no considered move helps."""
        active = np.arange(len(self._actions))
        value = self._values(active, self._actions[:, None, :])[:, 0]
        for _ in range(_MAX_ROUNDS):
            if not len(active):
                break
            flips = self._flips(active)
            gains = self._values_of_moves(active, flips) - value[active, None]
            waiting, again = active, []
            for stage in (flips, _options(_POOL, 0), _options(_POOL, _PAIRED)):
                moves = stage if stage is flips else self._exchanges(waiting, gains, stage)
                worth = (
                    gains
                    if stage is flips
                    else self._values_of_moves(waiting, moves) - value[waiting, None]
                )
                moved = self._take_best(waiting, moves, worth, value)
                again.append(waiting[moved])
                waiting, gains = waiting[~moved], gains[~moved]
                if not len(waiting):
                    break
            active = np.concatenate(again)
        return self._actions

    def _flips(self, active: IntArray) -> IntArray:
        """Return every single column as a move, ``(A, N, 1)``."""
        return np.broadcast_to(np.arange(self._n)[None, :, None], (len(active), self._n, 1))

    def _exchanges(self, active: IntArray, gains: Single, options: IntArray) -> IntArray:
        """Return moves that flip some columns in and some out, ``(A, C, 4)``; N is no column."""
        chosen = self._actions[active] == 1
        ins = self._pool(np.where(chosen, -np.inf, gains))
        outs = self._pool(np.where(chosen, gains, -np.inf))
        ins = np.concatenate([ins, np.full((len(active), 1), self._n)], axis=1)
        outs = np.concatenate([outs, np.full((len(active), 1), self._n)], axis=1)
        into = np.repeat(options, len(options), axis=0)
        out_of = np.tile(options, (len(options), 1))
        return np.concatenate([ins[:, into], outs[:, out_of]], axis=2)

    def _pool(self, gains: FloatArray) -> IntArray:
        """Return the most promising columns, a few of every class, ``(A, P)``; N where none."""
        classes = self._engine._class_of
        count = int(classes.max()) + 1
        per_class = max(1, _POOL // count)
        order = np.lexsort((-gains, np.broadcast_to(classes, gains.shape)), axis=1)
        sorted_classes = classes[order]
        start = np.searchsorted(classes[order[0]], np.arange(count))
        rank = np.arange(self._n) - start[sorted_classes]
        ranked = np.take_along_axis(gains, order, axis=1)
        ranked = np.where(rank < per_class, ranked, -np.inf)
        best = np.argsort(-ranked, axis=1)[:, :_POOL]
        columns = np.take_along_axis(order, best, axis=1)
        usable = np.isfinite(np.take_along_axis(ranked, best, axis=1))
        columns = np.where(usable, columns, self._n)
        missing = max(0, _POOL - self._n)
        return np.pad(columns, ((0, 0), (0, missing)), constant_values=self._n)

    def _take_best(
        self, active: IntArray, moves: IntArray, gains: Single, value: Single
    ) -> BoolArray:
        """Apply to each search its best feasible improving move; say which searches moved."""
        threshold = 1e-5 * (1.0 + np.abs(value[active]))[:, None]
        most = self._engine.most_tried
        if gains.shape[1] > most:
            high = -np.partition(-gains, most, axis=1)[:, [most]]
            threshold = np.maximum(threshold, high)
        search, move = np.nonzero(gains > threshold)
        if not len(search):
            return np.zeros(len(active), dtype=np.bool_)
        flipped = moves[search, move]
        keys = self._keys_after(active[search], flipped)

        def action_at(positions: IntArray) -> ActionArray:
            return self._apply(active[search[positions]], flipped[positions])

        allowed = self._engine.verdicts(keys, action_at)
        worth = np.full(gains.shape, -np.inf, dtype=np.float32)
        worth[search[allowed], move[allowed]] = gains[search[allowed], move[allowed]]
        pick = worth.argmax(axis=1)
        moved: BoolArray = np.isfinite(worth[np.arange(len(active)), pick])
        winners = np.flatnonzero(moved)
        self._actions[active[winners]] = self._apply(active[winners], moves[winners, pick[winners]])
        value[active[winners]] += gains[winners, pick[winners]]
        return moved

    def _keys_after(self, searches: IntArray, moves: IntArray) -> NDArray[np.uint64]:
        """Return the key of each action after a move; sums wrap around, and so do differences."""
        marks = self._engine.marks
        now = self._engine.keys(self._actions)[searches]
        padded = np.zeros((len(self._actions), self._n + 1), dtype=np.bool_)
        padded[:, : self._n] = self._actions == 1
        leaves = padded[searches[:, None], moves]
        change = np.where(leaves, ~marks[moves] + np.uint64(1), marks[moves])
        result: NDArray[np.uint64] = now + change.sum(axis=1, dtype=np.uint64)
        return result

    def _apply(self, searches: IntArray, moves: IntArray) -> ActionArray:
        padded = np.zeros((len(searches), self._n + 1), dtype=np.int8)
        padded[:, : self._n] = self._actions[searches]
        rows = np.arange(len(searches))
        for column in moves.T:
            padded[rows, column] ^= 1
        return padded[:, : self._n]

    def _values_of_moves(self, active: IntArray, moves: IntArray) -> Single:
        """Return the value after each move, ``(A, C)``."""
        if self._columns.n_inputs > self._n:
            size = moves.shape[1]
            flat = self._apply(np.repeat(active, size), moves.reshape(-1, moves.shape[2]))
            return self._values(active, flat.reshape(len(active), size, self._n))
        now = self._actions[active]
        sign = np.zeros((len(active), self._n + 1), dtype=np.float32)
        sign[:, : self._n] = 1 - 2 * now
        flips = np.take_along_axis(sign, moves.reshape(len(active), -1), axis=1).reshape(
            moves.shape
        )
        linear = np.zeros((len(active), self._n + 1), dtype=np.float32)
        linear[:, : self._n] = self._linear[active]
        change = np.take_along_axis(linear, moves.reshape(len(active), -1), axis=1)
        base = (now * self._linear[active]).sum(axis=1)
        total: Single = base[:, None] + (change.reshape(moves.shape) * flips).sum(axis=2)
        if self._first is None:
            return total
        columns = np.zeros((self._n + 1, len(self._first)), dtype=np.float32)
        columns[: self._n] = self._first.T
        hidden = (now @ columns[: self._n] + self._bias[active])[:, None, :] + sum(
            columns[moves[:, :, k]] * flips[:, :, k, None] for k in range(moves.shape[2])
        )
        return total + self._forward(hidden)

    def _values(self, active: IntArray, actions: ActionArray) -> Single:
        """Return the values of actions, ``(A, C, N)``, of each search."""
        shape = actions.shape[:2]
        inputs = self._columns.encode(actions.reshape(-1, self._n)).astype(np.float32)
        inputs = inputs.reshape(*shape, -1)
        total: Single = (inputs @ self._linear[active][:, :, None])[..., 0]
        if self._first is None:
            return total
        return total + self._forward(inputs @ self._first.T + self._bias[active][:, None, :])

    def _forward(self, hidden: Single) -> Single:
        shape = hidden.shape[:-1]
        hidden = hidden.reshape(-1, hidden.shape[-1])
        np.maximum(hidden, 0.0, out=hidden)
        for matrix, bias in self._later:
            hidden = hidden @ matrix
            hidden += bias
            np.maximum(hidden, 0.0, out=hidden)
        result: Single = (hidden @ self._output).reshape(shape)
        return result


@cache
def _options(size: int, paired: int) -> IntArray:
    """Return which pool columns to flip together, ``(options, 2)``; position ``size`` is none.

    No column, any one, or two of the best ``paired``.
    """
    listed = [(size, size), *((i, size) for i in range(size))]
    listed += list(combinations(range(paired), 2))
    return np.array(listed, dtype=np.int64)
