"""The network inside a mixed-integer program: exact for any space."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np

from sequoia.errors import SolverFailed
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.embedding import Embedding, scaled
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.engines.neuron_bounds import NeuronBounds, Reach
from sequoia.optimize.exact_solve import solve_exactly_by_rules
from sequoia.optimize.preactivation_bounds import PreactivationBounds
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.result import ArgmaxResult, is_close
from sequoia.solvers import Limits, Program, Solution, Solver, Status, default_solver, write_mps
from sequoia.validation import ActionArray

# For small programs with a good start: no search for one, no restarts, quick branching.
TUNED = {
    "mip_allow_restart": False,
    "mip_pscost_minreliable": 1,
    "mip_heuristic_run_rins": False,
    "mip_heuristic_run_rens": False,
    "mip_heuristic_run_root_reduced_cost": False,
    "mip_heuristic_run_feasibility_jump": False,
}
_MISMATCH = 1e-5


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
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        workers: int = 1,
    ) -> None:
        self._columns = columns
        self._solver = default_solver(highs=TUNED) if solver is None else solver
        self._limits = limits
        self._workers = workers
        self._local = LocalSearch(columns)
        self._bounds = NeuronBounds(Reach(columns))

    def best(self, net: ReluNet) -> ArgmaxResult:
        """Return the best action of each state with the solver's proof."""
        return self.improve(net, self._local.best(net).actions)

    def improve(self, net: ReluNet, starts: ActionArray) -> ArgmaxResult:
        """Prove or improve given feasible actions, ``(B, N)``."""
        states = [net.only([state]) for state in range(len(net))]
        layers = [self._bounds.of(one) for one in states]

        def solve(state: int) -> ArgmaxResult:
            return self._solve(states[state], layers[state], starts[state], state)

        with ThreadPoolExecutor(self._workers) as pool:
            found = list(pool.map(solve, range(len(net))))
        return ArgmaxResult.joined([ArgmaxResult.unproven(starts[:0], np.empty(0)), *found])

    def _solve(
        self, net: ReluNet, layers: list[PreactivationBounds], start: ActionArray, state: int
    ) -> ArgmaxResult:
        same, layers, worth = scaled(net, layers)
        embedding = Embedding.of(same, layers, self._columns)
        begin = embedding.point(self._columns.point(start))
        known = float(net.values(self._columns.encode(start[None])[None])[0, 0])
        constant = float(net.constant[0])
        # The solver does not see the constant; its gap must be small beside the value with it.
        share = min(1.0, abs(known) / max(abs(known - constant), 1e-300))
        limits = replace(self._limits, gap=self._limits.gap * share)
        solution = solve_exactly_by_rules(
            self._solver, self._columns.system, embedding.program, limits, begin
        )
        if solution.status not in (Status.OPTIMAL, Status.LIMIT):
            raise _failure(embedding.program, f"state {state}: solver says {solution.status.value}")
        bound = solution.bound * worth + constant
        action, value = start, known
        if solution.values is not None:
            tried, reached = self._checked(net, embedding.program, solution, worth, state)
            action, value = (tried, reached) if reached > known else (action, value)
        slack = _MISMATCH * (worth + abs(value))
        if value > bound + slack:
            raise _failure(embedding.program, f"state {state}: {value} exceeds the bound {bound}")
        return ArgmaxResult.of_one(action, value, max(bound, value), is_close(bound, value, worth))

    def _checked(
        self, net: ReluNet, program: Program, solution: Solution, worth: float, state: int
    ) -> tuple[ActionArray, float]:
        """Return the solver's action and its value, checked against rules and forward pass."""
        values = solution.values
        assert values is not None
        action = values[: self._columns.space.n_actions].astype(np.int8)
        if not self._columns.space.contains(action[None])[0]:
            raise _failure(program, f"state {state}: the solver's action breaks the rules")
        value = float(net.values(self._columns.encode(action[None])[None])[0, 0])
        claimed = solution.objective * worth + float(net.constant[0])
        if claimed > value + _MISMATCH * (worth + abs(value)):
            raise _failure(
                program, f"state {state}: the program says {claimed}, the network {value}"
            )
        return action, value


def _failure(program: Program, what: str) -> SolverFailed:
    with tempfile.NamedTemporaryFile(prefix="sequoia-", suffix=".mps", delete=False) as file:
        path = Path(file.name)
    write_mps(program, path)
    return SolverFailed(f"{what}; the program is kept in {path}.")
