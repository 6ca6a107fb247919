"""Our engines."""

from cells import Case
from competitors import GAP, Found, NotApplicable, Solve

from sequoia.errors import TooLarge
from sequoia.optimize.auto import Auto
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.local_search import LocalSearch
from sequoia.optimize.result import Argmax


def _solve_with(engine: Argmax, case: Case) -> Solve:
    def solve(states: list[int]) -> Found:
        answer = engine.best(case.net.only(states))
        return Found(answer.actions, answer.values, answer.gaps)

    return solve


def auto(case: Case, seconds: float) -> Solve:
    return _solve_with(Auto(ActionEncoding.of_space(case.problem.space), GAP, seconds), case)


def auto_one_percent(case: Case, seconds: float) -> Solve:
    limit = min(seconds, 10.0)
    return _solve_with(Auto(ActionEncoding.of_space(case.problem.space), 0.01, limit), case)


def enumerate_all(case: Case, seconds: float) -> Solve:  # noqa: ARG001 (no limit needed)
    try:
        engine = Enumeration(ActionEncoding.of_space(case.problem.space))
    except TooLarge:
        raise NotApplicable("too many actions") from None
    return _solve_with(engine, case)


def local(case: Case, seconds: float) -> Solve:  # noqa: ARG001 (no limit needed)
    return _solve_with(LocalSearch(ActionEncoding.of_space(case.problem.space)), case)
