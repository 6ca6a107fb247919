"""Bounds end by their work; the clock is a last resort, and is named."""

import numpy as np
import pytest

from sequoia.bounds import bound, relax, relax_factored
from sequoia.bounds.lagrangian import relax as relaxation_module
from sequoia.errors import ProblemError
from sequoia.policies import PriceUpdatePolicy
from sequoia.problem.families import FAMILIES
from sequoia.simulate import Scenarios, rollout
from sequoia.solvers import Highs

# Its best actions take a program each.
HARD = FAMILIES["scheduling"](arms=30, horizon=4, distinct_workers=True)


def test_what_ended_a_search_is_said() -> None:
    assert relax(HARD).bound.stopped_by == "optimum"
    assert relax(HARD, "hull").bound.stopped_by == "optimum"
    once = relax(HARD, "hull", rounds=1, gap=0.0).bound
    assert once.stopped_by == "work"
    hurried = relax(HARD, "hull", seconds=0.0).bound
    assert hurried.stopped_by == "clock"
    assert hurried.total >= relax(HARD, "hull").bound.total


def test_more_rounds_are_never_worse() -> None:
    totals = [relax(HARD, "hull", rounds=rounds, gap=0.0).bound.total for rounds in (1, 2, 4)]
    assert totals == sorted(totals, reverse=True)


def test_no_solve_has_a_limit_of_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine ten times slower must find the same number."""
    seen = []
    solve = Highs.solve

    def spy(self, program, limits=None, start=None):  # type: ignore[no-untyped-def]
        seen.append((bool(program.is_integer.any()), limits))
        return solve(self, program, limits, start)

    monkeypatch.setattr(Highs, "solve", spy)
    relax(HARD, "hull", seconds=np.inf)
    whole = [limits for is_whole, limits in seen if is_whole]
    assert len(whole) > 10
    assert all(limits.nodes is not None for limits in whole)
    assert all(limits.seconds == np.inf for _, limits in seen)


def test_smoothed_prices_name_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = FAMILIES["standard"](arms=30, horizon=4)
    monkeypatch.setattr(relaxation_module, "MAX_LP_CLASSES", 0)
    assert relax(problem).bound.stopped_by == "work"
    hurried = relax(problem, seconds=0.0).bound
    assert hurried.stopped_by == "clock"
    assert hurried.total >= relax(problem).bound.total


def test_clusters_name_the_clock() -> None:
    problem = FAMILIES["epidemic"](arms=14, horizon=3)
    assert relax_factored(problem, rounds=5).bound.stopped_by == "work"
    assert relax_factored(problem, rounds=5, seconds=0.0).bound.stopped_by == "clock"
    hurried = bound(problem, "clairvoyant", rounds=5, seconds=0.0, scenarios=2)
    assert hurried.stopped_by == "clock"


def test_no_rounds_are_refused() -> None:
    with pytest.raises(ProblemError, match="rounds is 0; at least 1 is wanted"):
        relax(HARD, "hull", rounds=0)


def test_decisions_at_prices_that_the_clock_cut_off_count_as_cut_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = FAMILIES["standard"](arms=30, horizon=2)
    monkeypatch.setattr(relaxation_module, "MAX_LP_CLASSES", 0)
    scenarios = Scenarios.sample(problem, 1, 0)
    hurried = rollout(problem, PriceUpdatePolicy(problem, update_seconds=0.0), scenarios)
    assert hurried.is_at_limit.all()
    assert not rollout(problem, PriceUpdatePolicy(problem), scenarios).is_at_limit.any()
