"""Which other actions are tried: all feasible, none the policy's own."""

import numpy as np
import pytest

from action_limit_cases import Doors
from learned_cases import made, random_states
from sequoia.learn.candidates import candidates, random_actions
from sequoia.learn.sizes import CANDIDATES
from sequoia.optimize.auto import RolloutAuto
from sequoia.problem import limits_of
from sequoia.problem.families import assortment, capacity, epidemic, routing, scheduling

ENVIRONMENTS = [
    capacity(arms=6, workers=2, horizon=3),
    scheduling(arms=6, workers=2, horizon=3),
    routing(arms=8, budget=3, horizon=3),
    epidemic(arms=6, budget=2, horizon=3),
    assortment(items=5, show=2, horizon=3),
    Doors(),
]


def is_allowed(environment, states, steps, actions):
    limits = limits_of(environment, states, steps)
    within = environment.space.contains(actions)
    return within if limits is None else within & limits.holds(actions)


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda one: one.name[:9])
def test_random_actions_are_feasible_and_of_all_sorts(environment):
    model = made(environment, "idle")
    states, steps = random_states(environment, 60)
    argmax = RolloutAuto(model.encoding)
    found = random_actions(environment, argmax, states, steps, np.random.default_rng(0))
    assert is_allowed(environment, states, steps, found).all()
    assert len(np.unique(found, axis=0)) > 4
    assert len(np.unique(found.sum(axis=1))) > 1


@pytest.mark.parametrize("environment", ENVIRONMENTS, ids=lambda one: one.name[:9])
def test_candidates_are_feasible_and_differ_from_the_policy(environment):
    model = made(environment, "idle", ("linear",))
    argmax = RolloutAuto(model.encoding)
    states, steps = random_states(environment, 20)
    limits = limits_of(environment, states, steps)
    actions = argmax.best_of(model.fold(states, steps), limits)
    luck = np.random.default_rng(0)
    found = candidates(environment, argmax, model, states, steps, actions, luck)
    at = found.state
    assert (np.diff(at) >= 0).all()
    assert (found.actions != actions[at]).any(axis=1).all()
    assert is_allowed(environment, states[at], steps[at], found.actions).all()
    counts = np.bincount(at, minlength=len(states))
    assert counts.max() <= CANDIDATES
    assert counts.mean() > 1


def test_where_few_actions_can_be_listed_the_next_best_ones_are_among_them():
    environment = routing(arms=8, budget=3, horizon=3)
    model = made(environment, "idle", ("linear",))
    argmax = RolloutAuto(model.encoding)
    assert argmax.all_actions is not None
    states, steps = random_states(environment, 10)
    net = model.fold(states, steps)
    actions = argmax.best_of(net)
    found = candidates(environment, argmax, model, states, steps, actions, np.random.default_rng(0))
    values = model.weights(states, steps) @ argmax.encode(argmax.all_actions).T
    for row in range(len(states)):
        second = argmax.all_actions[np.argsort(-values[row])[1]]
        own = found.actions[found.state == row]
        assert (own == second).all(axis=1).any()
