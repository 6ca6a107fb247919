"""The beliefs that one model can lead to: a graph of distributions, finite by a stated error."""

from dataclasses import dataclass
from itertools import count

import numpy as np

from sequoia.errors import TooLarge
from sequoia.records.log import Seen
from sequoia.validation import FloatArray, IntArray

# More states make a plan slow, and say no more than a larger error would.
MOST_BELIEFS = 2_000
# So many steps after a sighting have beliefs of their own. Later, a belief stands for as many steps
# as move it by the error: else one that moves slowly would have thousands.
_OWN_STEPS = 30
# A belief that moves by less in 2 ** 40 steps does not move.
_DOUBLINGS = 40
# Beliefs this near are the same one.
_SAME = 1e-9
# Powers of two after which a chain that moves at all has settled: 2 ** 60 steps.
_SQUARINGS = 60


@dataclass(frozen=True, eq=False)
class BeliefGraph:
    """N beliefs about the state of an arm, each the state of a new arm.

    Attributes
    ----------
    beliefs
        ``(N, S)``; the first S are of a state that is known.
    following
        The belief after each dose when nothing is seen, ``(N, L)``.
    stay
        Probability that a belief stays as it is in a step without a dose, ``(N,)``: one that stands
        for n steps is left with probability 1/n.
    """

    beliefs: FloatArray
    following: IntArray
    stay: FloatArray

    def nearest(self, belief: FloatArray) -> int:
        """Return the belief nearest to a given one, in total variation."""
        return int(np.abs(self.beliefs - belief).sum(axis=1).argmin())

    def kernels(self, moves: FloatArray, seen: Seen) -> FloatArray:
        """Return how beliefs move, ``(L, N, N)``, where states move by ``moves``, ``(L, S, S)``.

        A visit shows the state with probability ``seen.at_visit``, before it moves; after the move
        it is reported with probability ``seen.before``. Either leads to the belief in a known
        state, or to what follows from it.
        """
        doses, states = moves.shape[:2]
        size = len(self.beliefs)
        each, result = np.arange(size), np.zeros((doses, size, size))
        for dose in range(doses):
            shown = seen.at_visit if dose else 0.0
            unseen = np.zeros((size, size))
            stay = 0.0 if dose else self.stay
            unseen[each, self.following[:, dose]] += (1 - shown) * (1 - stay)
            unseen[each, each] += (1 - shown) * stay
            np.add.at(unseen.T, self.following[:states, dose], shown * self.beliefs.T)
            result[dose] = (1 - seen.before) * unseen
            result[dose, :, :states] += seen.before * self.beliefs @ moves[dose]
        return result


def grow_beliefs(
    moves: FloatArray, starts: FloatArray, seen: Seen, error: float, name: str
) -> BeliefGraph:
    """Return the beliefs that can be reached under ``seen``, merged within ``error``.

    A belief that nothing is seen of moves as ``b P_a``. Left alone, it follows a chain ``b, b P_0,
    b P_0^2, …``, which ends where its total variation distance to its limit is at most ``error``,
    or where another chain is as near. After many steps, those in which the belief moves by no more
    than ``error`` are taken together. Steps never drive beliefs apart, so each merger costs at most
    ``error``, and is forgotten at the next sighting.

    Parameters
    ----------
    moves
        Of the model, ``(L, S, S)``.
    starts
        Beliefs about arms that were never seen, ``(K, S)``.
    name
        Of the model, for errors.
    """
    growth = _Growth(moves, error, name)
    states = moves.shape[1]
    is_hidden = seen.before < 1
    for state in range(states):
        growth.new(np.eye(states)[state])
    if is_hidden:
        for state in range(states):
            growth.leave_alone(state)
        for start in starts:
            growth.place(start)
    node = 0
    while is_hidden and node < len(growth.beliefs):
        for dose in range(1, len(moves)):
            if (node < states and seen.at_visit > 0) or seen.at_visit < 1:
                growth.following[node][dose] = growth.place(growth.beliefs[node] @ moves[dose])
        node += 1
    return growth.closed()


class _Growth:
    """A graph that grows chain by chain; a chain joins only those that were complete before it."""

    def __init__(self, moves: FloatArray, error: float, name: str) -> None:
        self._moves, self._error, self._name = moves, error, name
        self.beliefs: list[FloatArray] = []
        self.following: list[list[int]] = []
        self.stay: list[float] = []
        # Half of it stays: then also a chain that goes round and round settles, at its average.
        limit = (moves[0] + np.eye(moves.shape[1])) / 2
        for _ in range(_SQUARINGS):
            limit = limit @ limit
            limit /= limit.sum(axis=1, keepdims=True)
        self._limit = limit

    def new(self, belief: FloatArray) -> int:
        if len(self.beliefs) >= MOST_BELIEFS:
            raise TooLarge(
                f"{self._name} has more than {MOST_BELIEFS} beliefs that differ by more than "
                f"{self._error:g}; allow a larger error."
            )
        self.beliefs.append(belief)
        self.following.append([-1] * len(self._moves))
        self.stay.append(0.0)
        return len(self.beliefs) - 1

    def _near(self, belief: FloatArray, among: IntArray, error: float) -> int | None:
        """Return the nearest of some nodes, if it is near enough."""
        if not len(among):
            return None
        distance = np.abs(np.array(self.beliefs)[among] - belief).sum(axis=1) / 2
        best = int(distance.argmin())
        return int(among[best]) if distance[best] <= error else None

    def place(self, belief: FloatArray) -> int:
        """Return a node near enough, or grow a chain from a new one."""
        nearest = self._near(belief, np.arange(len(self.beliefs)), self._error)
        if nearest is not None:
            return nearest
        node = self.new(belief)
        self.leave_alone(node)
        return node

    def leave_alone(self, node: int) -> None:
        """Follow a node under no dose until it joins another chain, itself, or its limit."""
        # Within itself a chain that is slow would join too early, and stand still for ever.
        others = np.array(
            [i for i, next_nodes in enumerate(self.following) if next_nodes[0] >= 0], dtype=int
        )
        for length in count():
            steps, ahead = 1, self.beliefs[node] @ self._moves[0]
            if length >= _OWN_STEPS:
                steps, ahead = self._stride(node)
            self.stay[node] = 1 - 1 / steps
            limit = ahead @ self._limit
            is_settled = np.abs(ahead - limit).sum() / 2 <= self._error
            target = limit if is_settled else ahead
            joined = self._near(target, np.arange(len(self.beliefs)), _SAME)
            if joined is None and not is_settled:
                joined = self._near(target, others, self._error)
            follower = self.new(target) if joined is None else joined
            self.following[node][0] = follower
            if joined is not None:
                return
            if is_settled:
                self.following[follower][0] = follower
                return
            node = follower

    def _stride(self, node: int) -> tuple[int, FloatArray]:
        """Return how many steps move a belief by no more than the error, and where they lead.

        A power of two, found by squaring; at least 1.
        """
        steps, moves = 1, self._moves[0]
        here = self.beliefs[node]
        for _ in range(_DOUBLINGS):
            further = moves @ moves
            if np.abs(here @ further - here).sum() / 2 > self._error:
                break
            steps, moves = 2 * steps, further
        return steps, here @ moves

    def closed(self) -> BeliefGraph:
        """Return the graph; what the rule never asks for leads to the nearest belief."""
        beliefs, following = np.array(self.beliefs), np.array(self.following)
        graph = BeliefGraph(beliefs, following, np.array(self.stay))
        for node, dose in np.argwhere(following < 0):
            following[node, dose] = graph.nearest(beliefs[node] @ self._moves[dose])
        return graph
