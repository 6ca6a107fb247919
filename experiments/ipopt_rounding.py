"""Relax, flip coins, repair: the heuristic of the paper's conclusion. Not proven."""

import time
from dataclasses import replace
from functools import cached_property
from typing import Any

import casadi
import numpy as np

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.result import ArgmaxResult
from sequoia.problem.iis import no_decision
from sequoia.solvers import Highs, Limits, Status
from sequoia.validation import ActionArray, FloatArray

# Share of a neuron's own scale over which its kink is rounded. With the kink as it is, IPOPT broke
# down in a fifth of the states and took seven to ten times as long, for actions about as good.
_ROUNDING = 0.1
_IPOPT = {
    "print_time": False,
    "ipopt.print_level": 0,
    "ipopt.sb": "yes",
    "ipopt.max_iter": 300,
    "ipopt.tol": 1e-4,
}
# How many of the best samples are filled up: each column is tried for each of them.
_FILLED = 16
# To agree with the shares need not be proven; the first nodes find what agrees.
_NODES = 1_000
# More than rounding.
_RAISES = 1e-9


class IpoptRounding:
    """Let IPOPT choose shares of columns, and flip a coin with each share as its probability.

    All columns of the system are continuous in the relaxation, and the network's kinks rounded.
    Samples that break a rule lose their least likely columns until they fit; the best of them
    then take further columns while that raises the value.

    Parameters
    ----------
    seconds
        Time limit for one state; an action is returned in any case.
    samples
        How many actions are flipped for each state.
    """

    name = "relax"

    def __init__(
        self,
        columns: ActionEncoding,
        seconds: float = float("inf"),
        samples: int = 256,
        seed: int = 0,
    ) -> None:
        self._columns = columns
        self._seconds = seconds
        self._samples = samples
        self._rng = np.random.default_rng(seed)
        self._solvers: dict[tuple[int, ...], Any] = {}

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best sample of each state."""
        size = self._columns.space.n_actions
        found = [self._best_of_one(net.only([state])) for state in range(len(net))]
        unproven = ArgmaxResult.unproven(
            np.array([action for action, _, _ in found], dtype=np.int8).reshape(len(net), size),
            np.array([value for _, value, _ in found]),
        )
        return replace(unproven, is_late=np.array([late for *_, late in found], dtype=np.bool_))

    def _best_of_one(self, net: ReluNet) -> tuple[ActionArray, float, bool]:
        """Return the best sample of a state, its value, and whether time was up."""
        deadline = time.perf_counter() + self._seconds
        shares = self.shares(net)
        actions = self._repaired(shares, self._flipped(shares), deadline)
        order = np.argsort(-self._values(net, actions), kind="stable")
        actions = self._filled(net, actions[order[:_FILLED]], deadline)
        values = self._values(net, actions)
        return actions[values.argmax()], float(values.max()), time.perf_counter() >= deadline

    def shares(self, net: ReluNet) -> FloatArray:
        """Return the relaxed action of a single state, ``(N,)``: a stationary point."""
        widths = tuple(map(len, net.weights))
        if widths not in self._solvers:
            self._solvers[widths] = self._solver(widths)
        system = self._columns.system
        result = self._solvers[widths](
            x0=np.minimum(system.column_upper, 1.0) / 2,
            p=_parameters(net),
            lbx=0.0,
            ubx=system.column_upper,
            lbg=system.lower,
            ubg=system.upper,
        )
        values = np.asarray(result["x"]).reshape(-1)[: self._columns.space.n_actions]
        # IPOPT may end on something that is no number; a fair coin then says as much.
        shares: FloatArray = np.clip(np.nan_to_num(values, nan=0.5), 0.0, 1.0)
        return shares

    def _solver(self, widths: tuple[int, ...]) -> Any:
        """Return IPOPT for networks of these widths; their weights are parameters."""
        size = self._columns.n_inputs
        columns = casadi.MX.sym("columns", self._columns.system.n_columns)
        hidden = columns[:size]
        parameters = [casadi.MX.sym("linear", size)]
        value = casadi.dot(parameters[0], hidden)
        for before, width in zip((size, *widths), widths, strict=False):
            weights = casadi.MX.sym("weights", width, before)
            bias, rounding = casadi.MX.sym("bias", width), casadi.MX.sym("rounding", width)
            parameters += [casadi.vec(weights), bias, rounding]
            slope = weights @ hidden + bias
            hidden = (slope + casadi.sqrt(slope**2 + rounding**2)) / 2
        if widths:
            parameters.append(casadi.MX.sym("output", widths[-1]))
            value += casadi.dot(parameters[-1], hidden)
        given = casadi.vertcat(*parameters)
        program = {"x": columns, "p": given, "f": -value, "g": self._rows @ columns}
        most = min(max(self._seconds, 1e-3), 1e9)
        return casadi.nlpsol("relax", "ipopt", program, {**_IPOPT, "ipopt.max_wall_time": most})

    @cached_property
    def _rows(self) -> Any:
        matrix = self._columns.system.matrix.tocsc()
        places = matrix.indptr.tolist(), matrix.indices.tolist()
        return casadi.DM(casadi.Sparsity(*matrix.shape, *places), matrix.data)

    def _flipped(self, shares: FloatArray) -> ActionArray:
        """Return different samples, the likeliest among them, ``(K, N)``."""
        coins = self._rng.random((self._samples, len(shares))) < shares
        return np.unique(np.vstack([shares > 0.5, coins]).astype(np.int8), axis=0)

    def _repaired(self, shares: FloatArray, actions: ActionArray, deadline: float) -> ActionArray:
        """Drop the least likely columns of each action until it fits; return those that do."""
        space = self._columns.space
        kept = [actions[:0]]
        while len(actions) and (time.perf_counter() < deadline or not sum(map(len, kept))):
            fits = space.contains_quick(actions)
            kept.append(actions[fits])
            actions = actions[~fits & actions.any(axis=1)]
            least = np.where(actions == 1, shares, np.inf).argmin(axis=1)
            actions[np.arange(len(actions)), least] = 0
            actions = np.unique(actions, axis=0)
        found = np.unique(np.concatenate(kept), axis=0)
        return found if len(found) else self._likeliest(shares)[None]

    def _likeliest(self, shares: FloatArray) -> ActionArray:
        """Return a feasible action that agrees with the shares as far as any; a program's work."""
        space = self._columns.space
        solution = Highs().solve(space.compact.program(2 * shares - 1), Limits(nodes=_NODES))
        if solution.status is Status.INFEASIBLE:
            raise no_decision(space.compact)
        if solution.values is None:
            return space.sample(self._rng).action
        return solution.values[: space.n_actions].astype(np.int8)

    def _filled(self, net: ReluNet, actions: ActionArray, deadline: float) -> ActionArray:
        """Add to each action the column that raises its value most, as long as one does."""
        space, every = self._columns.space, np.arange(len(actions))
        gains = self._gains(net, actions)
        while time.perf_counter() < deadline:
            column = gains.argmax(axis=1)
            able = np.flatnonzero(gains[every, column] > _RAISES)
            if not len(able):
                break
            trial = actions[able]
            trial[np.arange(len(able)), column[able]] = 1
            fits = space.contains_quick(trial)
            gains[able[~fits], column[able[~fits]]] = -np.inf
            if fits.any():
                grown = able[fits]
                closed = np.isneginf(gains[grown]) & space.is_down_closed
                actions[grown] = trial[fits]
                gains[grown] = np.where(closed, -np.inf, self._gains(net, actions[grown]))
        return actions

    def _gains(self, net: ReluNet, actions: ActionArray) -> FloatArray:
        """Return what each further column adds to each action, ``(K, N)``."""
        size = actions.shape[1]
        added = actions[:, None, :] | np.eye(size, dtype=np.int8)
        values = self._values(net, added.reshape(-1, size)).reshape(-1, size)
        return np.where(actions == 1, -np.inf, values - self._values(net, actions)[:, None])

    def _values(self, net: ReluNet, actions: ActionArray) -> FloatArray:
        values: FloatArray = net.values(self._columns.encode(actions)[None])[0]
        return values


def _parameters(net: ReluNet) -> FloatArray:
    """Return the numbers of a single state's network, its value scaled to about one."""
    scale, parts = np.ones(net.n_inputs), []
    for weights, bias in zip(net.weights, (net.first_bias[0], *net.biases), strict=False):
        scale = np.sqrt(weights**2 @ scale**2) + 1e-9
        parts += [weights.ravel(order="F"), bias, _ROUNDING * scale]
    output = net.output * scale if net.weights else net.output
    weight = np.abs(np.concatenate([net.linear[0], output])).max(initial=1e-12)
    return np.concatenate([net.linear[0] / weight, *parts, net.output / weight])
