"""Climbing along slopes finds feasible actions, often very good ones."""

import numpy as np
import pytest
from argmax_cases import brute_force, case, columns_of

from sequoia.optimize.engines.successive_linearisation import SuccessiveLinearisation
from sequoia.optimize.linear.oracles import oracle_for

NAMES = ["budget, equal arms", "budget", "assignment", "schedule", "path", "bound together"]


@pytest.mark.parametrize("name", NAMES)
def test_actions_are_feasible_and_not_above_the_optimum(name):
    columns = columns_of(name)
    ascent = SuccessiveLinearisation(columns, oracle_for(columns))
    share = []
    for seed in range(10):
        net = case(name, "two layers", seed)
        actions, is_known = ascent.best(net, net.alone())
        assert columns.space.contains(actions[is_known]).all()
        worth, truth = net.values(columns.encode(actions)[:, None])[:, 0], brute_force(name, net)
        assert (worth[is_known] <= truth[is_known] + 1e-9).all()
        share += (is_known & (worth >= truth - 0.05 * np.abs(truth))).tolist()
    # Networks that were not trained are rough.
    assert np.mean(share) > 0.25


def test_linear_functions_are_maximised_at_once():
    columns = columns_of("assignment")
    net = case("assignment", "linear")
    actions, is_known = SuccessiveLinearisation(columns, oracle_for(columns)).best(net, net.alone())
    assert is_known.all()
    worth = net.values(columns.encode(actions)[:, None])[:, 0]
    np.testing.assert_allclose(worth, brute_force("assignment", net))


def test_slopes_are_differences():
    net = case("budget", "three layers")
    rng = np.random.default_rng(0)
    point = rng.uniform(size=(len(net), net.n_inputs))
    step = 1e-7
    for place in range(net.n_inputs):
        moved = point.copy()
        moved[:, place] += step
        change = (net.values(moved[:, None]) - net.values(point[:, None]))[:, 0] / step
        np.testing.assert_allclose(net.slopes(point)[:, place], change, rtol=1e-3, atol=1e-5)
