"""The network inside a mixed-integer program: exact for any space."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from sequoia.errors import SolverFailed
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.embedding import Embedding, error_growth, scaled
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.engines.neuron_bounds import LinearBounds, NeuronBounds
from sequoia.optimize.exact_solve import solve_exactly_by_rules
from sequoia.optimize.relu_net import ROUNDING, PreactivationBounds, ReluNet
from sequoia.optimize.result import ArgmaxResult, is_close
from sequoia.proof import PROOF_GAP
from sequoia.solvers import (
    HIDDEN_SHARE,
    Limits,
    Program,
    Solution,
    Solver,
    Status,
    default_solver,
    write_mps,
)
from sequoia.validation import ActionArray, FloatArray

# For small programs with a good start: no search for one, no restarts, quick branching.
TUNED = {
    "mip_allow_restart": False,
    "mip_pscost_minreliable": 1,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_heuristic_run_feasibility_jump": False,
}
# For programs whose numbers are far apart. Presolve divides rows by small entries: where weights
# were over ten orders of magnitude, it cut off the best action in some of a thousand networks, and
# in none where it was off. It saves a quarter to a half of the time, though. Tolerances are ten and
# a hundred times less than usual, so that values whose terms cancel can be proven; with less still,
# rounding makes the solver take what is possible for impossible.
CAREFUL = TUNED | {
    "presolve": "off",
    "mip_feasibility_tolerance": 1e-8,
    "primal_feasibility_tolerance": 1e-8,
}
# Between the smallest and the largest entry: networks with weights of about the same size have up
# to 3e5, and the least for which presolve was seen to fail is 1e7.
_ORDINARY_SPREAD = 1e6
# Solvers promise to break no row by more than this.
_TOLERANCE = 1e-6
# Where a row that is off by one moves the value by more than this many of its units, a solver is
# not to be relied upon: its tolerance is a hundredth of the value. Networks of up to 64 units and
# three layers have 10 to 300.
_MAX_GROWTH = 1e4


class Milp:
    """Embed the network, begin from local search, and let the solver prove or improve it.

    Parameters
    ----------
    workers
        How many states are solved at the same time, each on a thread of its own.
    """

    name = "milp"

    def __init__(
        self,
        columns: ActionEncoding,
        solver: Solver | None = None,
        limits: Limits = Limits(),
        workers: int = 1,
    ) -> None:
        self._columns = columns
        self._solver = default_solver(highs=TUNED) if solver is None else solver
        self._careful = default_solver(highs=CAREFUL) if solver is None else solver
        self._limits = limits
        self._workers = workers
        self._local = LocalSearch(columns)
        self._bounds = NeuronBounds(LinearBounds(columns))

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best action of each state with the solver's proof."""
        return self.improve(net, self._local.best(net).actions)

    def improve(self, net: ReluNet, starts: ActionArray) -> ArgmaxResult:
        """Prove or improve given feasible actions, ``(B, N)``."""
        states = [net.only([state]) for state in range(len(net))]
        layers = [self._bounds.of(single) for single in states]

        def solve(state: int) -> ArgmaxResult:
            try:
                return self._solve(states[state], layers[state], starts[state])
            except _Untrue as error:
                raise error.kept(state) from None

        with ThreadPoolExecutor(self._workers) as pool:
            solved = list(pool.map(solve, range(len(net))))
        return ArgmaxResult.joined([ArgmaxResult.unproven(starts[:0], np.empty(0)), *solved])

    def _solve(
        self, net: ReluNet, layers: list[PreactivationBounds], start: ActionArray
    ) -> ArgmaxResult:
        same, scaled_layers, unit = scaled(net, layers)
        embedding = Embedding.of(same, scaled_layers, self._columns)
        begin = embedding.point(self._columns.point(start))
        known = float(net.values(self._columns.encode(start[None])[None])[0, 0])
        # The solver does not see the constant; its gap must be small beside the value with it.
        share = min(1.0, abs(known) / max(abs(known - unit * float(same.constant[0])), 1e-300))
        limits = replace(self._limits, gap=self._limits.gap * share)
        sizes = np.abs(embedding.program.matrix.data)
        is_ordinary = sizes.max(initial=0.0) <= _ORDINARY_SPREAD * sizes.min(initial=np.inf)
        best = ArgmaxResult.of_one(start, known, self._bounds.value(net, layers), False)
        solvers = [self._solver, self._careful] if is_ordinary else [self._careful]
        for solver in solvers:
            solution = solve_exactly_by_rules(
                solver, self._columns.system, embedding.program, limits, begin
            )
            best = self._checked(net, best, embedding, solution, unit)
            best = replace(best, is_late=np.array([solution.is_late(limits)]))
            # What the usual tolerances leave open, where terms cancel, smaller ones may prove.
            is_asked = self._limits.gap <= PROOF_GAP and self._careful is not self._solver
            if best.is_proven[0] or solution.status is Status.LIMIT or not is_asked:
                break
        return best

    def _checked(
        self,
        net: ReluNet,
        before: ArgmaxResult,
        embedding: Embedding,
        solution: Solution,
        unit: float,
    ) -> ArgmaxResult:
        """Return the better of what was known before and the solver's action, and its proof.

        All that the solver says is checked against rules, forward pass and itself. It may break
        every row by its tolerance, so its value may be off by that times `error_growth`: what is
        off by more is untrue, what is off by less leaves a gap.
        """
        program, constant = embedding.program, unit * float(embedding.net.constant[0])
        growth = error_growth(embedding.net)
        if solution.status not in (Status.OPTIMAL, Status.LIMIT):
            if growth > _MAX_GROWTH:
                return before
            raise _Untrue(program, f"solver says {solution.status.value}")
        action, value = before.actions[0], float(before.values[0])
        rounding = ROUNDING * float(net.size_of_terms()[0])
        slack = _TOLERANCE * growth * unit + rounding
        if solution.values is not None:
            tried, reached = self._read(net, program, solution.values)
            claimed = solution.objective * unit + constant
            if claimed > reached + slack:
                raise _Untrue(program, f"the program says {claimed}, the network {reached}")
            action, value = (tried, reached) if reached > value else (action, value)
        bound = solution.bound * unit + constant
        if value > bound + slack:
            raise _Untrue(program, f"{value} exceeds the bound {bound}")
        largest = unit * _largest_term(program)
        # Up to its gap, a solver looks for nothing better.
        hidden = PROOF_GAP * abs(value) + HIDDEN_SHARE * largest + rounding
        # A bound that one action exceeds may be exceeded by others, too.
        if growth <= _MAX_GROWTH and value <= bound + hidden:
            before = replace(before, bounds=np.minimum(before.bounds, bound + hidden))
        bound = max(value, float(before.bounds[0]))
        return ArgmaxResult.of_one(action, value, bound, is_close(bound, value, largest))

    def _read(
        self, net: ReluNet, program: Program, values: FloatArray
    ) -> tuple[ActionArray, float]:
        """Return the solver's action, and its value by a forward pass."""
        action = values[: self._columns.space.n_actions].astype(np.int8)
        if not self._columns.space.contains(action[None])[0]:
            raise _Untrue(program, "the solver's action breaks the rules")
        return action, float(net.values(self._columns.encode(action[None])[None])[0, 0])


class _Untrue(Exception):
    """A claim of a solver about a program that is not so."""

    def __init__(self, program: Program, what: str) -> None:
        super().__init__(what)
        self._program, self._what = program, what

    def kept(self, state: int) -> SolverFailed:
        """Return the error for one state; the program is kept in a file."""
        with tempfile.NamedTemporaryFile(prefix="sequoia-", suffix=".mps", delete=False) as file:
            path = Path(file.name)
        write_mps(self._program, path)
        return SolverFailed(f"state {state}: {self._what}; the program is kept in {path}.")


def _largest_term(program: Program) -> float:
    """Return the most that a single column can add to the objective, or take from it."""
    terms = np.abs(program.objective) * program.column_upper
    return float(np.where(program.objective != 0, terms, 0.0).max(initial=0.0))
