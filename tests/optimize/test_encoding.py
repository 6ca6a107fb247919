"""Inputs of an objective: action columns and dose indicators."""

import numpy as np
import pytest
from argmax_cases import (
    EVERYTHING,
    SPACES,
    WITH_DOSES,
    columns_of,
    feasible_actions,
    problems,
    unequal_doses,
)

from sequoia.errors import InfeasibleSpace
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Budget, Rules, with_rules
from sequoia.problem.families import FAMILIES
from sequoia.solvers import Highs, Status


@pytest.mark.parametrize("name", WITH_DOSES)
@pytest.mark.parametrize("compact", [True, False])
def test_objective_is_the_sum_over_arms_by_dose_level(name, compact):
    problem = problems()[name]
    columns = ActionEncoding.of_problem(problem, compact)
    arms, levels = problem.arms.n_arms, problem.arms.n_doses
    table = np.random.default_rng(0).standard_normal((3, arms, levels))
    weights, constant = columns.objective(table)
    assert weights.shape == (3, columns.n_inputs)
    actions = np.array(list(np.ndindex(*[2] * columns.space.n_actions)), dtype=np.int8)
    inputs = columns.encode(actions)
    for state in range(3):
        expected = [
            sum(table[state, arm, level] for arm, level in enumerate(row))
            for row in problem.levels(actions)
        ]
        np.testing.assert_allclose(inputs @ weights[state] + constant[state], expected, atol=1e-12)


def test_dose_levels_by_hand():
    """Arms 0 and 1 are reached alike; action 1 gives them 1.5, their second positive dose."""
    columns = ActionEncoding.of_problem(unequal_doses())
    assert columns.level_input.tolist() == [
        [-1, 6, 7, 8],
        [-1, 6, 7, 8],
        [-1, 9, 10, 11],
        [-1, -1, -1, 5],  # action 5 alone reaches it, so that it needs no indicator
    ]
    assert columns.encode(np.array([[0, 1, 0, 0, 0, 0]]))[0, 6:].tolist() == [0, 1, 0, 1, 0, 0]
    assert columns.encode(np.array([[1, 1, 0, 0, 0, 1]]))[0, 6:].tolist() == [0, 0, 1, 1, 0, 0]
    assert columns.allowed.tolist()[3] == [True, False, False, True]


def test_one_action_per_arm_needs_no_indicators():
    problem = FAMILIES["scheduling"](arms=8)
    columns = ActionEncoding.of_problem(problem)
    assert columns.n_inputs == 8
    table = np.random.default_rng(1).standard_normal((2, 8, 2))
    weights, constant = columns.objective(table)
    action = np.array([1, 0, 0, 1, 0, 1, 0, 0])
    expected = [table[b, np.arange(8), action].sum() for b in range(2)]
    np.testing.assert_allclose(weights @ action + constant, expected)


@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.parametrize("compact", [True, False])
def test_point_satisfies_the_system(name, compact):
    if name in SPACES:
        columns = ActionEncoding.of_space(SPACES[name], compact)
    else:
        columns = ActionEncoding.of_problem(problems()[name], compact)
    system = columns.system
    for action in feasible_actions(name)[::7]:
        point = columns.point(action)
        assert point.shape == (system.n_columns,)
        assert system.holds(point[None])[0]
        assert (point <= system.column_upper + 1e-9).all()
        assert (point >= 0).all()
        whole = point[system.is_integer]
        assert np.abs(whole - np.rint(whole)).max() < 1e-9
        assert point[: columns.space.n_actions].tolist() == action.tolist()


@pytest.mark.parametrize("name", WITH_DOSES)
def test_system_forces_the_indicators(name):
    """With the action fixed, the only feasible indicators are those of `encode`."""
    columns = columns_of(name)
    system, size = columns.system, columns.space.n_actions
    rng = np.random.default_rng(3)
    for action in feasible_actions(name)[::5]:
        program = system.program(rng.standard_normal(columns.n_inputs))
        program.column_upper[:size] = program.column_lower[:size] = action
        solution = Highs().solve(program)
        assert solution.status is Status.OPTIMAL
        found = solution.values[: columns.n_inputs]
        np.testing.assert_allclose(found, columns.encode(action[None])[0], atol=1e-9)


def test_infeasible_space_is_reported_with_its_rows():
    rules = Rules(must=["arm 0", "arm 1", "arm 2"])
    columns = ActionEncoding.of_space(with_rules(Budget(np.ones(5), 2), rules))
    with pytest.raises(InfeasibleSpace, match=r"contradict: budget \| must act on arm 0"):
        columns.require_feasible()
    columns_of("budget, must").require_feasible()
