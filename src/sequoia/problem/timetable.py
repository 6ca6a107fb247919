"""A timetable that keeps all promises: in which steps each arm is visited at the latest."""

from dataclasses import dataclass
from math import lcm

import numpy as np

from sequoia.errors import InfeasibleSpace
from sequoia.problem.names import count, say
from sequoia.problem.promises import NEVER, Promises
from sequoia.problem.spaces import ActionSpace
from sequoia.validation import ActionArray, FloatArray, IntArray

# Steps after which a timetable repeats itself at the latest: each is filled and checked.
_MOST_STEPS = 2_000
# Orders in which arms are tried.
_ORDERS = 8


@dataclass(frozen=True, eq=False)
class Timetable:
    """Arm ``j`` can be visited in all steps ``t`` with ``t % period[j] == phase[j]``, together.

    So whoever visits an arm in such a step, unless its promise can wait for its next one, keeps all
    promises, whatever is visited besides (rounding periods so that they divide each other is the
    specialisation of pinwheel scheduling; Holte et al. 1989).

    Attributes
    ----------
    period, phase
        ``(J,)``; a period of 0 for arms without a deadline.
    """

    period: IntArray
    phase: IntArray

    def wait(self, steps: IntArray) -> IntArray:
        """Return how long after each of ``steps`` an arm's next turn is, ``(B, J)``; at least 1."""
        period = np.maximum(self.period, 1)
        wait: IntArray = (self.phase - steps[:, None] - 1) % period + 1
        return np.where(self.period > 0, wait, NEVER)


def make_timetable(space: ActionSpace, promises: Promises, column: IntArray) -> Timetable:
    """Find a timetable with the staff that there usually is.

    Parameters
    ----------
    column
        The action column of each arm that has a deadline, ``(J,)``.

    Raises
    ------
    InfeasibleSpace
        When none is found; with the first step at which a promise cannot be kept.
    """
    first = first_deadline(promises)
    costs = space.today.knapsack[0][column]
    arms = np.flatnonzero(promises.has_deadline)
    for period in _periods(promises):
        for attempt in range(_ORDERS):
            filled = _Filling(space.today, column, period, first).fill(
                _order(arms, period, first, costs, attempt)
            )
            if filled is not None:
                return Timetable(period, filled)
    raise InfeasibleSpace(_why_not(space.today, promises, column, first))


def first_deadline(promises: Promises) -> IntArray:
    """Return the step by which each arm is first visited at the latest, ``(J,)``."""
    since = np.where(promises.since > 0, promises.since, 1)
    last = np.where(promises.since > 0, promises.every - since, promises.every - 1)
    once = promises.once_in * (1 + promises.is_done) - 1 - promises.into
    result: IntArray = np.where(
        promises.every > 0, last, np.where(promises.once_in > 0, once, NEVER)
    )
    return result


