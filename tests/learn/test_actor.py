"""Scores of columns are found where differences of actions are sums of them."""

import numpy as np
import pytest

from learned_cases import random_linear, random_states, sight_of
from sequoia.learn.actor import changes, fit_scores
from sequoia.learn.pairs import Pairs
from sequoia.problem.families import capacity, epidemic, interventions

PROBLEMS = [
    capacity(arms=5, workers=2, horizon=4),
    epidemic(arms=6, budget=2, horizon=4),
    interventions(arms=6, budget=2, horizon=4),
]


def pairs_of(problem, count, seed=0, each=6):
    """Return pairs of random actions, of which nothing was played."""
    states, steps = random_states(problem, count, seed)
    rng = np.random.default_rng(seed)
    size, columns = len(states), problem.space.n_actions
    actions = rng.integers(0, 2, (size, columns)).astype(np.int8)
    state = np.repeat(np.arange(size), each)
    tried = rng.integers(0, 2, (len(state), columns)).astype(np.int8)
    ends = np.zeros((1, size, 1)), np.zeros((1, len(state), 1))
    return Pairs(states, steps, actions, state, tried, np.zeros(len(state)), *ends, 1)


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda one: one.name[:9])
def test_scores_that_are_linear_are_recovered(problem):
    sight = sight_of(problem)
    true = random_linear(sight)
    pairs = [pairs_of(problem, 120), pairs_of(problem, 60, seed=1)]
    y = [changes(own, true.scores(own.states, own.steps)) for own in pairs]
    found = fit_scores(sight, pairs, y)
    fresh = pairs_of(problem, 40, seed=2)
    wanted = changes(fresh, true.scores(fresh.states, fresh.steps))
    said = changes(fresh, found.scores(fresh.states, fresh.steps))
    assert ((said - wanted) ** 2).mean() < 0.03 * wanted.var()


def test_what_all_columns_share_is_learned_from_few_comparisons():
    """With some ten numbers to each outlet, and less than one comparison to each of them."""
    problem = PROBLEMS[0]
    sight = sight_of(problem)
    true = random_linear(sight)
    one = true.weights[:1].repeat(len(sight.node), axis=0)
    shared = type(true)(sight, one, 0 * true.bias)
    fresh = pairs_of(problem, 60, seed=2)

    def error(scores):
        few = pairs_of(problem, 6, each=2)
        y = changes(few, scores.scores(few.states, few.steps))
        found = fit_scores(sight, [few], [y])
        wanted = changes(fresh, scores.scores(fresh.states, fresh.steps))
        said = changes(fresh, found.scores(fresh.states, fresh.steps))
        return ((said - wanted) ** 2).mean() / wanted.var()

    assert error(shared) < 0.2 < error(true)


def test_changes_are_sums_of_scores_in_and_out():
    pairs = pairs_of(PROBLEMS[0], 5)
    scores = np.random.default_rng(0).standard_normal((len(pairs.states), 5))
    found = changes(pairs, scores)
    for number in range(0, len(found), 9):
        own = scores[pairs.state[number]]
        wanted = own @ pairs.tried[number] - own @ pairs.actions[pairs.state[number]]
        assert found[number] == pytest.approx(wanted)
