"""Everything that can happen to a few arms in one step, as one table; combinations of doses."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sequoia.optimize.encoding import ActionEncoding, few_actions
from sequoia.problem import Problem
from sequoia.validation import FloatArray, IntArray

# Few enough to go through for every cluster that is tried.
_MAX_ACTIONS = 10_000
# Of the room for costs: what rounding may add to their sum.
_ROUNDING = 1e-9


class DoseCombinations:
    """Combinations of dose levels that the rules may allow.

    Where actions are few, exactly those that some feasible action brings about. Else those are
    left out in which an action column is both chosen and not and, where columns are arms, those
    that cost more than any action may.
    """

    def __init__(self, problem: Problem, encoding: ActionEncoding) -> None:
        self._problem = problem
        self._encoding = encoding
        self._allowed = encoding.allowed

    def most(self, arms: Sequence[int]) -> float:
        """Return a number that `of` does not exceed, quickly."""
        return float(np.prod(self._allowed[np.asarray(arms)].sum(axis=1).astype(np.float64)))

    def of(self, arms: Sequence[int]) -> IntArray:
        """Return combinations of levels of some arms, ``(D, n)``, no doses first."""
        chosen = np.asarray(arms)
        if self._listed is not None:
            return np.unique(self._listed[:, chosen], axis=0)
        combos = product([np.flatnonzero(row).tolist() for row in self._allowed[chosen]])
        inputs = self._encoding.level_input[chosen]
        taken = inputs[np.arange(len(chosen)), combos]
        fine = np.ones(len(combos), dtype=np.bool_)
        for read in np.unique(inputs[inputs >= 0]):
            readers = np.flatnonzero((inputs == read).any(axis=1))
            is_on = taken[:, readers] == read
            fine &= is_on.all(axis=1) | ~is_on.any(axis=1)
        if self._problem.is_identity:
            costs, room = self._problem.space.knapsack
            fine &= (taken >= 0) @ costs[chosen] <= room + _ROUNDING * abs(room)
        return combos[fine]

    @cached_property
    def _listed(self) -> IntArray | None:
        """The levels that each arm gets from the feasible actions, ``(A, J)``, if they are few."""
        actions = few_actions(self._problem.space, _MAX_ACTIONS)
        if actions is None:
            return None
        return np.unique(self._problem.levels(actions), axis=0)


def product(choices: Sequence[Iterable[int]]) -> IntArray:
    """Return every way to choose one of each, ``(count, len(choices))``, the last one fastest."""
    lists = [np.asarray(list(choice), dtype=np.int64) for choice in choices]
    if not lists:
        return np.zeros((1, 0), dtype=np.int64)
    grid = np.meshgrid(*lists, indexing="ij")
    return np.stack([axis.reshape(-1) for axis in grid], axis=1)


# Outside arms are listed one by one up to so many combinations of what they exert; beyond, only
# the sums are, which are all that transitions need and fewer. Twice as many double the tables of an
# epidemic of 20 nodes and do not make the bound lower.
_MAX_LISTED = 8
# Tables of so many configurations are too large whatever the rules leave of them: 4 million, of at
# least as many numbers.
_MANY = 2**22


@dataclass(frozen=True, eq=False)
class LocalTable:
    """The local configurations of a cluster of arms.

    A configuration is what the next states of the cluster depend on: the states of its arms, the
    pressure that arms outside exert on each of them, and their dose levels. Configurations come in
    blocks of one joint state each. Axes: n arms, K configurations, U joint states, X contexts
    (what is exerted from outside), D combinations of dose levels, M different ways to move on;
    ``K = U * X * D``.

    Attributes
    ----------
    arms
        The arms, ``(n,)``; the first ``n_own`` are at home here and in no other table.
    states, pressures, levels
        Of each arm in each configuration, ``(K, n)``.
    outer
        The pressure from outside on each arm in each context, ``(X, n)``, at most P - 1.
    listed
        The outside arms whose exertions a context tells one by one, ``(m,)``; none when it tells
        the sums only.
    exertions
        What each listed arm exerts, ``(X, m)``.
    doses
        The combinations of dose levels, ``(D, n)``.
    rewards
        Expected next reward of the arms at home, ``(K,)``.
    models
        The model that each arm follows in each configuration, ``(K, n)``.
    moves
        Probability of each next joint state, ``(M, U)``, every different row once: who is burnt
        does not ask for doses or pressure, so M is far below K.
    move
        The row of ``moves`` of each configuration, ``(K,)``.
    """

    arms: IntArray
    n_own: int
    states: IntArray
    pressures: IntArray
    levels: IntArray
    outer: IntArray
    listed: IntArray
    exertions: IntArray
    doses: IntArray
    rewards: FloatArray
    models: IntArray
    moves: FloatArray
    move: IntArray

    @classmethod
    def of(
        cls, problem: Problem, combinations: DoseCombinations, arms: Sequence[int], n_own: int
    ) -> "LocalTable":
        """Tabulate a cluster; `table_size` says before how large it will be."""
        chosen = np.asarray(arms)
        kinds = problem.arms
        graph = Graph.of(problem)
        outer, listed, exertions = contexts(graph, arms)
        doses = combinations.of(arms)
        joint = product([range(kinds.n_states)] * len(chosen))
        states = np.repeat(joint, len(outer) * len(doses), axis=0)
        outside = np.tile(np.repeat(outer, len(doses), axis=0), (len(joint), 1))
        levels = np.tile(doses, (len(joint) * len(outer), 1))
        inside = graph.weights[chosen][:, chosen].toarray()
        pressures = np.minimum(graph.sources[states] @ inside.T + outside, graph.most)
        models = graph.models[chosen, pressures]
        rewards = kinds.next_rewards[models, levels, states][:, :n_own].sum(axis=1)
        moves, move = _moves(problem, models, levels, states)
        return cls(
            chosen,
            n_own,
            states,
            pressures,
            levels,
            outer,
            listed,
            exertions,
            doses,
            rewards,
            models,
            moves,
            move,
        )

    def __len__(self) -> int:
        return len(self.rewards)

    @property
    def n_joint(self) -> int:
        """``U``."""
        return int(self.moves.shape[1])

    @property
    def block(self) -> int:
        """``X * D``: configurations of one joint state."""
        return len(self.outer) * len(self.doses)

    def expect(self, values: FloatArray) -> FloatArray:
        """Return the expected value of the next joint state, ``(U,)`` to ``(K,)``."""
        expected: FloatArray = (self.moves @ values)[self.move]
        return expected

    def moves_of(self, configurations: IntArray) -> FloatArray:
        """Return the probability of each next joint state, ``(B,)`` to ``(B, U)``."""
        return self.moves[self.move[configurations]]

    @cached_property
    def place(self) -> dict[int, int]:
        """The position of each arm in ``arms``."""
        return {int(arm): place for place, arm in enumerate(self.arms)}

    @cached_property
    def context(self) -> IntArray:
        """The context of each configuration, ``(K,)``."""
        return np.arange(len(self)) // len(self.doses) % len(self.outer)

    @cached_property
    def dose(self) -> IntArray:
        """The dose combination of each configuration, ``(K,)``."""
        return np.arange(len(self)) % len(self.doses)

    def joint(self, states: IntArray, n_states: int) -> IntArray:
        """Return the number of the cluster's joint state in states of all arms, ``(B, J)``."""
        number = np.zeros(len(states), dtype=np.int64)
        for arm in self.arms:
            number = number * n_states + states[:, arm]
        return number

    def start(self, chances: FloatArray) -> FloatArray:
        """Return the distribution of the joint state, ``(U,)``, from that of each arm, (J, S)."""
        result = np.ones(1)
        for arm in self.arms:
            result = np.outer(result, chances[arm]).reshape(-1)
        return result


