"""The network as a program of ours, naive or tight, on HiGHS and on Gurobi."""

from collections.abc import Callable

from cells import Case
from competitors import Found, Solve, TooBigForLicence

from sequoia.errors import SolverUnavailable
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.embedding import Embedding, naive_layers
from sequoia.optimize.engines.neuron_bounds import NeuronBounds, Reach
from sequoia.solvers import Highs, Limits, Program, Solution, Solver, Status
from sequoia.solvers.gurobi import Gurobi

Build = Callable[[int], Program]


def _naive(case: Case) -> Build:
    """The form of the paper: M = 1e5, every neuron switched, rules as in appendix C."""
    columns = ActionEncoding.of_space(case.problem.space, compact=False)

    def build(state: int) -> Program:
        net = case.net.only([state])
        return Embedding.of(net, naive_layers(net), columns, one_sided=False).program

    return build


def _tight(case: Case, compact: bool) -> Build:
    """Bounds that know the rules; those of the first layer are found once per network."""
    columns = ActionEncoding.of_space(case.problem.space, compact)
    bounds = NeuronBounds(Reach(ActionEncoding.of_space(case.problem.space)))
    bounds.of(case.net.only([0]))

    def build(state: int) -> Program:
        net = case.net.only([state])
        return Embedding.of(net, bounds.of(net), columns).program

    return build


def _solve_on(solver: Solver, case: Case, build: Build, seconds: float) -> Solve:
    def solve(states: list[int]) -> Found:
        (state,) = states
        try:
            solution = solver.solve(build(state), Limits(seconds))
        except SolverUnavailable:
            raise TooBigForLicence from None
        return _found(solution, case, float(case.net.constant[state]))

    return solve


def _found(solution: Solution, case: Case, constant: float) -> Found:
    if solution.status not in (Status.OPTIMAL, Status.LIMIT):
        raise RuntimeError(f"the solver says {solution.status.value}")
    if solution.values is None:
        return Found.nothing()
    claimed = solution.objective + constant
    left = 0.0 if solution.status is Status.OPTIMAL else solution.bound - solution.objective
    gap = max(left, 0.0) / max(abs(claimed), 1e-9)
    return Found.one(solution.values[: case.n_actions], claimed, gap)


def naive_highs(case: Case, seconds: float) -> Solve:
    return _solve_on(Highs(), case, _naive(case), seconds)


def paper_highs(case: Case, seconds: float) -> Solve:
    return _solve_on(Highs(), case, _tight(case, compact=False), seconds)


def naive_gurobi(case: Case, seconds: float) -> Solve:
    return _solve_on(Gurobi(), case, _naive(case), seconds)


def tight_gurobi(case: Case, seconds: float) -> Solve:
    return _solve_on(Gurobi(), case, _tight(case, compact=True), seconds)
