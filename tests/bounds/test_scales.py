"""A bound holds in any unit: rewards, costs and doses from 1e-12 to 1e12."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

from sequoia.bounds import relax, solve_exactly, whittle_indices
from sequoia.problem import Arms, Assignment, Budget, Custom, Problem, with_rules
from sequoia.problem.spaces import ActionSpace
from tiny_problems import KINDS, is_feasible, random_problem

SCALES = (1e-12, 3e-9, 7e-4, 1e12)


def in_reward_units(problem: Problem, unit: float) -> Problem:
    return replace(problem, arms=replace(problem.arms, rewards=problem.arms.rewards * unit))


def in_cost_units(problem: Problem, unit: float) -> Problem:
    base = problem.space.base
    scaled: ActionSpace
    if isinstance(base, Budget):
        scaled = Budget(base.costs * unit, base.limit * unit, base.names)
    elif isinstance(base, Assignment):
        scaled = replace(base, costs=base.costs * unit, capacities=base.capacities * unit)
    else:
        assert isinstance(base, Custom)
        scaled = replace(
            base, matrix=base.matrix * unit, lower=base.lower * unit, upper=base.upper * unit
        )
    return replace(problem, space=with_rules(scaled, problem.space.rules))


def in_dose_units(problem: Problem, unit: float) -> Problem:
    arms = replace(problem.arms, doses=problem.arms.doses * unit)
    return replace(problem, arms=arms, influence=csr_array(problem.influence * unit))


def bounds(problem: Problem) -> tuple[float, float, float]:
    """Return the optimum, the hull bound and the lp bound, after checking their order."""
    exact = solve_exactly(problem).value
    hull = relax(problem, "hull", gap=1e-6).bound.total
    lp = relax(problem).bound.total
    assert exact <= hull + 1e-8 * abs(exact)
    assert hull <= lp + 1e-8 * abs(lp)
    return exact, hull, lp


def check(problem: Problem, scaled: Problem, unit: float = 1.0) -> None:
    for ours, theirs in zip(own_bounds(problem), bounds(scaled), strict=True):
        assert theirs == pytest.approx(unit * ours, rel=1e-6)


own_bounds = cache(bounds)


@cache
def some(kind: str) -> list[Problem]:
    made = [random_problem(kind, seed) for seed in range(3)]
    return [problem for problem in made if is_feasible(problem)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("unit", SCALES)
def test_units_of_rewards(kind: str, unit: float) -> None:
    for problem in some(kind):
        check(problem, in_reward_units(problem, unit), unit)


@pytest.mark.parametrize("kind", ["budget", "assignment", "custom", "interventions"])
@pytest.mark.parametrize("unit", SCALES)
def test_units_of_costs(kind: str, unit: float) -> None:
    for problem in some(kind):
        scaled = in_cost_units(problem, unit)
        check(problem, scaled)
        assert scaled.space.enumerate(1000).tolist() == problem.space.enumerate(1000).tolist()


@pytest.mark.parametrize("unit", SCALES)
def test_units_of_doses(unit: float) -> None:
    for problem in some("interventions"):
        check(problem, in_dose_units(problem, unit))


@pytest.mark.parametrize("unit", SCALES)
def test_discounted_values_scale_with_rewards(unit: float) -> None:
    for problem in some("budget"):
        scaled = in_reward_units(problem, unit)
        exact = solve_exactly(problem, discounted=True)
        theirs = solve_exactly(scaled, discounted=True)
        assert theirs.value == pytest.approx(unit * exact.value, rel=1e-9)
        assert theirs.choices.tolist() == exact.choices.tolist()
        bound = relax(scaled, horizon=2, discounted=True).bound.total
        assert theirs.value <= bound * (1 + 1e-8)
        own = relax(problem, horizon=2, discounted=True).bound.total
        assert bound == pytest.approx(unit * own, rel=1e-6)


@pytest.mark.parametrize("unit", SCALES)
def test_many_arms_in_any_unit(unit: float) -> None:
    """The smoothed dual and the core problem, for more arms than a program takes."""
    rng = np.random.default_rng(0)
    count = 1200
    kernels = rng.dirichlet(np.ones(2), (count, 2, 2))
    rewards = rng.random((count, 2))
    start = np.tile([1.0, 0.0], (count, 1))

    def problem(money: float, cost: float) -> Problem:
        arms = Arms(rewards * money, np.tile([0.0, 1.0], (count, 1)), kernels)
        costs = (1.0 + np.arange(count) % 3) * cost
        return Problem("many", arms, Budget(costs, 50 * cost), start, horizon=2)

    ours = relax(problem(1.0, 1.0)).bound.total
    assert relax(problem(unit, 1.0)).bound.total == pytest.approx(unit * ours, rel=1e-6)
    assert relax(problem(1.0, unit)).bound.total == pytest.approx(ours, rel=1e-5)


@pytest.mark.parametrize("unit", SCALES)
def test_a_budget_allows_what_it_says(unit: float) -> None:
    space = Budget(np.full(5, unit), 3 * unit)
    actions = np.tri(6, 5, -1, dtype=np.int8)
    assert space.contains(actions).tolist() == [True] * 4 + [False] * 2
    assert len(space.enumerate(100)) == 1 + 5 + 10 + 10
    assert space.argmax_linear(np.ones(5)).sum() == 3
    for seed in range(5):
        assert space.sample(np.random.default_rng(seed)).action.sum() == 3


def test_a_dear_arm_does_not_let_cheap_ones_in() -> None:
    """What is allowed is judged by the terms of a sum, not by the largest cost of all."""
    space = Budget([1.0, 1e-9, 1e-9, 1e-9], 2e-9)
    assert space.contains([[0, 1, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0]]).tolist() == [
        True,
        False,
        False,
    ]
    kernels = np.tile([[[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2], (4, 1, 1, 1))
    arms = Arms(np.tile([0.0, 1.0], (4, 1)), np.tile([0.0, 1.0], (4, 1)), kernels)
    problem = Problem("mixed", arms, space, np.tile([1.0, 0.0], (4, 1)), horizon=2)
    exact, hull, _ = bounds(problem)
    assert exact == pytest.approx(4.0)
    assert hull == pytest.approx(4.0, rel=1e-6)


@pytest.mark.parametrize("unit", SCALES)
def test_indices_scale_with_rewards(unit: float) -> None:
    rng = np.random.default_rng(0)
    kernels, rewards = rng.dirichlet(np.ones(3), (6, 2, 3)), rng.random((6, 2, 3))
    ours = whittle_indices(kernels, rewards, 0.9)
    theirs = whittle_indices(kernels, unit * rewards, 0.9)
    assert theirs.is_indexable.tolist() == ours.is_indexable.tolist()
    np.testing.assert_allclose(theirs.indices, unit * ours.indices, rtol=1e-9)