def _moves(
    problem: Problem, models: IntArray, levels: IntArray, states: IntArray
) -> tuple[FloatArray, IntArray]:
    """Return the different rows of the joint kernel, ``(M, U)``, and which each has, ``(K,)``.

    Arms move independently, given the configuration: a row is the product of the arms' own.
    """
    kinds = problem.arms
    shape = kinds.kernels.shape
    distinct, which = np.unique(kinds.kernels.reshape(-1, shape[-1]), axis=0, return_inverse=True)
    rows = which.reshape(shape[:-1])[models, levels, states]
    number = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        # Renumbered after each arm, so that numbers stay small.
        number = np.unique(number * len(distinct) + column, return_inverse=True)[1].reshape(-1)
    _, first, move = np.unique(number, return_index=True, return_inverse=True)
    moves = np.ones((len(first), 1))
    for column in rows[first].T:
        moves = (moves[:, :, None] * distinct[column][:, None, :]).reshape(len(first), -1)
    return moves, move.reshape(-1)


@dataclass(frozen=True, eq=False)
class Graph:
    """The graph of contagion; without edges where a problem has none.

    Attributes
    ----------
    weights
        How strongly arm k presses on arm j, ``(J, J)``, sparse.
    sources
        What each state exerts, ``(S,)``.
    models
        The model of each arm under each pressure, ``(J, P)``.
    """

    weights: csr_array
    sources: IntArray
    models: IntArray

    @classmethod
    def of(cls, problem: Problem) -> "Graph":
        """Return that of a problem."""
        among, arms = problem.contagion, problem.arms
        if among is not None:
            return cls(among.neighbours, among.sources, among.models)
        nobody = csr_array((arms.n_arms, arms.n_arms), dtype=np.int64)
        return cls(nobody, np.zeros(arms.n_states, dtype=np.int64), arms.model[:, None])

    @property
    def most(self) -> int:
        """``P - 1``."""
        return int(self.models.shape[1]) - 1

    def outside(self, arms: Sequence[int]) -> IntArray:
        """Return the arms that press on some of ``arms`` and are not among them."""
        pressing = np.unique(self.weights[np.asarray(arms)].indices)
        return np.setdiff1d(pressing, np.asarray(arms)).astype(np.int64)


def contexts(graph: Graph, arms: Sequence[int]) -> tuple[IntArray, IntArray, IntArray]:
    """Return what outside arms can exert: sums ``(X, n)``, listed arms ``(m,)``, ``(X, m)``."""
    outside = graph.outside(arms)
    exerted = np.unique(graph.sources)
    weights = graph.weights[np.asarray(arms)][:, outside].toarray()
    if len(exerted) ** len(outside) <= _MAX_LISTED:
        listed = product([exerted.tolist()] * len(outside))
        return np.minimum(listed @ weights.T, graph.most), outside, listed
    sums = np.zeros((1, len(arms)), dtype=np.int64)
    for column in weights.T:
        more = sums[:, None, :] + exerted[:, None] * column
        sums = np.unique(np.minimum(more, graph.most).reshape(-1, len(arms)), axis=0)
    nobody = np.empty(0, dtype=np.int64)
    return sums, nobody, np.empty((len(sums), 0), dtype=np.int64)


def table_size(problem: Problem, doses: DoseCombinations, arms: Sequence[int]) -> float:
    """Return how many configurations the table of ``arms`` has; at least, where they are many."""
    joint = float(problem.arms.n_states) ** len(arms)
    if joint * doses.most(arms) > _MANY:
        return joint * doses.most(arms)
    return joint * len(doses.of(arms)) * len(contexts(Graph.of(problem), arms)[0])
