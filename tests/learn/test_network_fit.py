"""Networks learn what sums cannot say: of states, of columns, and of columns together."""

import numpy as np
import pytest

from learned_cases import sight_of
from sequoia.learn.actor import changes, fit_scores
from sequoia.learn.network_fit import (
    Returns,
    SumCritic,
    first_parameters,
    fit_joint_part,
    fit_score_network,
    fit_value_network,
    may_be_whole,
)
from sequoia.learn.pairs import Pairs
from sequoia.learn.play import Play
from sequoia.models.sight import Sight
from sequoia.problem import Dependencies
from sequoia.problem.families import epidemic

NO_GRAPH = Dependencies(np.zeros((3, 3)), np.eye(3))


def pairs_of(sight, values, size=400, each=5, seed=0):
    """Return pairs in random states, and how much better candidates are by ``values``."""
    rng = np.random.default_rng(seed)
    components, columns = sight.n_components, sight.n_columns
    states = rng.integers(0, 2, (size, components))
    steps = rng.integers(0, sight.horizon, size)
    actions = rng.integers(0, 2, (size, columns)).astype(np.int8)
    state = np.repeat(np.arange(size), each)
    tried = rng.integers(0, 2, (len(state), columns)).astype(np.int8)
    ends = np.zeros((1, size, 1)), np.zeros((1, len(state), 1))
    pairs = Pairs(states, steps, actions, state, tried, np.zeros(len(state)), *ends, 1)
    return pairs, values(states[state], tried) - values(states, actions)[state]


def seen():
    return Sight.of(np.array([[0, 0, 0], [1, 1, 1]]), NO_GRAPH, 4, False)


def share_left(y, said):
    return float(((y - said) ** 2).mean() / y.var())


def either(states, actions):  # noqa: ARG001
    """Say whether just one of the first two columns is chosen."""
    return (actions[:, 0] ^ actions[:, 1]).astype(float)


def test_a_joint_part_learns_what_no_sum_over_columns_says():
    sight = seen()
    pairs, y = pairs_of(sight, either)
    rng = np.random.default_rng(1)
    linear = fit_scores(sight, [pairs], [y])
    fresh, wanted = pairs_of(sight, either, seed=1)
    assert share_left(wanted, changes(fresh, linear.scores(fresh.states, fresh.steps))) > 0.9
    joint = fit_joint_part(sight, [pairs], [y], None, rng)
    at = fresh.state

    def said(part):
        here = part.values(fresh.states, fresh.steps, fresh.actions)
        return part.values(fresh.states[at], fresh.steps[at], fresh.tried) - here[at]

    first = share_left(wanted, said(joint))
    assert first < 0.1
    # It goes on from what it has learned, also where numbers are ten times as large.
    more = fit_joint_part(sight, [pairs], [10 * y], joint, rng)
    assert share_left(10 * wanted, said(more)) < first


def test_a_score_network_learns_what_depends_on_both_neighbours_at_once():
    """A column is worth something where just one of two neighbours is ill."""
    problem = epidemic(arms=6, budget=2, horizon=4, village=6)
    sight = sight_of(problem)
    ring = sight.graph.toarray() > 0

    def values(states, actions):
        return ((states @ ring.T % 2 == 1) * actions).sum(axis=1).astype(float)

    pairs, y = pairs_of(sight, values, size=600)
    fresh, wanted = pairs_of(sight, values, size=200, seed=1)
    linear = fit_scores(sight, [pairs], [y])
    network = fit_score_network(sight, [pairs], [y], None, np.random.default_rng(0))
    for _ in range(2):
        network = fit_score_network(sight, [pairs], [y], network, np.random.default_rng(1))
    left = [
        share_left(wanted, changes(fresh, own.scores(fresh.states, fresh.steps)))
        for own in (linear, network)
    ]
    assert left[1] < 0.6 * left[0]


def played(episodes=400, horizon=4):
    """Return play in which a step earns 1 while just one of two components is 1, and they stay."""
    rng = np.random.default_rng(0)
    states = np.tile(rng.integers(0, 2, (episodes, 3)), (horizon, 1))
    steps = np.repeat(np.arange(horizon), episodes)
    rewards = (states[:, 0] ^ states[:, 1]).astype(float)
    none = np.zeros((len(states), 3), np.int8)
    return Play(states, steps, none, rewards, states, np.zeros(len(states), np.bool_))


def test_a_value_network_learns_what_no_sum_over_components_says():
    sight, play = seen(), played()
    returns = Returns.of([play], sight, 1.0)
    network = fit_value_network(returns, sight, None, np.random.default_rng(0))
    network = fit_value_network(returns, sight, network, np.random.default_rng(1))
    critic = SumCritic([network], sight)
    nothing = returns.errors(np.zeros(returns.steps.shape)).mean()
    assert returns.errors(returns.values(critic)).mean() < 0.1 * nothing
    assert not critic.values(play.states, np.full(len(play.states), 4)).any()


def test_returns_are_what_was_earned_up_to_a_step_that_strayed():
    sight = seen()
    play = played(episodes=2)
    rewards = np.array([1.0, 2.0, 3.0, 4.0]).repeat(2)
    strayed = np.zeros(8, np.bool_)
    strayed[2 * 2 + 1] = True
    changed = Play(**{**vars(play), "rewards": rewards, "strayed": strayed})
    returns = Returns.of([changed], sight, 0.5)
    values = np.full((5, 2), 100.0)
    values[-1] = 0.0
    whole = returns.targets(values, 1.0)
    assert whole[:, 0].tolist() == [1 + 1 + 0.75 + 0.5, 2 + 1.5 + 1, 3 + 2, 4]
    # In the second episode, what follows the second step was not the policy's doing.
    assert whole[:, 1].tolist() == [1 + 0.5 * (2 + 50), 2 + 50, 3 + 2, 4]
    assert returns.targets(values, 0.0)[:, 0].tolist() == [51, 52, 53, 4]


def test_first_weights_say_nothing():
    rng = np.random.default_rng(0)
    found = first_parameters({"in": (3, 8), "out": (8, 2), "output": (8,), "bias": (8,)}, rng)
    assert found["in"].any()
    assert not any(found[name].any() for name in ("out", "output", "bias"))


@pytest.mark.parametrize(("components", "wanted"), [(8, True), (2_000, False)])
def test_states_of_few_numbers_may_be_seen_as_a_whole(components, wanted):
    structure = Dependencies(np.zeros((components, components)), np.eye(components))
    states = np.array([[0], [1]]).repeat(components, axis=1)
    assert may_be_whole(Sight.of(states, structure, 4, False)) == wanted
