"""Prices between clusters: the dual function, and a way down it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sequoia.bounds.factored.links import Links
from sequoia.bounds.factored.local_table import LocalTable
from sequoia.bounds.horizon import Horizon
from sequoia.validation import FloatArray, IntArray

# Adam's usual memory of the slope; that of its square is shorter, as there are few rounds.
_MEMORY, _SQUARE_MEMORY = 0.9, 0.99
# Slopes are numbers of arms; far less than one of them is nothing.
_LITTLE = 1e-3
# Less is rounding: there is nothing to gain by other prices.
_NOTHING = 1e-12
# A first round moves prices by so much of the largest reward for every step that counts; all
# rounds together can reach as much as an arm can earn in all steps.
_FIRST_MOVE = 1 / 200
# Policy iteration ends after a handful of sweeps; this many would be a circle of rounding errors.
_MAX_SWEEPS = 1_000
# Relative to the largest value: less is rounding, and no reason for another sweep.
_ROUNDING = 1e-11


@dataclass(frozen=True, eq=False)
class Dual:
    """The most that clusters earn when they pay for the rows that tie them together.

    Given row prices, each cluster is a Markov decision process of its own: it chooses its doses
    *and* the pressure from outside, and pays for both. For any prices, the sum of what clusters
    earn and of what the rows pay back is an upper bound on what any policy earns (Lagrangian
    duality; Adelman & Mersereau 2008). With tables for arms, the values of the clusters are a
    factored value function (Guestrin et al. 2003) that satisfies every inequality of approximate
    linear programming (de Farias & Van Roy 2003)::

        D(prices) = sum_C E v_0C + sum_t discount^t support_t(prices_t)
        v_tC(s)   = max_k R_C(k) - prices_t · use(k) + discount * E[v_{t+1,C} | k]

    over the configurations k of cluster C in joint state s.

    Attributes
    ----------
    starts
        Distribution of the joint state of each cluster at first, ``(U,)`` each.
    """

    tables: Sequence[LocalTable]
    links: Links
    horizon: Horizon
    starts: Sequence[FloatArray]

    def values(self, prices: FloatArray) -> list[FloatArray]:
        """Return what each cluster's joint states are worth, ``(B + 1, U)`` each."""
        paid = self._paid(prices)
        return [self._backward(index, paid)[0] for index in range(len(self.tables))]

    def evaluate(self, prices: FloatArray) -> tuple[float, FloatArray]:
        """Return the bound at row prices ``(B, R)``, and a direction in which it rises, (B, R)."""
        paid = self._paid(prices)
        total, chosen, masses = 0.0, [], []
        for index, first in enumerate(self.links.first[:-1]):
            values, policy = self._backward(index, paid)
            total += float(self.starts[index] @ values[0])
            chosen.append(first + policy)
            masses.append(self._forward(index, policy))
        weights = self.horizon.weights
        met = np.concatenate(chosen, axis=1)
        mass = np.concatenate(masses, axis=1) / weights[:, None]
        every = np.arange(met.size), np.arange(0, met.size + 1, met.shape[1])
        rates = (csr_array((mass.reshape(-1), *every)) @ self._uses[met.reshape(-1)]).toarray()
        support, slope = self.links.support(prices, rates)
        return total + float(weights @ support), slope

    def _paid(self, prices: FloatArray) -> FloatArray:
        result: FloatArray = (self._uses @ prices.T).T
        return result

    @cached_property
    def _uses(self) -> csr_array:
        """The use of each row by every configuration, ``(K, R)``."""
        return csr_array(self.links.rows.use.T)

    def _backward(self, index: int, paid: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return values ``(B + 1, U)`` and the best configuration by joint state, ``(B, U)``."""
        table, discount = self.tables[index], self.horizon.discount
        first, last = self.links.first[index : index + 2]
        blocks, joint = self.horizon.n_blocks, table.n_joint
        values = np.zeros((blocks + 1, joint))
        policy = np.zeros((blocks, joint), dtype=np.int64)
        begin = np.arange(joint) * table.block
        for block in range(blocks - 1, -1, -1):
            net = table.rewards - paid[block, first:last]
            if self.horizon.is_endless and block == blocks - 1:
                values[-1], policy[block] = _stationary(net, table, discount)
                values[block] = values[-1]
                continue
            ahead = (net + discount * table.expect(values[block + 1])).reshape(joint, -1)
            policy[block] = begin + ahead.argmax(axis=1)
            values[block] = ahead.max(axis=1)
        return values, policy

    def _forward(self, index: int, policy: IntArray) -> FloatArray:
        """Return how often each joint state is met in each block, discounted, ``(B, U)``."""
        table, discount = self.tables[index], self.horizon.discount
        mass = np.empty(policy.shape)
        now: FloatArray = self.starts[index]
        for block, chosen in enumerate(policy):
            moves = table.moves_of(chosen)
            if self.horizon.is_endless and block == len(policy) - 1:
                now = np.asarray(np.linalg.solve(np.eye(len(now)) - discount * moves.T, now))
            mass[block] = now
            now = discount * (now @ moves)
        return mass


def _stationary(net: FloatArray, table: LocalTable, discount: float) -> tuple[FloatArray, IntArray]:
    """Return the discounted optimum of every joint state, ``(U,)``, by policy iteration.

    What rounding may have left below the optimum is added, so the result is never too low.
    """
    joint = table.n_joint
    begin = np.arange(joint) * table.block
    policy = begin + net.reshape(joint, -1).argmax(axis=1)
    for _ in range(_MAX_SWEEPS):
        values = np.linalg.solve(np.eye(joint) - discount * table.moves_of(policy), net[policy])
        ahead = (net + discount * table.expect(values)).reshape(joint, -1)
        gain = ahead.max(axis=1) - values
        better = gain > _ROUNDING * float(np.abs(values).max())
        if not better.any():
            break
        policy = np.where(better, begin + ahead.argmax(axis=1), policy)
    return values + max(float(gain.max()), 0.0) / (1 - discount), policy


class Adam:
    """Steps against a slope, scaled by its usual size (Kingma & Ba 2015), ever shorter."""

    def __init__(self, shape: tuple[int, ...], first: float, rounds: int) -> None:
        self._mean, self._square = np.zeros(shape), np.zeros(shape)
        self._first, self._rounds, self._done = first, rounds, 0

    def step(self, slope: FloatArray) -> FloatArray:
        """Return by how much to move."""
        self._mean += (1 - _MEMORY) * (slope - self._mean)
        self._square += (1 - _SQUARE_MEMORY) * (slope**2 - self._square)
        length = self._first * max(1 - self._done / self._rounds, 0.0)
        self._done += 1
        mean = self._mean / (1 - _MEMORY**self._done)
        size = np.sqrt(self._square / (1 - _SQUARE_MEMORY**self._done))
        result: FloatArray = -length * mean / (size + _LITTLE)
        return result


def first_move(tables: Sequence[LocalTable], horizon: Horizon) -> float:
    """Return how far prices may move in the first round."""
    largest = max(float(np.ptp(table.rewards)) for table in tables)
    return largest * float(horizon.weights.sum()) * _FIRST_MOVE


def minimise(dual: Dual, rounds: int, seconds: float) -> tuple[FloatArray, int]:
    """Return the best prices found, ``(B, R)``, and after how many rounds.

    Where no price has a slope, as where one cluster holds all arms, further rounds change nothing
    and count as done.
    """
    began = time.perf_counter()
    rows = dual.links.rows
    prices = np.zeros((dual.horizon.n_blocks, rows.n_rows))
    adam = Adam(prices.shape, first_move(dual.tables, dual.horizon), rounds)
    best, least, done = prices, np.inf, 0
    while done < rounds and (done == 0 or time.perf_counter() - began <= seconds):
        total, slope = dual.evaluate(prices)
        if total < least:
            best, least = prices, total
        if np.abs(rows.project_sign(prices - slope) - prices).max(initial=0.0) <= _NOTHING:
            return best, rounds
        prices = rows.project_sign(prices + adam.step(slope))
        done += 1
    return best, done
