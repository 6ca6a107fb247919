"""Branch and bound against brute force, enumeration and the program; its limits and its oracle."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from argmax_cases import (
    EVERYTHING,
    KINDS,
    MODERATE,
    brute_force,
    case,
    columns_of,
    feasible_actions,
    forward,
    random_net,
)

from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.branch_and_bound import BranchAndBound
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.linear.oracles import CombinatorialOracle, LpOracle, has_oracle, oracle_for
from sequoia.optimize.relu_net import NetworkError, ReluNet
from sequoia.problem import Budget
from sequoia.problem.families import FAMILIES
from sequoia.solvers import Limits

KNOWING = [
    "budget, equal arms",
    "budget, must",
    "assignment",
    "assignment, floors",
    "path",
    "path, long edges",
    "path, must",
]
RELAXED = [
    "budget",
    "budget, nothing to spend",
    "budget, enough for all",
    "schedule",
    "bound together",
    "schedule, one worker off",
]
SUITED = [*KNOWING, *RELAXED]


def size_of_terms(net: ReluNet) -> np.ndarray:
    """How large the terms are that add up to a value, whatever cancels: all weights positive."""
    parts = (net.first_bias, net.output, net.linear, net.constant)
    first_bias, output, linear, constant = (np.abs(part) for part in parts)
    weights, biases = (tuple(map(np.abs, part)) for part in (net.weights, net.biases))
    same = ReluNet(weights, first_bias, biases, output, linear, constant)
    return same.values(np.ones((len(net), 1, net.n_inputs)))[:, 0]


def test_which_spaces_are_suited():
    suited = [name for name in EVERYTHING if has_oracle(columns_of(name))]
    assert sorted(suited) == sorted(SUITED)
    by_action = [
        name for name in suited if isinstance(oracle_for(columns_of(name)), CombinatorialOracle)
    ]
    assert sorted(by_action) == sorted(KNOWING)


@pytest.mark.parametrize("name", SUITED)
@pytest.mark.parametrize("kind", KINDS)
def test_proven_optimum_is_that_of_brute_force(name, kind):
    """Every kind of network, from linear to three layers, dead, tied and huge."""
    columns = columns_of(name)
    for seed in range(3):
        net = case(name, kind, seed)
        answer, truth = BranchAndBound(columns).best(net), brute_force(name, net)
        slack = 1e-6 * np.abs(truth) + 1e-11 * size_of_terms(net)
        assert (np.abs(answer.values - truth) <= slack).all()
        assert (answer.bounds >= np.maximum(truth - slack, answer.values)).all()
        assert columns.space.contains(answer.actions).all()
        own = [forward(net, b, x) for b, x in enumerate(columns.encode(answer.actions))]
        np.testing.assert_allclose(answer.values, own, rtol=1e-12)
        ordinary = size_of_terms(net) < 1e3 * np.abs(truth)
        assert answer.is_proven[ordinary].all()
        assert answer.is_proven.all() or kind not in MODERATE


@pytest.mark.parametrize("limit", [0, 1, 4, 11, 20])
def test_budgets_from_empty_to_full(limit):
    columns = ActionEncoding.of_space(Budget(np.ones(11), limit))
    listed, engine = Enumeration(columns), BranchAndBound(columns)
    for seed, widths in enumerate([(), (6,), (9, 7), (4, 4, 4)]):
        net = random_net(np.random.default_rng(seed), 11, widths, batch=4)
        truth, answer = listed.best(net), engine.best(net)
        np.testing.assert_allclose(answer.values, truth.values, rtol=1e-6)
        assert answer.is_proven.all()


@pytest.mark.parametrize("widths", [(12,), (10, 10), (6, 6, 6)])
def test_agrees_with_enumeration_at_twelve_arms(widths):
    """Random networks, which need many splits of columns and of neurons."""
    columns = ActionEncoding.of_space(FAMILIES["routing"](arms=12).space)
    net = random_net(np.random.default_rng(3), 12, widths, batch=12, weight=0.7)
    truth, answer = Enumeration(columns).best(net), BranchAndBound(columns).best(net)
    np.testing.assert_allclose(answer.values, truth.values, rtol=1e-6)
    assert answer.is_proven.all()


@cache
def routing() -> tuple[ActionEncoding, ReluNet]:
    """Forty stations, and a small network beside prices."""
    columns = ActionEncoding.of_space(FAMILIES["routing"](arms=40, steps=12, budget=5).space)
    rng = np.random.default_rng(4)
    net = random_net(rng, 40, (4,), batch=2, weight=0.3)
    return columns, replace(net, linear=rng.uniform(0, 2, net.linear.shape))


def test_agrees_with_the_program_at_forty_stations():
    columns, net = routing()
    answer, program = BranchAndBound(columns).best(net), Milp(columns).best(net)
    np.testing.assert_allclose(answer.values, program.values, rtol=1e-6)
    assert answer.is_proven.all()


# Limits.


def hard() -> tuple[ActionEncoding, ReluNet]:
    columns = ActionEncoding.of_space(Budget(np.ones(30), 10))
    return columns, random_net(np.random.default_rng(0), 30, (24, 24), batch=2)


@pytest.mark.parametrize("limits", [Limits(seconds=0.0), Limits(nodes=0)])
def test_without_time_the_start_is_returned_unproven(limits):
    columns, net = hard()
    engine = BranchAndBound(columns, limits)
    answer, (start, is_known) = engine.best(net), engine._linearisation.best(net, net.alone())
    assert is_known.all()
    assert answer.actions.tolist() == start.tolist()
    assert np.isinf(answer.bounds).all()
    assert answer.is_late.all() == (limits.nodes is None)


def test_a_limit_returns_the_best_known_action_with_its_gap():
    columns, net = hard()
    few, more = (BranchAndBound(columns, Limits(nodes=n)).best(net) for n in (1, 60))
    timed = BranchAndBound(columns, Limits(seconds=0.2)).best(net)
    for answer in (few, more, timed):
        assert columns.space.contains(answer.actions).all()
        assert not answer.is_proven.any()
    # How far it comes in a time depends on the machine; how far in some nodes does not.
    assert np.isfinite(few.bounds).all()
    assert (more.bounds < few.bounds).all()
    assert (more.values >= few.values).all()


@pytest.mark.parametrize("gap", [0.3, 0.01])
def test_a_wide_gap_is_honoured(gap):
    columns = columns_of("path")
    net = replace(case("path", "three layers"), constant=np.zeros(3))
    answer = BranchAndBound(columns, Limits(gap=gap)).best(net)
    assert (answer.bounds >= brute_force("path", net) - 1e-9).all()
    assert (answer.gaps <= gap + 1e-9).all()


def test_a_part_of_the_tree_bounds_the_optimum():
    """Whenever it stops, the bound holds and falls."""
    name = "budget, equal arms"
    net = case(name, "two layers", seed=5)
    truth = brute_force(name, net)
    before = np.full(3, np.inf)
    for nodes in (0, 1, 2, 3, 5, 8, 13, 21, 400):
        answer = BranchAndBound(columns_of(name), Limits(gap=0.0, nodes=nodes)).best(net)
        assert (answer.bounds >= truth - 1e-9).all()
        assert (answer.bounds <= before).all()
        before = answer.bounds
    np.testing.assert_allclose(answer.bounds, truth, rtol=1e-6)


# What the engine rests on.


class Lazy(Budget):
    """Gives up on all weights but those that are equal."""

    def argmax_linear(self, weights):
        return super().argmax_linear(weights) if np.ptp(weights) == 0 else None


def test_a_space_that_gives_up_costs_time_only():
    columns = ActionEncoding.of_space(Lazy(np.ones(8), 3))
    net = case("budget, equal arms", "two layers")
    answer = BranchAndBound(columns).best(net)
    np.testing.assert_allclose(answer.values, brute_force("budget, equal arms", net), rtol=1e-6)
    assert answer.is_proven.all()


def test_new_weights_are_noticed():
    columns = columns_of("path")
    engine = BranchAndBound(columns)
    net = case("path", "two layers")
    engine.best(net)
    net.weights[0][:] *= -3.0
    np.testing.assert_allclose(engine.best(net).values, brute_force("path", net), rtol=1e-6)


def test_states_do_not_disturb_each_other():
    columns = columns_of("path")
    net = random_net(np.random.default_rng(6), columns.n_inputs, (7, 5), batch=6)
    together = BranchAndBound(columns).best(net)
    apart = [BranchAndBound(columns).best(net.only([state])) for state in range(6)]
    np.testing.assert_allclose(together.values, [each.values[0] for each in apart], rtol=1e-9)


def test_nan_network_is_an_error():
    net = case("path", "two layers")
    with pytest.raises(NetworkError, match="not finite"):
        BranchAndBound(columns_of("path")).best(replace(net, output=net.output * np.nan))


@pytest.mark.parametrize("name", SUITED)
def test_heaviest_with_fixed_inputs(name):
    """A space that knows is exact; a relaxation is never below, and exact in many questions."""
    columns = columns_of(name)
    oracle, inputs = oracle_for(columns), columns.encode(feasible_actions(name))
    assert oracle.knapsack.most >= inputs.sum(axis=1).max()
    rng = np.random.default_rng(7)
    exact, empty, known = 0, 0, 0
    for _ in range(200):
        fixed = rng.choice([-1, -1, -1, 0, 1], inputs.shape[1]).astype(np.int8)
        weights = np.where(fixed < 0, rng.standard_normal(len(fixed)), 0.0)
        left = inputs[((fixed < 0) | (inputs == fixed)).all(axis=1)]
        point, weight, losses = oracle.best(weights, fixed)
        if not len(left):
            empty += point is None and weight == -np.inf
            assert name in RELAXED or point is None
            continue
        truth = (left @ weights).max()
        assert weight >= truth - 1e-12
        # The quick bound, too, holds for all that is left.
        assert oracle.knapsack.after(fixed).largest(weights[fixed < 0]) >= truth - 1e-9
        is_exact = weight <= truth + 1e-6 and point.tolist() in left.tolist()
        assert is_exact or name in RELAXED
        exact += is_exact
        # What has an input otherwise than the point weighs that much less.
        for place, loss in enumerate(losses()):
            others = left[left[:, place] == 1 - point[place]] @ weights
            assert others.max(initial=-np.inf) <= weight - loss + 1e-9
            known += len(others) > 0 and loss > 0
    assert exact > 20
    assert known > 100 or name in ("path, long edges", "budget, nothing to spend")
    assert empty > 0 or name == "budget, enough for all"


def test_a_relaxation_holds_whatever_the_solver_says():
    """The bound is made of row prices, and any prices give one."""
    columns = columns_of("schedule")
    oracle, actions = LpOracle(columns), feasible_actions("schedule")
    solve = oracle._session.maximise
    rng = np.random.default_rng(1)

    def wrong(objective):
        found = solve(objective)
        return replace(found, row_duals=found.row_duals + rng.standard_normal(oracle._rows.n_rows))

    oracle._session.maximise = wrong
    nothing = np.full(columns.n_inputs, -1, dtype=np.int8)
    for _ in range(50):
        weights = rng.standard_normal(columns.n_inputs)
        assert oracle.best(weights, nothing).weight >= (actions @ weights).max()


def test_small_and_large_weights_are_not_lost_in_a_relaxation():
    columns = columns_of("schedule")
    oracle, actions = LpOracle(columns), feasible_actions("schedule")
    nothing = np.full(columns.n_inputs, -1, dtype=np.int8)
    weights = np.random.default_rng(2).standard_normal(columns.n_inputs)
    for unit in (1e-12, 1.0, 1e12):
        truth = (actions @ (unit * weights)).max()
        assert oracle.best(unit * weights, nothing).weight == pytest.approx(truth, rel=1e-6)
