"""Worlds that are not what a model says."""

import numpy as np
import pytest

from sequoia import Promise, Promises, SpendingLimit
from sequoia.errors import ProblemError
from sequoia.policies import RobustPolicy, make_policy
from sequoia.problem.families import make
from sequoia.problem.perturbed import perturbed


def test_transitions_differ_by_the_share_and_what_is_impossible_stays_so():
    problem = make("standard", arms=5)
    same, world = perturbed(problem, 0.0), perturbed(problem, 0.3, seed=1)
    np.testing.assert_allclose(same.arms.kernels, problem.arms.kernels, atol=1e-12)
    apart = np.abs(world.arms.kernels - problem.arms.kernels).sum(axis=-1) / 2
    assert apart.mean() > 0.05
    assert apart.max() <= 0.3 + 1e-12
    assert not world.arms.kernels[problem.arms.kernels == 0].any()
    assert perturbed(problem, 0.3, seed=1).fingerprint == world.fingerprint
    assert perturbed(problem, 0.3, seed=2).fingerprint != world.fingerprint
    with pytest.raises(ProblemError, match="share"):
        perturbed(problem, 1.5)


def test_neighbours_are_others_and_nobody_is_its_own():
    problem = make("epidemic", arms=8)
    world = perturbed(problem, 0.0, graph=0.5)
    before, after = (own.contagion.neighbours.toarray() for own in (problem, world))
    assert (before != after).any()
    assert not after.diagonal().any()
    assert before.sum() == after.sum()


def test_promises_and_budgets_are_kept_in_the_other_world():
    problem = make("standard", arms=4, budget=2)
    names = problem.arms.names
    problem = problem.with_promises(Promises.of(names, [Promise(names[:2], every=4)]))
    problem = problem.with_budgets([SpendingLimit("visits", 9, 5)])
    world = perturbed(problem, 0.2)
    assert world.keeper is not None
    assert world.purse is not None
    np.testing.assert_array_equal(world.start, problem.start)


def test_robust_is_price_where_every_world_is_the_same():
    problem = make("standard", arms=6)
    start = problem.draw_start(np.random.default_rng(0), 4)
    rngs = [np.random.default_rng(0)] * 4
    robust, price = RobustPolicy(problem, [problem] * 3), make_policy("price", problem)
    np.testing.assert_array_equal(
        robust.act(start, 0, rngs).actions, price.act(start, 0, rngs).actions
    )
