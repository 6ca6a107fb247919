"""The network inside a mixed-integer program: exact for any space."""

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sequoia.errors import SolverFailed
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.embedding import Embedding, scaled
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.engines.neuron_bounds import NeuronBounds, Reach
from sequoia.optimize.preactivation_bounds import PreactivationBounds
from sequoia.optimize.relu_net import ReluNet
from sequoia.optimize.result import Answer
from sequoia.solvers import Highs, Limits, Program, Solution, Solver, Status, write_mps
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


@dataclass(frozen=True)
class _One:
    action: ActionArray
    value: float
    bound: float


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
        self._solver = Highs(**TUNED) if solver is None else solver
        self._limits = limits
        self._workers = workers
        self._local = LocalSearch(columns)
        self._bounds = NeuronBounds(Reach(columns))

    def best(self, net: ReluNet) -> Answer:
        """Return the best action of each state with the solver's proof."""
        return self.improve(net, self._local.best(net).actions)

    def improve(self, net: ReluNet, starts: ActionArray) -> Answer:
        """Prove or improve given feasible actions, ``(B, N)``."""
        states = [net.only([state]) for state in range(len(net))]
        layers = [self._bounds.of(one) for one in states]

        def solve(state: int) -> _One:
            return self._solve(states[state], layers[state], starts[state], state)

        with ThreadPoolExecutor(self._workers) as pool:
            found = list(pool.map(solve, range(len(net))))
        return Answer(
            np.array([one.action for one in found], dtype=np.int8).reshape(starts.shape),
            np.array([one.value for one in found]),
            np.array([one.bound for one in found]),
        )

    def _solve(
        self, net: ReluNet, layers: list[PreactivationBounds], start: ActionArray, state: int
    ) -> _One:
        same, layers, worth = scaled(net, layers)
        embedding = Embedding.of(same, layers, self._columns)
        begin = embedding.point(self._columns.point(start))
        known = float(net.values(self._columns.encode(start[None])[None])[0, 0])
        constant = float(net.constant[0])
        # The solver does not see the constant; its gap must be small beside the value with it.
        share = min(1.0, abs(known) / max(abs(known - constant), 1e-300))
        limits = replace(self._limits, gap=self._limits.gap * share)
        solution = self._solver.solve(embedding.program, limits, begin)
        if solution.status not in (Status.OPTIMAL, Status.LIMIT):
            raise _failure(embedding.program, f"state {state}: solver says {solution.status.value}")
        bound = solution.bound * worth + constant
        found = _One(start, known, bound)
        if solution.values is not None:
            action, value = self._checked(net, embedding.program, solution, worth, state)
            found = _One(action, value, bound) if value > known else found
        slack = _MISMATCH * (worth + abs(found.value))
        if found.value > bound + slack:
            raise _failure(
                embedding.program, f"state {state}: {found.value} exceeds the bound {bound}"
            )
        return replace(found, bound=max(bound, found.value))

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
