"""Relax, flip, repair: feasible always, never above the best of all actions, and close to it."""

import numpy as np
import pytest

from sequoia.errors import InfeasibleSpace
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Rules, with_rules
from sequoia.problem.families import FAMILIES
from sequoia.problem.spaces import Budget

pytest.importorskip("casadi", reason="casadi is not installed")

from experiments.ipopt_rounding import IpoptRounding


def random_net(inputs):
    """Two layers of 16 units for 4 states."""
    rng = np.random.default_rng(0)
    return ReluNet(
        tuple(0.3 * rng.standard_normal(size) for size in ((16, inputs), (16, 16))),
        rng.standard_normal((4, 16)),
        (rng.standard_normal(16),),
        0.3 * rng.standard_normal(16),
        0.3 * rng.standard_normal((4, inputs)),
        10 * rng.standard_normal(4),
    )


def test_a_linear_value_over_a_budget_is_a_knapsack():
    columns = ActionEncoding.of_space(Budget(np.ones(30), 7))
    weights = np.random.default_rng(0).normal(size=(4, 30))
    answer = IpoptRounding(columns).best(ReluNet.of_linear(weights))
    wanted = np.sort(np.maximum(weights, 0), axis=1)[:, -7:].sum(axis=1)
    np.testing.assert_allclose(answer.values, wanted)


@pytest.mark.parametrize("family", ["capacity", "scheduling", "routing", "interventions"])
def test_close_to_the_best_of_many_actions(family):
    problem = FAMILIES[family](arms=12) if family != "interventions" else FAMILIES[family](arms=8)
    columns = ActionEncoding.of_problem(problem)
    net = random_net(columns.n_inputs)
    best = Enumeration(columns).best(net).values
    answer = IpoptRounding(columns).best(net)
    idle = net.values(
        np.broadcast_to(
            columns.encode(np.zeros((1, problem.space.n_actions))), (4, 1, columns.n_inputs)
        )
    )[:, 0]
    assert (answer.values <= best + 1e-9).all()
    assert (best - answer.values).sum() <= 0.1 * (best - idle).sum()


def test_the_same_seed_gives_the_same_answer():
    columns = ActionEncoding.of_problem(FAMILIES["capacity"](arms=8))
    net = random_net(columns.n_inputs)
    first, again = (IpoptRounding(columns, seed=3).best(net).actions for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_no_time_still_gives_a_feasible_action():
    problem = FAMILIES["routing"](arms=8)
    columns = ActionEncoding.of_problem(problem)
    answer = IpoptRounding(columns, seconds=0.0).best(random_net(columns.n_inputs))
    assert problem.space.contains(answer.actions).all()


def test_coins_that_cannot_be_repaired_are_replaced():
    """Two columns have to go together and nothing may be dropped, so few coins fit."""
    space = with_rules(Budget(np.ones(6), 6), Rules(must=[f"arm {i}" for i in range(6)]))
    answer = IpoptRounding(ActionEncoding.of_space(space)).best(ReluNet.of_linear(-np.ones((1, 6))))
    assert answer.actions.tolist() == [[1] * 6]


def test_an_infeasible_space_is_said():
    space = with_rules(Budget(np.ones(4), 1), Rules(must=["arm 0", "arm 1"]))
    with pytest.raises(InfeasibleSpace):
        IpoptRounding(ActionEncoding.of_space(space)).best(ReluNet.of_linear(np.ones((1, 4))))
