"""The interface of an action space; a decision as tasks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import InfeasibleDecision, ProblemError, SolverFailed, TooLarge
from sequoia.problem.iis import no_decision
from sequoia.problem.names import count, say
from sequoia.problem.rules import Rules
from sequoia.problem.system import Decision, LinearSystem, Rows
from sequoia.problem.tables import TableSet
from sequoia.shown import Columns, Shown
from sequoia.solvers import Highs, Limits, Program, Status
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray, frozen

_CHUNK = 65_536
_DRAWS = 5
# A draw needs a maximal action, not the heaviest; work is limited, so that the same seed draws the
# same on any machine.
_DRAWING = Limits(nodes=1_000)

# From weights, ``(N,)``, to a best action, proven; ``None`` where a solver is needed.
Maximiser = Callable[[FloatArray], ActionArray | None]
# From weights and limits to an action and a bound: see `ActionSpace.bracket_linear`.
Bracketer = Callable[[FloatArray, Limits], tuple[ActionArray, float] | None]


class Task(NamedTuple):
    """One line of a plan that a person carries out; what does not apply is empty."""

    who: str
    when: str
    where: str
    do: str


@dataclass(frozen=True, eq=False)
class Extensions:
    """The feasible one-component extensions of a decision.

    Attributes
    ----------
    columns
        The action column that each extension adds, ``(G,)``.
    priority
        Whose turn each extension belongs to, ``(G,)``: a step-by-step builder takes the lowest
        first (workers in the paper's order, appendix D).
    costs
        What each extension uses up, ``(G,)``.
    extend
        Builds the decision of the g-th extension.
    """

    columns: IntArray
    priority: IntArray
    costs: FloatArray
    extend: Callable[[int], Decision]

    def __len__(self) -> int:
        return len(self.columns)

    def __getitem__(self, index: int) -> Decision:
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.extend(index)

    def only(self, keep: BoolArray) -> "Extensions":
        """Return the extensions for which ``keep`` is true."""
        kept = np.flatnonzero(keep)
        return Extensions(
            self.columns[kept],
            self.priority[kept],
            self.costs[kept],
            lambda index: self.extend(int(kept[index])),
        )

    def with_column(self, column: int) -> Decision | None:
        """Return the extension that adds ``column``; ``None`` where none does.

        Of several, the first by priority, then by cost, as the paper's step-by-step baselines do.
        """
        places = np.flatnonzero(self.columns == column)
        if not len(places):
            return None
        order = np.lexsort((self.costs[places], self.priority[places]))
        return self[int(places[order[0]])]


class ActionSpace(Shown, ABC):
    """The joint actions that are allowed in one step.

    Attributes
    ----------
    is_down_closed
        Whether whatever is feasible stays feasible when a column is dropped.
    is_refusal_final
        Whether columns that are not feasible alone are not in company, either, and a solver is a
        poor way to prove it.
    has_quick_program
        Whether a solver finds the best action of `compact` quickly by itself.
    most_columns_to_list
        With how many columns `enumerate` is worth trying; ``None`` where it says so itself.
    why_not_iterative
        Why the paper's step-by-step baselines do not apply here; ``None`` where they do.
    worker_names, slot_names
        Who acts, and when; nobody and never, unless a space says.
    """

    kind: ClassVar[str]
    is_down_closed: ClassVar[bool] = True
    is_refusal_final: ClassVar[bool] = False
    has_quick_program: bool = True
    most_columns_to_list: ClassVar[int | None] = None
    why_not_iterative: str | None = None
    names: Sequence[str]
    worker_names: Sequence[str] = ()
    slot_names: Sequence[str] = ()

    @property
    def n_actions(self) -> int:
        """``N``, the number of action columns."""
        return len(self.names)

    @property
    def argmax_microseconds(self) -> float:
        """About how long an argmax of a linear function takes, the same on every machine.

        Sizes of training follow from it. Measured with 20 to 100 columns; see ``sizes.py``.
        """
        return 10.0 + self.n_actions

    @property
    def decision_seconds(self) -> float:
        """About how long a decision takes that is as good as work allows."""
        return 1e-6 * self.argmax_microseconds

    @property
    @abstractmethod
    def system(self) -> LinearSystem:
        """The rules as the paper writes them (appendix C); all columns binary."""

    @property
    def compact(self) -> LinearSystem:
        """An equivalent over the same action columns that solves faster."""
        return self.system

    @property
    def slim(self) -> LinearSystem:
        """An equivalent over the same action columns from whose relaxation prices are found.

        `compact`, unless there is one with fewer rows, or one that is tighter.
        """
        return self.compact

    @abstractmethod
    def sample(self, rng: np.random.Generator) -> Decision:
        """Return a random feasible decision; every maximal one has a real chance."""

    @abstractmethod
    def extensions(self, decision: Decision) -> Extensions:
        """List what can be added to ``decision`` while its plan is kept."""

    @abstractmethod
    def describe(self, decision: Decision) -> list[str]:
        """Say ``decision`` in words, one line per worker, slot or walk."""

    def tasks(self, decision: Decision) -> list[Task]:
        """Return what is to be done for ``decision``, in the order in which it is done."""
        chosen = [Task("", "", name, "act") for name in self.chosen(decision.action)]
        plan = self.system.column_names[self.n_actions :]
        also = [plan[column] for column in np.flatnonzero(decision.plan).tolist()]
        return chosen + [Task("", "", name, "plan") for name in also]

    def summary(self) -> str:
        """Say in one line what is allowed."""
        names = list(self.system.row_names)
        shown = say(names if len(names) <= 6 else [*names[:5], f"{len(names) - 5} more"])
        return f"{self.kind}: {count(len(names), 'row')} ({shown})"

    def _lines(self) -> list[str]:
        """Return how many columns there are and, below, what is allowed."""
        return [f"{type(self).__name__} of {count(self.n_actions, 'action')}", self.summary()]

    def _shown_table(self) -> Columns:
        """Return the name of each column and what it costs."""
        return {"action": self.names, "cost": self.knapsack[0]}

    def named(self, names: Sequence[str]) -> "ActionSpace":
        """Return this space with other names of its columns.

        A space with rules, which go by the old names, is returned as it is.
        """
        return replace(self, names=names) if is_dataclass(self) else self

    @abstractmethod
    def to_tables(self) -> TableSet:
        """Return the options and tables that define this space."""

    @property
    def knapsack(self) -> tuple[FloatArray, float]:
        """The cost of each column, ``(N,)``, not negative, and the most that an action costs."""
        return np.ones(self.n_actions), float(self.n_actions)

    @property
    def settled(self) -> ActionArray:
        """The value of columns in every action, ``(N,)``: 0 or 1; -1 where that is open."""
        return np.full(self.n_actions, -1, dtype=np.int8)

    @property
    def base(self) -> "ActionSpace":
        """The space without extra rules."""
        return self

    @property
    def rules(self) -> Rules:
        """The extra rules on top of `base`."""
        return Rules()

    @property
    def loose(self) -> "ActionSpace":
        """A larger, simpler space that training may use in place of this one."""
        return self

    @property
    def today(self) -> "ActionSpace":
        """The space without extra rules, with the staff of today."""
        return self

    def absent(self, workers: Iterable[str]) -> "ActionSpace":
        """Return this space on a day when some workers are off."""
        return self._with_hours("absent", dict.fromkeys(workers, 0.0))

    def with_hours(self, hours: Mapping[str, float]) -> "ActionSpace":
        """Return this space on a day when some workers have so many hours, instead of theirs."""
        return self._with_hours("hours", hours)

    def _with_hours(self, where: str, hours: Mapping[str, float]) -> "ActionSpace":
        if not hours:
            return self
        raise ProblemError(
            f"a {self.kind} space has no workers, so {say(hours)} cannot be off or have other "
            "hours."
        )

    def usual_hours(self, worker: str) -> float:
        """Return how many hours a worker has, in the sense of `with_hours`."""
        raise ProblemError(f"a {self.kind} space has no workers, so {worker!r} has no hours.")

    def half_day(self, worker: str) -> float:
        """Return half of the hours that a worker has, in the sense of `with_hours`."""
        return self.usual_hours(worker) / 2

    def visit_columns(self, arm: int, worker: int | None, slot: int | None) -> IntArray:
        """Return the columns of `system` that are visits to an arm, by a worker, in a slot.

        ``None`` stands for any worker or any slot.
        """
        del arm, worker, slot
        raise ProblemError(f"a {self.kind} space has no visits of workers that could be locked.")

    def with_lock(self, arm: int, worker: int | None, slot: int | None) -> "ActionSpace | None":
        """Return a space of this kind in which an arm is only visited by a worker, in a slot.

        ``None`` where that says more, or less, than that one visit is so.
        """
        return None

    def with_bonus(self, bonus: FloatArray) -> "ActionSpace":
        """Return this space where a visit by a worker to an arm is worth more, ``(W, N)``.

        What `argmax_linear` maximises has that on top, and plans of an action have as much as can
        be.
        """
        del bonus
        raise ProblemError(f"a {self.kind} space cannot prefer one worker to another.")

    def with_order(self, arms: Sequence[int]) -> "ActionSpace":
        """Return this space with ``arms`` served on one route, straight one after the other."""
        del arms
        raise ProblemError(f"a {self.kind} space has no routes of workers that could be locked.")

    @cached_property
    def idle(self) -> Decision:
        """The decision to do nothing, feasible or not, with a plan if there is one."""
        action = np.zeros(self.n_actions, dtype=np.int8)
        plan = self._plan(action)
        return self._decision([]) if plan is None else Decision(action, plan)

    def chosen(self, action: ActionArray) -> list[str]:
        """Return the names of the columns that ``action`` chooses."""
        return [self.names[column] for column in np.flatnonzero(action).tolist()]

    def contains(self, actions: ArrayLike) -> BoolArray:
        """Say for each action of a batch, ``(B, N)``, whether a feasible plan for it exists."""
        actions = np.asarray(actions, dtype=np.int8)
        if self.compact.n_columns == self.n_actions:
            return self.compact.holds(actions)
        return np.array([self._plan(action) is not None for action in actions], dtype=np.bool_)

    @property
    def has_quick_contains(self) -> bool:
        """Whether `contains` takes a few steps for each action, and no search."""
        return self.compact.n_columns == self.n_actions

    def contains_quick(self, actions: ArrayLike) -> BoolArray:
        """Say quickly which actions are feasible; a feasible one may be missed."""
        return self.contains(actions)

    def argmax_linear(self, weights: FloatArray) -> ActionArray | None:
        """Return a feasible action with the largest sum of ``weights``, ``(N,)``, proven.

        ``None`` where a solver is needed.
        """
        return None

    def argmax_under(self, rows: Rows, settled: ActionArray) -> Maximiser | None:
        """Return what `argmax_linear` is with further rows over the action columns.

        Parameters
        ----------
        settled
            What columns have to be, ``(N,)``: 0 or 1; -1 for any.

        Returns
        -------
        ``None`` where the space knows no way of its own. What is returned says ``None`` where it
        finds nothing that is allowed, too.
        """
        return None

    def argmax_linear_batch(self, weights: FloatArray) -> ActionArray | None:
        """Return such an action for each row of ``weights``, ``(B, N)``, all at once.

        ``None`` where that is no quicker than row by row.
        """
        return None

    def bracket_linear(
        self,
        weights: FloatArray,
        limits: Limits,
    ) -> tuple[ActionArray, float] | None:
        """Return a feasible action of large weight, and a bound that no action's weight exceeds.

        For spaces where a proof may take long: they stop within a relative gap, or when time is up,
        with the best that they have. ``None`` where a solver does as well.
        """
        return None

    def bracket_under(self, rows: Rows) -> Bracketer | None:
        """Return what `bracket_linear` is with further rows over the action columns.

        ``None`` where the space knows no way of its own.
        """
        return None

    def construct_linear(self, weights: FloatArray) -> ActionArray | None:
        """Return a feasible action with a large sum of weights for each row, ``(B, N)``.

        Not proven, but quick where `argmax_linear` takes milliseconds; ``None`` where no help.
        """
        return None

    @property
    def constructs_well(self) -> bool:
        """Whether what `construct_linear` returns is mostly within a per cent of the best."""
        return False

    def certify(self, action: ArrayLike) -> Decision:
        """Return ``action`` with a plan that satisfies the system.

        Raises
        ------
        InfeasibleDecision
            When there is no such plan; the message says why.
        """
        action = frozen("action", action, np.int8, (self.n_actions,))
        plan = self._plan(action)
        if plan is None:
            raise InfeasibleDecision(self._why_not(action))
        decision = Decision(action, plan)
        self.system.require(decision)
        return decision

    def compact_plan(self, action: ActionArray) -> FloatArray:
        """Return plan columns of `compact` for a feasible ``action``."""
        values = self._settle(self.compact.program(np.zeros(self.n_actions), fixed=action))
        if values is None:
            raise InfeasibleDecision(self._why_not(action))
        return values[self.n_actions :]

    def enumerate(self, cap: int) -> ActionArray:
        """Return every feasible action, ``(A, N)``, the empty one first.

        Raises
        ------
        TooLarge
            When there are more than ``cap``, or finding them takes over 8 tries for each.
        """
        most = self.most_columns_to_list
        if most is not None and self.n_actions > most:
            raise TooLarge(
                f"listing the actions of a {self.kind} with {self.n_actions} arms takes too long; "
                f"at most {most} arms are allowed."
            )
        level = np.zeros((1, self.n_actions), dtype=np.int8)
        level = level[self.contains(level)]
        levels = [level]
        while len(level):
            last = np.where(level == 1, np.arange(self.n_actions), -1).max(axis=1, initial=-1)
            parent, column = np.nonzero(np.arange(self.n_actions) > last[:, None])
            self._limit_tries(sum(map(len, levels)) + len(parent), cap)
            room = cap - sum(map(len, levels))
            level = self._extended(level, parent, column, room)
            if len(level) > room:
                raise self._too_many(cap)
            levels.append(level)
        return np.concatenate(levels)

    def _extended(
        self, level: ActionArray, parent: IntArray, column: IntArray, room: int
    ) -> ActionArray:
        """Return the feasible part of ``level[parent]`` plus ``column``; stop past ``room``."""
        kept = [level[:0]]
        for first in range(0, len(parent), _CHUNK):
            part = level[parent[first : first + _CHUNK]]
            part[np.arange(len(part)), column[first : first + _CHUNK]] = 1
            kept.append(part[self.contains(part)])
            if sum(map(len, kept)) > room:
                break
        return np.concatenate(kept)

    def _limit_tries(self, tries: int, cap: int, per_action: int = 8) -> None:
        if tries > per_action * cap:
            raise TooLarge(
                f"listing up to {cap} actions of the {self.kind} space takes more than "
                f"{per_action * cap} tries."
            )

    def _too_many(self, cap: int) -> TooLarge:
        return TooLarge(f"the {self.kind} space has more than {cap} feasible actions.")

    def _decision(self, columns: Iterable[int]) -> Decision:
        values = np.zeros(self.system.n_columns, dtype=np.int8)
        values[list(columns)] = 1
        return Decision(values[: self.n_actions], values[self.n_actions :])

    def _plan(self, action: ActionArray) -> ActionArray | None:
        """Return plan columns for ``action``, or ``None`` when there are none."""
        if self.system.n_columns == self.n_actions:
            return action[:0] if self.system.holds(action[None, :])[0] else None
        program = self.system.program(np.zeros(self.n_actions), fixed=action)
        values = self._settle(program)
        return None if values is None else values[self.n_actions :].astype(np.int8)

    def _settle(self, program: Program) -> FloatArray | None:
        """Return a feasible point, or ``None`` when it is proven that there is none."""
        solution = Highs().solve(program)
        if solution.values is None and solution.status is not Status.INFEASIBLE:
            raise SolverFailed(f"the solver could not settle a plan of the {self.kind} space.")
        return solution.values

    def _why_not(self, action: ActionArray) -> str:
        """Say why ``action`` has no plan."""
        together = " together" if action.sum() > 1 else ""
        refused = f"{say(self.chosen(action))} cannot be chosen{together}"
        if self.compact.n_columns == self.n_actions:
            broken = self.compact.violations(Decision(action, action[:0]))
            return f"{refused} ({'; '.join(broken)})."
        return f"{refused}: no plan for it satisfies the {self.kind} rules."

    def _draw_by_program(self, rng: np.random.Generator) -> Decision:
        """Draw by maximising random positive weights: every maximal action has a chance."""
        for _ in range(_DRAWS):
            weights = np.exp(2.0 * rng.standard_normal(self.n_actions))
            solution = Highs().solve(self.compact.program(weights), _DRAWING)
            if solution.status is Status.INFEASIBLE:
                raise no_decision(self.compact)
            # A solver takes rules for kept that are broken by less than its tolerance.
            if (
                solution.values is not None
                and self.compact.whole_rows.holds(solution.values[None])[0]
            ):
                return self.certify(solution.values[: self.n_actions])
        raise SolverFailed(f"no decision of the {self.kind} space was found in {_DRAWS} draws.")
