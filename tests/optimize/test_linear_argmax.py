"""The best action of a linear objective, by every way there is."""

import numpy as np
import pytest
from argmax_cases import EVERYTHING, columns_of, feasible_actions, problems, random_net

from sequoia.errors import InfeasibleSpace, SolverFailed
from sequoia.optimize import ActionEncoding, LinearArgmax, NetworkError, ReluNet, encoding
from sequoia.optimize.linear import argmax as linear_module
from sequoia.problem import Assignment, Budget, Rules, with_rules
from sequoia.problem.families import FAMILIES
from sequoia.solvers import Limits, Solution, Status


@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.parametrize("unit", [1.0, 1e-9])
@pytest.mark.parametrize("way", ["listed", "relaxed", "solved"])
def test_every_way_finds_the_best_of_all(name, way, unit, monkeypatch):
    if way != "listed":
        monkeypatch.setattr(encoding, "MAX_COLUMNS", 0)
    if way == "solved":
        monkeypatch.setattr(linear_module, "has_quick_relaxation", lambda _: False)
    columns = columns_of(name)
    inputs = columns.encode(feasible_actions(name))
    linear = LinearArgmax(columns)
    for weights in unit * np.random.default_rng(0).standard_normal((5, columns.n_inputs)):
        best = linear.maximise(weights[None])
        assert best.values[0] == pytest.approx((inputs @ weights).max(), abs=1e-6 * unit)
        assert best.bounds[0] == pytest.approx(best.values[0], abs=1e-5 * unit)
        assert best.values[0] == pytest.approx(columns.encode(best.actions)[0] @ weights)
        columns.space.certify(best.actions[0])


def test_a_whole_point_of_the_relaxation_needs_no_program():
    columns = ActionEncoding.of_problem(FAMILIES["scheduling"](arms=40))
    linear = LinearArgmax(columns)
    linear._solver = TooSlow()
    for weights in np.random.default_rng(0).uniform(-1, 1, (5, 40)):
        best = linear.maximise(weights[None])
        assert best.is_proven[0]
        # The same question has the same answer, whatever was asked in between.
        linear.maximise(-weights[None])
        assert linear.maximise(weights[None]).actions.tolist() == best.actions.tolist()


@pytest.mark.parametrize("name", ["interventions", "unequal doses"])
def test_doses_of_all_arms(name):
    problem = problems()[name]
    table = np.random.default_rng(1).standard_normal((problem.arms.n_arms, problem.arms.n_doses))
    best = LinearArgmax(ActionEncoding.of_problem(problem)).best_doses(table[None])
    arms = np.arange(problem.arms.n_arms)
    worth = [table[arms, levels].sum() for levels in problem.levels(feasible_actions(name))]
    assert best.values[0] == pytest.approx(max(worth))
    assert best.bounds[0] == pytest.approx(max(worth))


def test_states_of_a_linear_network():
    columns = columns_of("assignment")
    rng = np.random.default_rng(2)
    net = ReluNet.of_linear(rng.standard_normal((4, columns.n_inputs)), rng.standard_normal(4))
    answer = LinearArgmax(columns).best(net)
    values = feasible_actions("assignment") @ net.linear.T + net.constant
    np.testing.assert_allclose(answer.values, values.max(axis=0))
    assert answer.is_proven.all()
    with pytest.raises(NetworkError, match="hidden"):
        LinearArgmax(columns).best(random_net(rng, columns.n_inputs, (3,)))


@pytest.mark.parametrize("rules", [Rules(), Rules(at_most_one=[[f"arm {i}" for i in range(40)]])])
def test_the_core_problem_agrees_with_the_program(rules, monkeypatch):
    rng = np.random.default_rng(0)
    count = 1500
    spaces = [
        Assignment(rng.integers(2, 7, count).astype(float), rng.integers(2, 8, 30).astype(float)),
        Budget(rng.integers(1, 5, count).astype(float), 40.0),
    ]
    for space in spaces:
        columns = ActionEncoding.of_space(with_rules(space, rules))
        values = rng.random((2, count))
        values[1] = np.round(values[1], 1)  # many ties
        for weights in values:
            core = LinearArgmax(columns).maximise(weights[None])
            with monkeypatch.context() as patch:
                patch.setattr(linear_module, "_LEAST_FOR_CORE", 10**9)
                solved = LinearArgmax(columns).maximise(weights[None])
            assert core.values == pytest.approx(solved.values, rel=1e-6)
            assert core.is_proven[0]
            columns.space.certify(core.actions[0])


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_a_rule_that_is_broken_by_less_than_a_solver_sees_is_kept(unit, monkeypatch):
    monkeypatch.setattr(encoding, "MAX_COLUMNS", 0)
    monkeypatch.setattr(linear_module, "has_quick_relaxation", lambda _: False)
    costs = unit * np.array([0.5, 0.5 + 5e-8, 0.3, 0.5 + 3e-8])
    columns = ActionEncoding.of_space(Budget(costs, unit))
    weights = np.array([[1.0, 1.0, 0.6, 1.1]])
    most = (columns.space.enumerate(100) @ weights[0]).max()
    best = LinearArgmax(columns).maximise(weights)
    assert columns.space.contains(best.actions)[0]
    assert best.values[0] == pytest.approx(most)
    assert best.bounds[0] >= most


def test_top_few():
    linear = LinearArgmax(ActionEncoding.of_space(Budget(np.full(50, 2.0), 7.0)))
    weights = np.random.default_rng(0).normal(size=50)
    assert linear.maximise(weights[None]).values[0] == pytest.approx(np.sort(weights)[-3:].sum())
    assert not linear.maximise(-np.abs(weights)[None]).actions.any()


@pytest.mark.parametrize("arms", [10, 30])
def test_no_action_at_all(arms):
    rules = Rules(must=["arm 0"], never=["arm 0"])
    impossible = with_rules(FAMILIES["capacity"](arms=arms).space, rules)
    with pytest.raises(InfeasibleSpace, match=r"must act on arm 0 \| never act on arm 0"):
        LinearArgmax(ActionEncoding.of_space(impossible)).maximise(np.zeros((1, arms)))


class TooSlow:
    """A solver that never finds an action in time."""

    name = "slow"

    def solve(self, *_program_limits_start):
        return Solution(Status.LIMIT, None, -np.inf, np.inf, 0.0)


def test_no_action_in_time_is_never_made_up():
    columns = ActionEncoding.of_problem(FAMILIES["scheduling"](arms=40))
    linear = LinearArgmax(columns, TooSlow(), Limits(seconds=2))
    with pytest.raises(SolverFailed, match="no decision was found in 2 seconds"):
        linear.best(ReluNet.of_linear(np.ones((1, columns.n_inputs))))
    with pytest.raises(SolverFailed, match="no decision was found in 2 seconds"):
        linear.decide(np.ones((40, 2)))
