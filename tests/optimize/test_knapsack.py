"""What may be chosen in number and in cost bounds linear functions from above."""

import numpy as np
import pytest
from argmax_cases import SPACES, feasible_actions

from sequoia.optimize.linear.knapsack import KnapsackRelaxation
from sequoia.problem import Budget


def test_number_alone():
    rows = np.array([[3.0, -1.0, 2.0, 5.0], [-1.0, -2.0, -3.0, 0.5]])
    assert KnapsackRelaxation(2).largest(rows).tolist() == [8.0, 0.5]
    assert KnapsackRelaxation(0).largest(rows).tolist() == [0.0, 0.0]
    assert KnapsackRelaxation(9).largest(rows).tolist() == [10.0, 0.5]


def test_cost_lets_the_last_in_part():
    knapsack = KnapsackRelaxation.of(Budget([1.0, 2.0, 4.0], 5.0), most=3)
    # 6 for 1, 8 for 2, and half of 12 for 4.
    assert knapsack.largest(np.array([6.0, 8.0, 12.0])) == pytest.approx(20.0)
    fixed = np.array([-1, 1, -1], dtype=np.int8)
    left = knapsack.after(fixed)
    assert left.most == 2
    assert left.largest(np.array([6.0, 12.0])) == pytest.approx(6.0 + 12.0 * 2 / 4)


def test_equal_costs_need_no_second_look():
    assert KnapsackRelaxation.of(Budget(np.full(5, 2.0), 6.0), most=3).costs is None


@pytest.mark.parametrize("name", SPACES)
def test_never_below_what_an_action_weighs(name):
    space, actions = SPACES[name], feasible_actions(name)
    costs, room = space.knapsack
    assert (actions @ costs <= room + 1e-9).all()
    knapsack = KnapsackRelaxation.of(space, int(actions.sum(axis=1).max()))
    rows = np.random.default_rng(3).standard_normal((50, space.n_actions))
    assert (knapsack.largest(rows) >= (rows @ actions.T).max(axis=1) - 1e-9).all()
