"""The best action where the doses of a few arms are worth more, or less, together: exact."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from sequoia.errors import SolverFailed
from sequoia.optimize.builder import ProgramBuilder
from sequoia.optimize.dose_groups import DoseGroup
from sequoia.optimize.encoding import ActionEncoding, few_actions
from sequoia.optimize.exact_solve import solve_exactly_by_rules
from sequoia.optimize.linear.group_knapsack import GroupKnapsack
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.result import ArgmaxResult, is_close
from sequoia.problem.iis import no_decision
from sequoia.solvers import HIDDEN_SHARE, Limits, Program, Solver, Status, default_solver
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# Actions and states that are looked at together.
_BATCH = 2_000_000
# With more actions a dynamic program, and even a solver's, is quicker.
_MOST_LISTED = 5_000
# Tables and hidden units add the same numbers up in another order.
_ROUNDING = 1e-9


class DoseTableArgmax:
    """Maximises a sum over groups of arms of a table of their doses.

    Few actions are listed; with one budget there is a dynamic program, `GroupKnapsack`. Else there
    is one program for all: a column per group and combination, tied to the columns that say which
    dose each arm gets. Where these are whole, so are those, so only the solver's whole columns are
    those of the rules.
    """

    def __init__(
        self,
        encoding: ActionEncoding,
        groups: Sequence[DoseGroup],
        solver: Solver | None = None,
        limits: Limits = Limits(),
    ) -> None:
        self._encoding = encoding
        self.groups = groups
        self._solver = default_solver() if solver is None else solver
        self._limits = limits

    def best(self, tables: Sequence[FloatArray]) -> ArgmaxResult:
        """Return the best action of each state; ``tables`` has ``(B, D)`` for each group."""
        if self._listed is not None:
            return self._by_list(tables, *self._listed)
        if self._knapsack is not None:
            actions = self._knapsack.best(tables, self._encoding.space.n_actions)
            return ArgmaxResult.proven(actions, self.values(tables, actions))
        solved = [self._solve(rows) for rows in zip(*tables, strict=True)]
        actions = np.array([action for action, _, _ in solved], dtype=np.int8)
        values = self.values(tables, actions)
        bounds = np.maximum([bound for _, bound, _ in solved], values)
        units = np.max([np.abs(table).max(axis=1) for table in tables], axis=0)
        is_proven = [is_close(*bounded) for bounded in zip(bounds, values, units, strict=True)]
        flags = np.array(is_proven, np.bool_), np.array([late for *_, late in solved], np.bool_)
        return ArgmaxResult(actions, values, bounds, *flags)

    @property
    def is_batched(self) -> bool:
        """Whether many states are answered at once, without a solver."""
        return self._listed is not None or self._knapsack is not None

    @property
    def takes_inputs(self) -> bool:
        """Whether each input says the dose of an arm of some group, so that `best_of` works."""
        if self._encoding.dose_indicators is not None:
            return False
        read = np.sort(np.concatenate([columns for columns, _ in self._reads]))
        return bool(np.array_equal(read, np.arange(self._encoding.n_inputs)))

    def best_of(self, net: ReluNet) -> ArgmaxResult:
        """Return the best action of each network whose hidden layers are tables of these groups.

        What inputs add goes into the tables. Values are those of the network itself.
        """
        assert net.tables is not None
        tables = [
            group_values + net.linear[:, columns] @ picks.T
            for group_values, (columns, picks) in zip(net.tables.values, self._reads, strict=True)
        ]
        best = self.best(tables)
        values = net.values(self._encoding.encode(best.actions)[:, None])[:, 0]
        apart = np.abs(values - net.constant - best.values)
        if (apart > _ROUNDING * net.size_of_terms()).any():
            raise SolverFailed("the tables of a network are not what its hidden layers say.")
        return replace(best, values=values, bounds=best.bounds + values - best.values)

    def values(self, tables: Sequence[FloatArray], actions: ActionArray) -> FloatArray:
        """Return what actions ``(B, N)`` are worth, ``(B,)``."""
        chosen, _ = self._combinations(actions)
        each = np.arange(len(actions))
        return sum(
            (table[each, row] for table, row in zip(tables, chosen, strict=True)),
            start=np.zeros(len(actions)),
        )

    def _by_list(
        self, tables: Sequence[FloatArray], actions: ActionArray, chosen: Sequence[IntArray]
    ) -> ArgmaxResult:
        count = len(tables[0])
        best, values = np.empty(count, dtype=np.int64), np.empty(count)
        size = max(1, _BATCH // len(actions))
        for first in range(0, count, size):
            part = slice(first, min(first + size, count))
            total = np.zeros((part.stop - first, len(actions)))
            for table, row in zip(tables, chosen, strict=True):
                total += table[part][:, row]
            best[part] = total.argmax(axis=1)
            values[part] = total.max(axis=1)
        return ArgmaxResult.proven(actions[best], values)

    @cached_property
    def _reads(self) -> list[tuple[IntArray, BoolArray]]:
        """The inputs of each group, ``(n,)``, and which of them its combinations choose, (D, n).

        An input of several groups is that of the first.
        """
        reading = []
        is_free = np.ones(self._encoding.n_inputs, dtype=np.bool_)
        for group in self.groups:
            reads = self._encoding.level_input[group.arms]
            arm, level = np.nonzero((reads >= 0) & is_free[reads])
            columns, first = np.unique(reads[arm, level], return_index=True)
            is_free[columns] = False
            reading.append((columns, group.doses[:, arm[first]] == level[first]))
        return reading

    @cached_property
    def _knapsack(self) -> GroupKnapsack | None:
        return GroupKnapsack.of(self._encoding, self.groups)

    @cached_property
    def _listed(self) -> tuple[ActionArray, list[IntArray]] | None:
        """All feasible actions ``(A, N)``, and by group the combination that each brings about."""
        actions = few_actions(self._encoding.space, _MOST_LISTED)
        if actions is None:
            return None
        chosen, is_known = self._combinations(actions)
        return actions[is_known], [row[is_known] for row in chosen]

    def _combinations(self, actions: ActionArray) -> tuple[list[IntArray], BoolArray]:
        """Return each group's combination at each action, and where all groups have it."""
        level = self._levels(self._encoding.encode(actions))
        is_known = np.ones(len(actions), dtype=np.bool_)
        chosen = []
        for group in self.groups:
            base = group.doses.max(axis=0, initial=0) + 1
            radix = np.append(np.cumprod(base[::-1])[::-1][1:], 1)
            known = group.doses @ radix
            order = np.argsort(known)
            wanted = np.minimum(level[:, group.arms], base) @ radix
            place = np.minimum(np.searchsorted(known[order], wanted), len(known) - 1)
            row = order[place]
            is_known &= (group.doses[row] == level[:, group.arms]).all(axis=1)
            chosen.append(row)
        return chosen, is_known

    def _levels(self, inputs: FloatArray) -> IntArray:
        """Return the level that each arm gets, ``(B, J)``, from inputs ``(B, I)``."""
        reads = self._encoding.level_input
        padded = np.concatenate([inputs, np.zeros((len(inputs), 1))], axis=1)
        is_on = padded[:, reads] > 0.5
        is_on[:, :, 0] = ~is_on[:, :, 1:].any(axis=2)
        levels: IntArray = is_on.argmax(axis=2)
        return levels

    @cached_property
    def _program(self) -> Program:
        """The rules, and for each group one combination that agrees with them."""
        builder = ProgramBuilder(self._encoding.system)
        unit, zero = np.ones(1), np.zeros(1)
        for group in self.groups:
            combinations = builder.columns(np.ones(len(group.doses)), is_integer=False)
            builder.block(np.ones((1, len(combinations))), combinations, unit, unit)
            for place, arm in enumerate(group.arms.tolist()):
                for level, read in enumerate(self._encoding.level_input[arm].tolist()):
                    if read >= 0:
                        row = np.append(group.doses[:, place] == level, -1.0)
                        builder.block(row[None], np.append(combinations, read), zero, zero)
        return builder.program(np.zeros(builder.n_columns))

    def _solve(self, rows: Sequence[FloatArray]) -> tuple[ActionArray, float, bool]:
        """Return the best action, a bound, and whether the clock ended the search."""
        weights = np.concatenate(rows)
        middle = float(weights.mean())
        objective = self._program.objective.copy()
        # Each group takes one combination, so a constant in all of them changes nothing but makes
        # the solver's relative gap that of what is to be decided.
        objective[len(objective) - len(weights) :] = weights - middle
        program = replace(self._program, objective=objective)
        system = self._encoding.system
        solution = solve_exactly_by_rules(self._solver, system, program, self._limits)
        if solution.status is Status.INFEASIBLE:
            raise no_decision(self._encoding.space.compact)
        if solution.values is None:
            raise SolverFailed(
                f"{self._solver.name} found no decision: {solution.status.value}, "
                f"{self._limits.seconds:g} s were allowed."
            )
        action = np.rint(solution.values[: self._encoding.space.n_actions]).astype(np.int8)
        hidden = HIDDEN_SHARE * float(np.abs(objective).max(initial=0.0))
        bound = solution.bound + hidden + middle * len(self.groups)
        return action, bound, solution.is_late(self._limits)
