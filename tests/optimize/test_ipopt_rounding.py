"""Relax, flip, repair: feasible always, never above the best of all actions, and close to it."""

import sys

import numpy as np
import pytest
from argmax_cases import (
    EVERYTHING,
    EXTREME,
    KINDS,
    MODERATE,
    WITH_DOSES,
    brute_force,
    case,
    columns_of,
    feasible_actions,
    random_net,
)

from sequoia.errors import InfeasibleSpace, SolverUnavailable
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.ipopt_rounding import IpoptRounding
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Rules, with_rules
from sequoia.problem.families import FAMILIES
from sequoia.problem.spaces import Budget


def test_without_casadi_there_is_one_clear_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "casadi", None)
    with pytest.raises(SolverUnavailable) as raised:
        IpoptRounding(columns_of("budget"))
    assert str(raised.value) == (
        'casadi is not installed; pip install "sequoia-plan[relax]" or use another engine.'
    )


@pytest.fixture(autouse=True)
def _casadi(request):
    if "without_casadi" not in request.node.name:
        pytest.importorskip("casadi", reason="casadi is not installed")


def spread(name: str, net: ReluNet) -> np.ndarray:
    """The difference between the best and the worst feasible action of each state."""
    inputs = columns_of(name).encode(feasible_actions(name))
    return np.ptp(net.values(np.broadcast_to(inputs, (len(net), *inputs.shape))), axis=1)


def losses(name: str, kinds: list[str]) -> np.ndarray:
    """What the engine misses of the best, as a share of the spread; checks the answers besides."""
    columns, found = columns_of(name), []
    engine = IpoptRounding(columns, samples=64)
    for kind in kinds:
        net = case(name, kind)
        answer, best = engine.best(net), brute_force(name, net)
        assert columns.space.contains(answer.actions).all()
        assert answer.actions.dtype == np.int8
        inputs = columns.encode(answer.actions)[:, None, :]
        np.testing.assert_allclose(answer.values, net.values(inputs)[:, 0], rtol=1e-9)
        assert (answer.values <= best + 1e-9 * (1 + np.abs(best))).all()
        assert np.isposinf(answer.bounds).all()
        assert not answer.is_proven.any()
        found.append((best - answer.values) / np.maximum(spread(name, net), 1e-12))
    return np.concatenate(found)


@pytest.mark.parametrize("name", EVERYTHING)
def test_answers_are_feasible_and_close_to_the_best(name):
    missed = losses(name, list(MODERATE))
    assert missed.mean() < (0.1 if name in WITH_DOSES else 0.04)
    assert np.median(missed) < 1e-6


@pytest.mark.parametrize("name", ["budget", "assignment", "path", "bound together", *WITH_DOSES])
def test_extreme_networks_do_no_harm(name):
    assert losses(name, list(EXTREME)).mean() < 0.15


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
    net = random_net(np.random.default_rng(0), columns.n_inputs, (16, 16), batch=4, weight=0.3)
    best = Enumeration(columns).best(net).values
    answer = IpoptRounding(columns).best(net)
    idle = net.values(
        np.broadcast_to(
            columns.encode(np.zeros((1, problem.space.n_actions))), (4, 1, columns.n_inputs)
        )
    )[:, 0]
    assert (answer.values <= best + 1e-9).all()
    assert (best - answer.values).sum() <= 0.1 * (best - idle).sum()


def test_shares_satisfy_the_relaxed_rules():
    columns = columns_of("budget")
    shares = IpoptRounding(columns).shares(case("budget", "two layers").only([0]))
    assert ((shares >= 0) & (shares <= 1)).all()
    assert (columns.system.matrix @ shares <= columns.system.upper + 1e-3).all()


def test_the_same_seed_gives_the_same_answer():
    net = case("assignment", "two layers")
    first = IpoptRounding(columns_of("assignment"), seed=3).best(net)
    again = IpoptRounding(columns_of("assignment"), seed=3).best(net)
    np.testing.assert_array_equal(first.actions, again.actions)


def test_networks_of_other_widths_can_follow():
    engine = IpoptRounding(columns_of("budget"))
    for kind in KINDS:
        assert engine.best(case("budget", kind)).actions.shape == (3, 8)


@pytest.mark.parametrize("name", ["budget", "path, must", "schedule, distinct workers"])
def test_no_time_still_gives_a_feasible_action(name):
    net = case(name, "two layers")
    answer = IpoptRounding(columns_of(name), seconds=0.0).best(net)
    assert columns_of(name).space.contains(answer.actions).all()


def test_coins_that_cannot_be_repaired_are_replaced():
    """Two columns have to go together and nothing may be dropped, so few coins fit."""
    space = with_rules(Budget(np.ones(6), 6), Rules(must=[f"arm {i}" for i in range(6)]))
    answer = IpoptRounding(ActionEncoding.of_space(space)).best(ReluNet.of_linear(-np.ones((1, 6))))
    assert answer.actions.tolist() == [[1] * 6]


def test_an_infeasible_space_is_said():
    space = with_rules(Budget(np.ones(4), 1), Rules(must=["arm 0", "arm 1"]))
    with pytest.raises(InfeasibleSpace):
        IpoptRounding(ActionEncoding.of_space(space)).best(ReluNet.of_linear(np.ones((1, 4))))


def test_no_states_give_no_answers():
    answer = IpoptRounding(columns_of("budget")).best(case("budget", "two layers").only([]))
    assert answer.values.shape == (0,)
