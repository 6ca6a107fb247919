"""Our engines."""

from cells import Case
from competitors import GAP, Found, NotApplicable, Solve

from sequoia.errors import TooLarge
from sequoia.optimize.argmax import Argmax
from sequoia.optimize.auto import Auto
from sequoia.optimize.columns import Columns
from sequoia.optimize.enumeration import Enumeration
from sequoia.optimize.local_search import LocalSearch


def _solve_with(engine: Argmax, case: Case) -> Solve:
    def solve(states: list[int]) -> Found:
        answer = engine.best(case.net.only(states))
        return Found(answer.actions, answer.values, answer.gaps)

    return solve


def auto(case: Case, seconds: float) -> Solve:
    return _solve_with(Auto(Columns.of_space(case.problem.space), GAP, seconds), case)


def auto_one_percent(case: Case, seconds: float) -> Solve:
    limit = min(seconds, 10.0)
    return _solve_with(Auto(Columns.of_space(case.problem.space), 0.01, limit), case)


def enumerate_all(case: Case, seconds: float) -> Solve:  # noqa: ARG001 (no limit needed)
    try:
        engine = Enumeration(Columns.of_space(case.problem.space))
    except TooLarge:
        raise NotApplicable("too many actions") from None
    return _solve_with(engine, case)


def local(case: Case, seconds: float) -> Solve:  # noqa: ARG001 (no limit needed)
    return _solve_with(LocalSearch(Columns.of_space(case.problem.space)), case)
