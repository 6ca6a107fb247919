"""Promises kept by construction: the time since the last visit belongs to an arm's state."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sequoia.errors import InfeasibleSpace, ProblemError
from sequoia.problem.action_limits import ActionLimits
from sequoia.problem.arms import Arms
from sequoia.problem.names import count, index_of
from sequoia.problem.promises import NEVER, Promises
from sequoia.problem.purse import SpendingLimit
from sequoia.problem.spaces import ActionSpace
from sequoia.problem.timetable import Timetable, make_timetable
from sequoia.sizes import require_memory
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class PromiseKeeper:
    """Arms whose state is a pair of their own state and a clock, and the limits that follow.

    With Q clock states, state ``s`` with clock ``q`` is number ``s * Q + q``. A visit is a dose
    above 0. The clock of ``every`` and ``apart`` counts steps since the step after the last visit;
    that of ``once_in`` is twice the position in the window, plus whether there was a visit in it.

    Attributes
    ----------
    promises
        What is promised.
    arms, start
        The arms without clocks, and their first states, ``(J, S)``.
    column
        The one action column that reaches each arm, ``(J,)``; -1 where there is none.
    timetable
        What forces visits in time.
    usual
        The space with the staff that there usually is.
    """

    promises: Promises
    arms: Arms
    start: FloatArray
    column: IntArray
    timetable: Timetable
    usual: ActionSpace

    @classmethod
    def of(
        cls,
        promises: Promises,
        arms: Arms,
        start: FloatArray,
        influence: csr_array,
        space: ActionSpace,
    ) -> "PromiseKeeper":
        """Return what keeps promises to ``arms``, with a timetable for the usual staff."""
        if len(promises.every) != arms.n_arms:
            raise ProblemError(
                f"promises are for {len(promises.every)} arms; {arms.n_arms} are wanted."
            )
        column = np.full(arms.n_arms, -1)
        reached = np.diff(influence.indptr)
        column[reached == 1] = influence.indices[influence.indptr[:-1][reached == 1]]
        is_bound = promises.has_deadline | (promises.apart > 0)
        wrong = np.flatnonzero(is_bound & (column < 0))
        if len(wrong):
            raise ProblemError(
                f"promises: {reached[wrong[0]]} actions reach {arms.names[wrong[0]]}; just one is "
                "wanted."
            )
        table = make_timetable(space, promises, column)
        return cls(promises, arms, start, column, table, space.today)

    @cached_property
    def n_clock(self) -> int:
        """``Q``, enough for every arm."""
        promises = self.promises
        return int(max(1, promises.every.max(), promises.apart.max(), 2 * promises.once_in.max()))

    @cached_property
    def _kinds(self) -> tuple[IntArray, IntArray]:
        """Model, every, apart and once_in of each kind of arm, ``(G, 4)``, and that of each arm."""
        promises = self.promises
        rows = np.stack([self.arms.model, promises.every, promises.apart, promises.once_in], axis=1)
        kinds, kind = np.unique(rows, axis=0, return_inverse=True)
        return kinds, kind.reshape(-1)

    @cached_property
    def _clocks(self) -> tuple[IntArray, BoolArray]:
        """Return the next clock by kind, visit and clock, and which are barred, ``(G, 2, Q)``."""
        clock = np.arange(self.n_clock)
        following = np.zeros((len(self._kinds[0]), 2, self.n_clock), dtype=np.int64)
        barred = np.zeros(following.shape, dtype=np.bool_)
        for kind, (_, every, apart, once_in) in enumerate(self._kinds[0].tolist()):
            if once_in:
                place, is_visited = clock // 2, clock % 2 == 1
                is_last = place >= once_in - 1
                ahead = np.where(is_last, 0, 2 * (place + 1))
                following[kind, 0] = np.where(is_last, 0, ahead + is_visited)
                following[kind, 1] = np.where(is_last, 0, ahead + 1)
                barred[kind, 0] = is_last & ~is_visited
                barred[kind, 1] = is_visited
            else:
                last = max(every, apart, 1) - 1
                following[kind, 0] = np.minimum(clock + 1, last)
                barred[kind, 0] = (every > 0) & (clock >= every - 1)
                barred[kind, 1] = clock < apart - 1
        return following, barred

    @cached_property
    def augmented(self) -> Arms:
        """The arms with clocks."""
        base, size = self.arms, self.n_clock
        kinds, kind = self._kinds
        following, _ = self._clocks
        models, levels, states = len(kinds), base.n_doses, base.n_states
        what = f"arms with {states} states and clocks of {size} steps"
        require_memory(what, float(models) * levels * (states * size) ** 2)
        kernels = np.zeros((models, levels, states, size, states, size))
        clock = np.arange(size)
        for which, model in enumerate(kinds[:, 0].tolist()):
            for level in range(levels):
                then = following[which, int(level > 0)]
                kernels[which, level][:, clock, :, then] = base.kernels[model, level]
        return Arms(
            rewards=np.repeat(base.rewards[kinds[:, 0]], size, axis=1),
            doses=base.doses[kinds[:, 0]],
            kernels=kernels.reshape(models, levels, states * size, states * size),
            model=kind,
            names=base.names,
            state_names=self._state_names(),
            dose_names=base.dose_names,
        )

    def _state_names(self) -> Sequence[str]:
        return [f"{name}, clock {q}" for name in self.arms.state_names for q in range(self.n_clock)]

    @cached_property
    def barred(self) -> BoolArray:
        """The dose levels that an arm's state does not allow, ``(J, L, S * Q)``."""
        _, barred = self._clocks
        by_level = barred[:, np.minimum(np.arange(self.arms.n_doses), 1)]
        return np.tile(by_level, (1, 1, self.arms.n_states))[self._kinds[1]]

    def first_clock(self) -> IntArray:
        """Return the clock of each arm at the first step, ``(J,)``."""
        promises, table = self.promises, self.timetable
        kept = np.where(promises.every > 0, np.maximum(table.period - 1 - table.phase, 0), NEVER)
        kept = np.where(
            promises.every > 0, np.maximum(kept, promises.apart - 1 - table.phase), kept
        )
        clock = np.where(promises.since > 0, promises.since - 1, kept)
        last = np.maximum(np.maximum(promises.every, promises.apart), 1) - 1
        return np.where(
            promises.once_in > 0, 2 * promises.into + promises.is_done, np.minimum(clock, last)
        )

    def with_clocks(self, states: IntArray, clocks: IntArray) -> IntArray:
        """Return states of arms with clocks."""
        return states * self.n_clock + clocks

    def first_states(self) -> FloatArray:
        """Return the first states with clocks, ``(J, S * Q)``."""
        clock = np.eye(self.n_clock)[self.first_clock()]
        start = self.start[:, :, None] * clock[:, None, :]
        return start.reshape(len(start), -1)

    def left(self, states: IntArray) -> IntArray:
        """Return how many steps each arm's visit can wait at most, ``(B, J)``; 0 is now."""
        promises, clock = self.promises, states % self.n_clock
        place, is_visited = clock // 2, clock % 2 == 1
        once = np.where(is_visited, NEVER, promises.once_in - 1 - place)
        return np.where(
            promises.every > 0,
            promises.every - 1 - clock,
            np.where(promises.once_in > 0, once, NEVER),
        )

    def turns_until(self, steps: IntArray, ends: IntArray, matrix: csr_array) -> IntArray:
        """Return how many turns come after each of ``steps``, before ``ends`` more, ``(B, R)``.

        Parameters
        ----------
        ends
            Steps to the end of a window, this one included, ``(B, R)``.
        matrix
            Which columns count, ``(R, N)``.
        """
        period = np.maximum(self.timetable.period, 1)
        first = self.timetable.wait(steps)[:, None, :]
        turns = np.where(first < ends[:, :, None], (ends[:, :, None] - 1 - first) // period + 1, 0)
        counts = matrix.toarray()[:, np.maximum(self.column, 0)] * (self.timetable.period > 0)
        result: IntArray = (turns * counts).sum(axis=2).astype(np.int64)
        return result

    def require_within(self, limits: Sequence[SpendingLimit], matrix: csr_array) -> None:
        """Raise `InfeasibleSpace` where promises take more visits than a budget has."""
        period = self.timetable.period
        counts = matrix.toarray()[:, np.maximum(self.column, 0)] * (period > 0)
        for row, limit in enumerate(limits):
            needed = int((counts[row] * -(-limit.steps // np.maximum(period, 1))).sum())
            if needed > limit.most:
                raise InfeasibleSpace(
                    f"promises take up to {count(needed, 'visit')} in {limit.steps} steps; "
                    f"{limit.name} allows {limit.most}."
                )

    def limits(
        self, space: ActionSpace, states: IntArray, steps: IntArray, may_wait: bool = True
    ) -> ActionLimits:
        """Return what keeps every promise: visits that are too early, and those that cannot wait.

        A visit is forced when an arm's next turn would be too late, and no other step before has
        room for it: see `_Day`. Unless they may wait, visits are forced in turns.
        """
        clock = states % self.n_clock
        promises, wait, left = self.promises, self.timetable.wait(steps), self.left(states)
        _, kind = self._kinds
        is_early = self._clocks[1][kind, 1, clock]
        # A visit now would bar the next turn, which then would be needed.
        period = self.timetable.period
        is_early |= (
            (promises.every > 0)
            & (wait < promises.apart)
            & (wait + period > promises.every)
            & (left > 0)
        )
        lower = np.zeros((len(states), space.n_actions), dtype=np.int8)
        upper = np.ones_like(lower)
        arms = np.flatnonzero(self.column >= 0)
        closed_state, closed_arm = np.nonzero(is_early[:, arms])
        upper[closed_state, self.column[arms[closed_arm]]] = 0
        urgent = (left - promises.reserve < wait) & promises.has_deadline & ~is_early
        for row in np.flatnonzero(urgent.any(axis=1)).tolist():
            day = _Day(self, space, int(steps[row]), left[row], may_wait)
            lower[row] = day.forced(np.flatnonzero(urgent[row]))
        return ActionLimits(lower, upper)


class _Day:
    """The visits that are due in one step, and those that can wait.

    A visit that has no turn left may still wait for a later step that has room beside those whose
    turn it is then. If there is such a step for each, there is tomorrow, too: those who come in
    addition have their turn, and room was kept for them. So nothing is forced before it has to be.

    Parameters
    ----------
    left
        Steps until the deadline of each arm, ``(J,)``.
    may_wait
        Whether visits may wait beyond their turns.
    """

    def __init__(
        self, keeper: PromiseKeeper, space: ActionSpace, step: int, left: IntArray, may_wait: bool
    ) -> None:
        self._keeper, self._rules, self._staffed = keeper, space.rules, space.today
        self._step, self._left, self._may_wait = step, left, may_wait
        self._planned: dict[int, ActionArray] = {}

    def forced(self, arms: IntArray) -> ActionArray:
        """Return which columns are forced, ``(N,)``, where ``arms`` have no turn left."""
        names = self._staffed.names
        taken = np.zeros(len(names), dtype=np.int8)
        taken[[index_of("rules", names, name) for name in self._rules.must]] = 1
        closed = {index_of("rules", names, name) for name in self._rules.never}
        column = self._keeper.column
        for arm in arms[np.argsort(self._left[arms], kind="stable")].tolist():
            if self._can_wait(arm):
                continue
            tried = taken.copy()
            tried[column[arm]] = 1
            # What is due now is forced in any case: if it cannot be, that has to be said.
            is_due = self._left[arm] <= 0
            if is_due or (column[arm] not in closed and self._staffed.contains(tried[None])[0]):
                taken = tried
        return taken

    def _can_wait(self, arm: int) -> bool:
        """Look for the last step that has room for a visit; keep it there."""
        if not self._may_wait or self._keeper.promises.apart[arm] > 1:
            return False
        for later in range(int(self._left[arm]) - self._keeper.promises.reserve, 0, -1):
            tried = self._turns(later).copy()
            tried[self._keeper.column[arm]] = 1
            if self._keeper.usual.contains(tried[None])[0]:
                self._planned[later] = tried
                return True
        return False

    def _turns(self, later: int) -> ActionArray:
        """Return what may have to be visited so many steps later, ``(N,)``."""
        if later not in self._planned:
            table, keeper = self._keeper.timetable, self._keeper
            period = np.maximum(table.period, 1)
            is_turn = (self._step + later - table.phase) % period == 0
            needed = (table.period > 0) & is_turn & (self._left < later + period)
            action = np.zeros(self._staffed.n_actions, dtype=np.int8)
            action[keeper.column[needed & (self._left >= later)]] = 1
            self._planned[later] = action
        return self._planned[later]
