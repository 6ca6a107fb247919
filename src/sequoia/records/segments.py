"""Segments between two sightings of an arm, and the chances of the unseen states in between.

A segment is the run of doses from one sighting to the next: ``(group, a_1 … a_n)`` with the states
at both ends. Only these carry information on transitions; what came before the first sighting, or
after the last, does not. The likelihood of a segment from s to s' is the entry
``(P_{a_1} … P_{a_n})[s, s']``, so segments that begin with the same doses share products: all of
them are kept as a trie, a node for each run of doses, worked through depth by depth.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array

from sequoia.errors import ProblemError
from sequoia.records.log import Log
from sequoia.sizes import require_memory
from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Segments:
    """Segments by what they have in common. Axes: G groups, L doses, S states, M nodes, E ends.

    Attributes
    ----------
    shape
        ``(G, L, S)``.
    parent, kind
        The node one dose earlier, and ``group * L + dose`` of the last dose, ``(M,)`` each; the
        first G nodes are the roots, before any dose.
    depths
        Where the nodes of each depth begin, ``(D + 1,)``; siblings stand together.
    node, start, end
        The node at which segments end, and their states at both ends, ``(E,)``.
    count
        How many segments are alike, ``(E,)``.
    """

    shape: tuple[int, int, int]
    parent: IntArray
    kind: IntArray
    depths: IntArray
    node: IntArray
    start: IntArray
    end: IntArray
    count: IntArray

    @classmethod
    def of(cls, log: Log, groups: int, doses: int, states: int, after: int = -1) -> "Segments":
        """Return the segments of a log that end after step ``after``."""
        _check(log, groups, doses, states)
        arm, step, state = log.sightings.T
        last = np.flatnonzero((arm[1:] == arm[:-1]) & (step[1:] > after)) + 1
        length = step[last] - step[last - 1]
        trie = _Trie.grow(log, last - 1, length, groups, doses)
        require_memory("the runs of doses between sightings", float(len(trie.parent)) * states**2)
        key = (trie.node * states + state[last - 1]) * states + state[last]
        alike, count = np.unique(key, return_counts=True)
        return cls(
            (groups, doses, states),
            trie.parent,
            trie.kind,
            trie.depths,
            alike // states**2,
            alike // states % states,
            alike % states,
            count,
        )

    @property
    def n_segments(self) -> int:
        """The number of segments, alike or not."""
        return int(self.count.sum())

    def pooled(self) -> "Segments":
        """Return the same segments as of one group; the trie keeps its roots."""
        _, doses, states = self.shape
        return Segments(
            (1, doses, states),
            self.parent,
            self.kind % doses,
            self.depths,
            self.node,
            self.start,
            self.end,
            self.count,
        )

    def copies(self, many: int) -> "Segments":
        """Return the same segments so many times, each time in groups of their own."""
        groups, doses, states = self.shape
        size = np.diff(self.depths)
        depth = np.repeat(np.arange(len(size)), size)
        copy = np.arange(many)[:, None]

        def place(node: IntArray) -> IntArray:
            """Return where nodes are in each copy: copies of a depth stand one after another."""
            at = depth[node]
            return np.asarray(self.depths[at] * (many - 1) + size[at] * copy + node)

        order = np.argsort(place(np.arange(len(depth))).reshape(-1))
        ends = place(self.node).reshape(-1)
        sorted_ends = np.argsort(ends, kind="stable")
        kind = self.kind + groups * doses * copy
        return Segments(
            (many * groups, doses, states),
            place(self.parent).reshape(-1)[order],
            kind.reshape(-1)[order],
            self.depths * many,
            ends[sorted_ends],
            np.tile(self.start, many)[sorted_ends],
            np.tile(self.end, many)[sorted_ends],
            np.tile(self.count, many)[sorted_ends],
        )

    def products(self, kernels: FloatArray) -> FloatArray:
        """Return ``P_{a_1} … P_{a_n}`` of every node, ``(M, S, S)``.

        ``kernels`` is ``(G, L, S, S)``.
        """
        states = self.shape[2]
        flat = kernels.reshape(-1, states, states)
        products = np.empty((len(self.parent), states, states))
        products[: self.depths[1]] = np.eye(states)
        for first, end in self._levels():
            np.matmul(
                products[self.parent[first:end]], flat[self.kind[first:end]], products[first:end]
            )
        return products

    def _levels(self) -> list[tuple[int, int]]:
        return list(pairwise(self.depths[1:].tolist()))

    def chances(self, products: FloatArray) -> FloatArray:
        """Return the likelihood of each kind of segment, ``(E,)``."""
        chances: FloatArray = products[self.node, self.start, self.end]
        return chances

    def expected_counts(self, kernels: FloatArray) -> tuple[FloatArray, float]:
        """Return the expected number of transitions, ``(G, L, S, S)``, and the log-likelihood.

        The E-step of Baum and Welch (Rabiner 1989), as a derivative: for a product of matrices,
        ``E[n(u, v)] = P[u, v] * d log L / d P[u, v]``, by the chain rule from the leaves of the
        trie to its roots. So the forward and the backward pass are made once for all segments
        that share their doses. Nothing is expected where a segment cannot have happened.
        """
        products = self.products(kernels)
        chances = self.chances(products)
        states = self.shape[2]
        flat = kernels.reshape(-1, states, states)
        if not (chances > 0).all():
            return np.zeros_like(kernels), -np.inf
        slopes = np.zeros_like(products)
        slopes[self.node, self.start, self.end] = self.count / chances
        likelihood = float(self.count @ np.log(chances))
        total = np.zeros((len(flat), states * states))
        for first, end in reversed(self._levels()):
            parent, kind, slope = self.parent[first:end], self.kind[first:end], slopes[first:end]
            each = np.matmul(products[parent].transpose(0, 2, 1), slope)
            place = csr_array(
                (np.ones(len(kind)), (kind, np.arange(len(kind)))), shape=(len(flat), len(kind))
            )
            total += place @ each.reshape(len(kind), -1)
            begins = np.flatnonzero(np.diff(parent, prepend=-1))
            back = np.matmul(slope, flat[kind].transpose(0, 2, 1))
            slopes[parent[begins]] += np.add.reduceat(back, begins, axis=0)
        return kernels * total.reshape(kernels.shape), likelihood

    def sample_counts(self, kernels: FloatArray, rng: np.random.Generator) -> IntArray:
        """Draw the unseen states of all segments given both ends; return transitions as above.

        Forward filtering, backward sampling (Scott 2002): going back from state v at a node, the
        state before it is u with probability ``A[s, u] P[u, v] / (A P)[s, v]``, where A is the
        product at the parent. Segments that are alike so far are drawn together.
        """
        groups, doses, states = self.shape
        total = np.zeros(groups * doses * states * states)
        if len(self.depths) <= 3:
            # Every step is seen: nothing is left to chance.
            place = (self.kind[self.node] * states + self.start) * states + self.end
            total += np.bincount(place, self.count, len(total))
            return total.astype(np.int64).reshape(kernels.shape)
        products = self.products(kernels)
        flat = kernels.reshape(-1, states, states)
        # Ends are sorted by node, so those of a depth stand together.
        ends = np.searchsorted(self.node, self.depths)
        key = (self.node * states + self.start) * states + self.end
        first = self.depths * states * states
        carried: FloatArray = np.zeros(0)
        for depth in range(len(self.depths) - 2, 0, -1):
            # Segments at each node of this depth, by first state and by state here.
            here = np.zeros(first[depth + 1] - first[depth])
            here[: len(carried)] = carried
            level = slice(ends[depth], ends[depth + 1])
            here[key[level] - first[depth]] += self.count[level]
            place = np.flatnonzero(here)
            now, start = place % states, place // states % states
            node = self.depths[depth] + place // states**2
            parent, kind = self.parent[node], self.kind[node]
            weights = products[parent, start] * flat[kind, :, now]
            weights /= weights.sum(axis=1, keepdims=True)
            chosen = rng.multinomial(here[place].astype(np.int64), weights)
            row, before = np.nonzero(chosen)
            moved = chosen[row, before]
            total += np.bincount(
                (kind[row] * states + before) * states + now[row], moved, len(total)
            )
            back = (parent[row] * states + start[row]) * states + before - first[depth - 1]
            carried = np.asarray(np.bincount(back, moved), dtype=np.float64)
        return total.astype(np.int64).reshape(kernels.shape)


@dataclass(frozen=True, eq=False)
class _Trie:
    """Runs of doses, by node; ``node`` is where each segment ends."""

    parent: IntArray
    kind: IntArray
    depths: IntArray
    node: IntArray

    @classmethod
    def grow(
        cls, log: Log, sighting: IntArray, length: IntArray, groups: int, doses: int
    ) -> "_Trie":
        """Follow all segments at once, a dose at a time; ``sighting`` is where each begins."""
        # The longest first: those that go on are then always the first ones.
        order = np.argsort(-length, kind="stable")
        sighting, length = sighting[order], length[order]
        arm, step = log.sightings[sighting, 0], log.sightings[sighting, 1]
        span = log.n_steps + 1
        visit_key = np.append(log.visits[:, 0] * span + log.visits[:, 1], -1)
        upcoming = np.searchsorted(visit_key[:-1], arm * span + step)
        at, final = log.group[arm], np.empty(len(arm), dtype=np.int64)
        parents, kinds = [np.arange(groups)], [np.full(groups, -1)]
        depths, first = [0, groups], groups
        group = log.group[arm]
        for depth in range(int(length.max(initial=0))):
            on = int(np.searchsorted(-length, -depth, side="left"))
            is_visit = visit_key[upcoming[:on]] == arm[:on] * span + step[:on] + depth
            dose = np.zeros(on, dtype=np.int64)
            dose[is_visit] = log.visits[upcoming[:on][is_visit], 2]
            upcoming[:on] += is_visit
            runs, where = np.unique(at[:on] * doses + dose, return_inverse=True)
            of = np.empty(len(runs), dtype=np.int64)
            of[where] = group[:on]
            parents.append(runs // doses)
            kinds.append(of * doses + runs % doses)
            at = first + where
            first += len(runs)
            depths.append(first)
            ended = length[:on] == depth + 1
            final[:on][ended] = at[ended]
        node = np.empty_like(final)
        node[order] = final
        return cls(np.concatenate(parents), np.concatenate(kinds), np.array(depths), node)


def _check(log: Log, groups: int, doses: int, states: int) -> None:
    for what, given, most in (
        ("log.group", log.group, groups),
        ("log.sightings[:, 2]", log.sightings[:, 2], states),
        ("log.visits[:, 2]", log.visits[:, 2], doses),
    ):
        if given.max(initial=0) >= most:
            raise ProblemError(f"{what} goes up to {given.max()}; at most {most - 1} is wanted.")
