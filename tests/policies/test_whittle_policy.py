import numpy as np
import pytest

from sequoia.bounds import relax
from sequoia.errors import ProblemError
from sequoia.policies import PricePolicy, WhittlePolicy
from sequoia.problem import Budget, Problem
from sequoia.problem.families import FAMILIES
from sequoia.simulate import Scenarios, rollout


def test_refuses_with_the_reason() -> None:
    for family, reason in (
        ("capacity", "assignment"),
        ("routing", "walk"),
        ("interventions", "columns are not its arms"),
    ):
        with pytest.raises(ProblemError, match=reason):
            WhittlePolicy(FAMILIES[family](arms=20))
    standard = FAMILIES["standard"](arms=5)
    costly = Problem("costly", standard.arms, Budget(np.arange(1.0, 6.0), 3), standard.start)
    with pytest.raises(ProblemError, match="different costs"):
        WhittlePolicy(costly)


def test_whittle_price_and_bound_agree_as_arms_grow() -> None:
    """At a fixed share of the budget, both policies come close to the bound (Weber and Weiss)."""
    gaps = []
    for arms in (10, 200):
        problem = FAMILIES["standard"](arms=arms, budget=arms // 5, seed=0, dynamics="random")
        relaxation = relax(problem)
        scenarios = Scenarios.sample(problem, 40 if arms == 10 else 10, seed=0)
        earned = [
            rollout(problem, policy, scenarios).rewards.mean()
            for policy in (WhittlePolicy(problem), PricePolicy(problem, relaxation.prices))
        ]
        assert earned[0] == pytest.approx(earned[1], rel=0.01)
        gaps.append(1 - max(earned) / relaxation.bound.per_step)
    assert gaps[1] < 0.005
