"""Trying every action, against brute force over all 2^N."""

from dataclasses import replace

import numpy as np
import pytest
from argmax_cases import (
    EVERYTHING,
    KINDS,
    brute_force,
    case,
    columns_of,
    feasible_actions,
    forward,
    random_net,
)

from sequoia.errors import InfeasibleSpace, TooLarge
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines import enumeration
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.relu_net import ReluNet
from sequoia.problem import Budget, Rules, with_rules


@pytest.fixture(params=[False, True], ids=["all", "promising"])
def only_promising(request, monkeypatch):
    """Whether lines above the network leave out actions, however few there are."""
    monkeypatch.setattr(enumeration, "_MANY_PRODUCTS", 0 if request.param else np.inf)
    monkeypatch.setattr(enumeration, "_FEW", 1.0)
    return request.param


@pytest.mark.parametrize("name", EVERYTHING)
@pytest.mark.usefixtures("only_promising")
def test_best_of_all_actions(name):
    """Every kind of network, also the extreme ones: exactly the largest value there is."""
    columns = columns_of(name)
    engine = Enumeration(columns)
    for kind in KINDS:
        net = case(name, kind)
        answer = engine.best(net)
        np.testing.assert_allclose(answer.values, brute_force(name, net), rtol=1e-9, err_msg=kind)
        assert answer.is_proven.all()
        assert answer.bounds.tolist() == answer.values.tolist()
        assert columns.space.contains(answer.actions).all()
        inputs = columns.encode(answer.actions)
        own = [forward(net, state, x) for state, x in enumerate(inputs)]
        np.testing.assert_allclose(answer.values, own, rtol=1e-9)


def test_values_that_single_precision_cannot_tell_apart():
    """The best of two large values that differ by less than a float32 can hold."""
    columns = ActionEncoding.of_space(Budget(np.ones(6), 1))
    for winner in range(6):
        linear = np.full((1, 6), 1e6)
        linear[0, winner] += 1e-3
        answer = Enumeration(columns).best(ReluNet.of_linear(linear))
        assert answer.actions[0, winner] == 1
        assert answer.values[0] == 1e6 + 1e-3


@pytest.mark.usefixtures("only_promising")
def test_large_terms_that_cancel():
    """Hidden values of a million cancel in the output; what is left must still be compared."""
    columns = ActionEncoding.of_space(Budget(np.ones(8), 4))
    rng = np.random.default_rng(0)
    half = 1e6 * rng.standard_normal((5, 8))
    bias = 1e6 * rng.standard_normal((4, 5))
    output = rng.standard_normal(5)
    net = ReluNet(
        (np.concatenate([half, half]),),
        np.concatenate([bias, bias], axis=1),
        (),
        np.concatenate([output, -output]),
        rng.standard_normal((4, 8)),
        np.zeros(4),
    )
    best = np.sort(net.linear, axis=1)[:, -4:].clip(0).sum(axis=1)
    np.testing.assert_allclose(Enumeration(columns).best(net).values, best, rtol=1e-6)


@pytest.mark.parametrize("widths", [(6,), (6, 5), (5, 4, 3)])
@pytest.mark.usefixtures("only_promising")
def test_many_actions_in_chunks(widths):
    """More actions than one chunk holds."""
    columns = ActionEncoding.of_space(Budget(np.ones(14), 14))
    net = random_net(np.random.default_rng(1), 14, widths, batch=4)
    every = np.array(list(np.ndindex(*[2] * 14)))
    expected = net.values(np.broadcast_to(every, (4, *every.shape))).max(axis=1)
    np.testing.assert_allclose(Enumeration(columns).best(net).values, expected, rtol=1e-12)


def test_few_actions_are_left_of_a_network_that_is_nearly_linear():
    """None but those are looked at, and the best is among them."""
    columns = ActionEncoding.of_space(Budget(np.ones(14), 5))
    net = random_net(np.random.default_rng(2), 14, (10, 10), batch=6, weight=0.2)
    net = replace(net, linear=10.0 * net.linear)
    engine = Enumeration(columns)
    answer = engine.best(net)
    for state in range(6):
        left = engine._promising(net.only([state]))
        assert len(left) < 0.05 * len(engine)
        chosen = np.flatnonzero((engine.actions == answer.actions[state]).all(axis=1))
        assert np.isin(chosen, left).all()


def test_new_weights_are_noticed():
    """A network with other weights is not answered with the first layer of the last one."""
    columns = columns_of("budget")
    engine = Enumeration(columns)
    rng = np.random.default_rng(2)
    one, other = random_net(rng, 8, (5, 4)), random_net(rng, 8, (5, 4))
    for net in (one, other, one):
        np.testing.assert_allclose(engine.best(net).values, brute_force("budget", net))
    one.weights[0][:] *= -1
    np.testing.assert_allclose(engine.best(one).values, brute_force("budget", one))


def test_too_many_actions():
    with pytest.raises(TooLarge):
        Enumeration(columns_of("budget"), cap=len(feasible_actions("budget")) - 1)


def test_infeasible_space():
    rules = Rules(must=["arm 0", "arm 1"], at_most_one=[["arm 0", "arm 1"]])
    with pytest.raises(InfeasibleSpace, match=r"contradict: .*must act on arm 1"):
        Enumeration(ActionEncoding.of_space(with_rules(Budget(np.ones(4), 3), rules)))
