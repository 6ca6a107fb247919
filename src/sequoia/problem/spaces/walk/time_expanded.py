"""The time-unrolled graph: one column per arc and step at which it is entered."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.problem.system import LinearSystem, Rows
from sequoia.validation import ActionArray, IntArray


@dataclass(frozen=True, eq=False)
class TimeExpandedGraph:
    """Columns of the paper's path program.

    Attributes
    ----------
    tail, head, depart, arrive
        For each column: the arc's ends, and the steps at which it is entered and left, ``(M,)``.
        Each edge is two arcs; each node has a loop of one step, which is waiting.
    """

    n_nodes: int
    horizon: int
    tail: IntArray
    head: IntArray
    depart: IntArray
    arrive: IntArray

    @classmethod
    def over(
        cls, n_nodes: int, edges: IntArray, lengths: IntArray, horizon: int
    ) -> "TimeExpandedGraph":
        """Unroll a graph over ``horizon`` steps."""
        nodes = np.arange(n_nodes)
        tail = np.concatenate([edges[:, 0], edges[:, 1], nodes])
        head = np.concatenate([edges[:, 1], edges[:, 0], nodes])
        takes = np.concatenate([lengths, lengths, np.ones(n_nodes, dtype=np.int64)])
        arc, depart = np.nonzero(np.arange(horizon) + takes[:, None] <= horizon)
        return cls(n_nodes, horizon, tail[arc], head[arc], depart, depart + takes[arc])

    def system(self, source: int, limit: int, names: Sequence[str]) -> LinearSystem:
        """Return the rows of appendix C over node columns and these columns."""
        size, nodes, horizon = len(self.tail), self.n_nodes, self.horizon
        column = np.arange(size)
        leaves = csr_array((np.ones(size), (self.tail, column)), shape=(nodes, size))
        first = (self.depart == 0) & (self.tail == source)
        last = (self.arrive == horizon) & (self.head == source)
        takes = self.arrive - self.depart
        # Every step of every arc, counted within its arc, is added to the step of its departure.
        within = np.arange(takes.sum()) - np.repeat(takes.cumsum() - takes, takes)
        steps = np.repeat(self.depart, takes) + within
        under_way = csr_array(
            (np.ones(len(steps)), (steps, np.repeat(column, takes))), shape=(horizon, size)
        )
        later = [i * (horizon - 1) for i in range(nodes)]
        coming = np.flatnonzero(self.arrive < horizon)
        going = np.flatnonzero(self.depart > 0)
        offset = np.array(later, dtype=np.int64)
        balance = csr_array(
            (
                np.concatenate([np.ones(len(coming)), -np.ones(len(going))]),
                (
                    np.concatenate(
                        [
                            offset[self.head[coming]] + self.arrive[coming] - 1,
                            offset[self.tail[going]] + self.depart[going] - 1,
                        ]
                    ),
                    np.concatenate([coming, going]),
                ),
            ),
            shape=(nodes * (horizon - 1), size),
        )
        here = names[source]
        return LinearSystem.from_rows(
            [
                Rows.equal(self._plan_rows(first[None, :]), 1.0, [f"begin at {here}"]),
                Rows.equal(self._plan_rows(last[None, :]), 1.0, [f"end at {here}"]),
                Rows.equal(
                    self._plan_rows(under_way),
                    1.0,
                    [f"one move in step {t}" for t in range(horizon)],
                ),
                Rows.equal(
                    self._plan_rows(balance),
                    0.0,
                    [f"leave {name} after step {t}" for name in names for t in range(horizon - 1)],
                ),
                Rows.at_most(
                    sparse.hstack([sparse.eye_array(nodes), -leaves]),
                    0.0,
                    [f"{name} is visited" for name in names],
                ),
                Rows.at_most(
                    sparse.hstack([np.ones((1, nodes)), csr_array((1, size))]),
                    limit,
                    ["number of nodes"],
                ),
            ],
            nodes,
            [
                *names,
                *(
                    f"{names[a]} → {names[b]} in step {t}"
                    for a, b, t in zip(self.tail, self.head, self.depart, strict=True)
                ),
            ],
        )

    def _plan_rows(self, matrix: object) -> csr_array:
        block = csr_array(matrix, dtype=np.float64)
        return sparse.hstack([csr_array((block.shape[0], self.n_nodes)), block], format="csr")

    @cached_property
    def _first(self) -> dict[tuple[int, int], int]:
        """The column of each arc at step 0; those of later steps follow it."""
        begins = np.flatnonzero(self.depart == 0).tolist()
        return {(int(self.tail[c]), int(self.head[c])): c for c in begins}

    def plan(self, route: Sequence[int] | IntArray) -> ActionArray:
        """Return the columns of a walk given by its nodes, waiting at its end."""
        plan = np.zeros(len(self.tail), dtype=np.int8)
        now = 0
        for tail, head in itertools.pairwise(route):
            column = self._first[int(tail), int(head)] + now
            plan[column] = 1
            now = int(self.arrive[column])
        last = int(route[-1])
        waiting = self._first[last, last]
        plan[waiting + now : waiting + self.horizon] = 1
        return plan

    def route(self, plan: ActionArray) -> list[int]:
        """Return the nodes of the walk that ``plan`` stands for, waiting left out."""
        taken = np.flatnonzero(plan)
        taken = taken[np.argsort(self.depart[taken], kind="stable")]
        nodes = [int(self.tail[taken[0]])]
        nodes += [int(self.head[c]) for c in taken if self.head[c] != self.tail[c]]
        return nodes

    def legs(self, plan: ActionArray) -> IntArray:
        """Return the steps that each move of ``plan`` takes, in order, waiting left out."""
        moves = np.flatnonzero((plan == 1) & (self.head != self.tail))
        moves = moves[np.argsort(self.depart[moves])]
        return self.arrive[moves] - self.depart[moves]
