"""Dependencies in an instance of RDDL, and their distance from the reward."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.interop.rddl.compiler import Array, Compiler, scope_of
from sequoia.interop.rddl.layout import Layout
from sequoia.interop.rddl.reading import RddlModel
from sequoia.interop.rddl.rules import RuleBook
from sequoia.interop.rddl.support import Support, Supports, swapped
from sequoia.problem import Dependencies
from sequoia.validation import BoolArray, FloatArray, IntArray

# Types of up to so many objects are seen object by object.
_FEW_OBJECTS = 32
# What helps by way of something else is worth this share of it.
SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Structure:
    """The dependencies of every next value, of the reward and of every precondition.

    Attributes
    ----------
    following
        For each of the D components, the variables that its next value depends on, ``(D, 2 V)``
        as in `Support`. Variables are components, then ground actions.
    reward
        The same of the reward, ``(1, 2 V)``.
    opening
        The same of what allows each action column, ``(N, 2 V)``.
    kept
        Numbers of the ground actions that are columns, ``(N,)``.
    """

    layout: Layout
    following: csr_array
    reward: csr_array
    opening: csr_array
    kept: IntArray

    @classmethod
    def of(
        cls, model: RddlModel, layout: Layout, compiler: Compiler, rules: RuleBook
    ) -> "Structure":
        """Find it."""
        lifted = model.lifted
        size = sum(layout.size(name) for name in layout.states)
        known = _leaves(layout, size)
        finder = Supports(model, compiler, known, size + layout.n_actions)
        needed = [
            finder.of(expression, scope).spread(compiler.sizes(scope))
            for expression, scope in rules.terms
        ]
        for name in model.order:
            parameters, expression = lifted.cpfs[name]
            shape = layout.shape(name)
            known[name] = Support(shape, finder.of(expression, scope_of(parameters)).spread(shape))
        rows = [known[lifted.next_state[name]].rows for name in layout.states]
        nothing = csr_array((0, 2 * (size + layout.n_actions)), dtype=np.int8)
        terms = csr_array(sparse.vstack([nothing, *needed], format="csr"))
        if_true, if_false = rules.opening
        return cls(
            layout,
            csr_array(sparse.vstack(rows, format="csr")),
            finder.of(lifted.reward, ()).rows,
            csr_array(if_true @ terms + if_false @ swapped(terms)),
            rules.kept,
        )

    @property
    def dependencies(self) -> Dependencies | None:
        """The components and action columns that each component depends on.

        ``None`` where a column reaches no component: then it says too little to learn by.
        """
        layout, reached = self.layout, self._reached
        among = csr_array(((self._read + reached @ self._opened_by) != 0) * 1).tolil()
        among.setdiag(0)
        if (reached.sum(axis=0) == 0).any():
            return None
        kinds = np.repeat(np.arange(len(layout.states)), [layout.size(n) for n in layout.states])
        acts = np.repeat(np.arange(len(layout.actions)), [layout.size(n) for n in layout.actions])
        features = layout.fixed_features(_FEW_OBJECTS)
        return Dependencies(csr_array(among), reached, kinds, acts[self.kept], features)

    def reads_any(self, components: BoolArray) -> BoolArray:
        """Say which columns do or earn something that depends on some of the components, ``(N,)``.

        What allows a column counts, too.
        """
        if (components & self._is_rewarding).any():
            return np.ones(len(self.kept), dtype=np.bool_)
        changed = components.astype(np.int64)
        read = self._reached.T @ (self._read @ changed) + self._opened_by @ changed
        is_read: BoolArray = read > 0
        return is_read

    def may_matter(self, column: int, component: int | None) -> IntArray:
        """Return the components on which it may depend what a column makes of a component.

        Of the reward where that is ``None``. A negative column is none: time alone.
        """
        is_read = self._is_rewarding.copy()
        if component is not None:
            is_read[:] = False
            is_read[_columns_of(self._read, component)] = True
        if column >= 0:
            is_read[_columns_of(self._opened_by, column)] = True
        return np.flatnonzero(is_read)

    @cached_property
    def _read(self) -> csr_array:
        """The components that the next value of a component depends on, ``(D, D)``."""
        return self._unsigned(self.following)[:, : self.following.shape[0]]

    @cached_property
    def _reached(self) -> csr_array:
        """The columns that the next value of a component depends on, ``(D, N)``."""
        return csr_array(self._unsigned(self.following)[:, self.following.shape[0] + self.kept])

    @cached_property
    def _opened_by(self) -> csr_array:
        """The components that allow or forbid a column, ``(N, D)``."""
        return self._unsigned(self.opening)[:, : self.following.shape[0]]

    @cached_property
    def _is_rewarding(self) -> BoolArray:
        """The components that the reward depends on, ``(D,)``."""
        read = self._unsigned(self.reward)[:, : self.following.shape[0]]
        is_rewarding: BoolArray = np.asarray(read.sum(axis=0)).reshape(-1) > 0
        return is_rewarding

    @staticmethod
    def _unsigned(rows: csr_array) -> csr_array:
        """Return what rows depend on in either direction, ``(R, V)``."""
        half = rows.shape[1] // 2
        return csr_array(((rows[:, :half] + rows[:, half:]) != 0) * 1)

    def relevance(self, first: Array) -> FloatArray:
        """Return how much it helps the reward that a component leaves its first value, ``(D,)``.

        1 where the reward itself grows, a half where that helps something else that the reward
        grows with, or allows it, and so on; 0 where it does not help, or harms as soon. Planners
        go backwards from the goal in this way to find landmarks (Hoffmann, Porteous and Sebastia
        2004); here only the direction is kept, not what is necessary.
        """
        larger, smaller = self._by_direction
        # What is true or positive at first can only become smaller, as far as is known.
        helps = np.where(first > 0, smaller, larger)
        harms = np.where(first > 0, larger, smaller)
        worth: FloatArray = np.where(helps < harms, SHARE**helps, 0.0)
        return worth

    @property
    def is_better_false(self) -> BoolArray:
        """Components that help the reward sooner by being small than by being large, ``(D,)``."""
        larger, smaller = self._by_direction
        is_better: BoolArray = smaller < larger
        return is_better

    @cached_property
    def _by_direction(self) -> tuple[FloatArray, FloatArray]:
        """The distance of the reward from each component's being larger, and smaller, ``(D,)``."""
        size, half = self.following.shape[0], self.following.shape[1] // 2
        depth = self._depths()
        return depth[:size], depth[half : half + size]

    def _depths(self) -> FloatArray:
        """Return how many steps of reasoning lie between the reward and each variable, ``(2 V,)``.

        In the first half, that it be larger, in the second, smaller; infinite where that does not
        help. Actions lie between: what allows one is as far as what it does.
        """
        size, half = self.following.shape[0], self.following.shape[1] // 2
        columns = size + self.kept
        rows = np.concatenate([np.arange(size), half + np.arange(size), columns])
        helped = sparse.vstack([self.following, swapped(self.following), self.opening]).tocoo()
        helps = csr_array(
            (np.ones(helped.nnz), (rows[helped.row], helped.col)), shape=(2 * half, 2 * half)
        )
        depth = np.full(2 * half, np.inf)
        reached = np.asarray(self.reward.sum(axis=0)).reshape(-1) > 0
        level = 0
        while (new := reached & np.isinf(depth)).any():
            depth[new] = level
            reached = (new.astype(float) @ helps) > 0
            level += 1
        return depth


def _leaves(layout: Layout, size: int) -> dict[str, Support]:
    """Return the supports of states and actions: each depends on itself."""
    count = size + layout.n_actions
    every = csr_array(sparse.eye_array(count, 2 * count, dtype=np.int8))
    firsts = {
        name: part.start for name, (part, _) in zip(layout.states, layout.ranges, strict=True)
    }
    firsts |= {name: size + first for name, first in layout.columns.items()}
    return {
        name: Support(layout.shape(name), every[first : first + layout.size(name)])
        for name, first in firsts.items()
    }


def _columns_of(matrix: csr_array, row: int) -> IntArray:
    columns: IntArray = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    return columns