def _periods(promises: Promises) -> list[IntArray]:
    """Return periods to try: as promised, then rounded down so that they divide each other.

    Arms whose periods have no common divisor meet some time, whatever their phases are.
    """
    period = promises.period
    given = np.unique(period[period > 0])
    if not len(given):
        return [period]
    is_fixed = (promises.once_in > 0) | (period == 0)
    periods = [period]
    for base in range(int(given[0]), int(given[0]) // 2, -1):
        doubled = base * 2 ** np.floor(np.log2(np.maximum(period, base) / base)).astype(np.int64)
        rounded = np.where(is_fixed, period, np.minimum(doubled, period))
        # Visits that are apart enough as promised have to stay so.
        periods.append(np.where(rounded < promises.apart, period, rounded))
    return [
        candidate
        for candidate in periods
        if lcm(*np.unique(candidate[candidate > 0]).tolist()) <= _MOST_STEPS
    ]


def _order(
    arms: IntArray, period: IntArray, first: IntArray, costs: FloatArray, attempt: int
) -> IntArray:
    """Return the arms with the least choice first; later attempts are shuffled a little."""
    noise = np.random.default_rng(attempt).random(len(arms)) * attempt
    choice = np.minimum(period, first + 1)[arms]
    return arms[np.lexsort((noise - costs[arms], choice))]


class _Filling:
    """The arms that are visited in each step so far."""

    def __init__(
        self, space: ActionSpace, column: IntArray, period: IntArray, first: IntArray
    ) -> None:
        self._space, self._column, self._period, self._first = space, column, period, first
        given = np.unique(period[period > 0]).tolist()
        self._actions = np.zeros((lcm(*given) if given else 1, space.n_actions), dtype=np.int8)
        self._costs = space.knapsack[0]

    def fill(self, arms: IntArray) -> IntArray | None:
        """Give each arm a phase, if all find one: where its steps are least full."""
        phase = np.zeros(len(self._period), dtype=np.int64)
        for arm in arms.tolist():
            place = self._place(arm)
            if place is None:
                return None
            phase[arm] = place
        return phase

    def _place(self, arm: int) -> int | None:
        period = int(self._period[arm])
        load = (self._actions @ self._costs).reshape(-1, period).max(axis=0)
        choices = np.arange(min(period, int(self._first[arm]) + 1))
        for phase in choices[np.argsort(load[choices], kind="stable")].tolist():
            tried = self._actions[phase::period].copy()
            tried[:, self._column[arm]] = 1
            if self._space.contains(np.unique(tried, axis=0)).all():
                self._actions[phase::period] = tried
                return int(phase)
        return None


def _why_not(space: ActionSpace, promises: Promises, column: IntArray, first: IntArray) -> str:
    """Say in which step a promise cannot be kept for the first time, and which arms conflict.

    In each step those with the nearest deadlines are visited, as many as can be.
    """
    left = np.where(promises.has_deadline, first, NEVER)
    rest = np.zeros(len(left), dtype=np.int64)
    for step in range(4 * int(promises.period.max(initial=1))):
        due = np.flatnonzero(left == 0)
        action = most_urgent(space, column, left, np.flatnonzero(rest <= 0))
        if not action[column[due]].all():
            conflict = _smallest(space, column[due])
            verb = "have" if len(conflict) > 1 else "has"
            return (
                f"promises cannot be kept: {say(space.names[c] for c in conflict.tolist())} {verb} "
                f"to be visited in step {step} at the latest. "
                f"{space._why_not(_chosen(space, conflict))}"
            )
        visited = (action[column] == 1) & promises.has_deadline
        window = np.maximum(promises.once_in, 1)
        ends = ((step + promises.into) // window + 1) * window - promises.into
        is_once = promises.once_in > 0
        again = np.where(is_once, ends + window - step - 2, promises.every - 1)
        pause = np.where(is_once, ends - step - 1, promises.apart - 1)
        left, rest = np.where(visited, again, left - 1), np.where(visited, pause, rest - 1)
    need = float((1 / promises.period[promises.has_deadline]).sum())
    return (
        f"promises cannot be kept for good: they take {need:.3g} visits in a step on average, for "
        f"which no timetable of {count(int(promises.has_deadline.sum()), 'arm')} was found."
    )


def most_urgent(
    space: ActionSpace, column: IntArray, left: IntArray, arms: IntArray
) -> ActionArray:
    """Return an action that visits arms with the fewest steps left first, as many as can be."""
    action = np.zeros(space.n_actions, dtype=np.int8)
    for arm in arms[np.argsort(left[arms], kind="stable")].tolist():
        if left[arm] >= NEVER // 2:
            break
        action[column[arm]] = 1
        if not space.contains(action[None])[0]:
            action[column[arm]] = 0
    return action


def _smallest(space: ActionSpace, columns: IntArray) -> IntArray:
    """Return columns that cannot be chosen together, while all but any one of them can."""
    for column in columns.tolist():
        fewer = columns[columns != column]
        if not space.contains(_chosen(space, fewer)[None])[0]:
            columns = fewer
    return columns


def _chosen(space: ActionSpace, columns: IntArray) -> ActionArray:
    action = np.zeros(space.n_actions, dtype=np.int8)
    action[columns] = 1
    return action
