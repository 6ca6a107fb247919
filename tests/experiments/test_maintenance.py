"""k out of n components that are inspected and replaced: beliefs, costs, published figures."""

from itertools import product

import numpy as np
import pytest

from experiments.field.maintenance import (
    DAMAGES,
    FAILED,
    PUBLISHED_HORIZON,
    Maintenance,
    draw,
    make,
)
from experiments.field.maintenance_baselines import (
    PUBLISHED,
    Heuristic,
    best_heuristic,
    discounted_cost,
    fail_and_replace,
    in_order,
)
from experiments.play import no_action, returns
from sequoia.errors import ProblemError
from sequoia.problem import check_environment
from sequoia.rng import stream

MEMBERS = [make(1), make(3), draw(0, 2, 3), draw(1, 4, 6), make(2, 5, mobilisation=0)]


def random_play(environment, episodes=50, steps=12):
    """Yield states, actions, rewards and next states of play that breaks no rule."""
    rng = stream(0, "random play")
    states, count = environment.draw_start(rng, episodes), environment.n_components
    for _ in range(steps):
        choice = rng.integers(3, size=(episodes, count))
        actions = np.concatenate([choice == 1, choice == 2], axis=1).astype(np.int8)
        rewards, following = environment.step(
            states, actions, rng.random((episodes, environment.n_noise))
        )
        yield states, actions, rewards, following
        states = following


@pytest.mark.parametrize("environment", MEMBERS, ids=lambda environment: environment.name)
def test_keeps_the_promises_of_an_environment(environment):
    check_environment(environment)


@pytest.mark.parametrize("environment", MEMBERS, ids=lambda environment: environment.name)
def test_beliefs_stay_probabilities(environment):
    for *_, following in random_play(environment):
        beliefs = environment.beliefs(following)
        assert (beliefs >= 0).all()
        assert beliefs.sum(axis=2) == pytest.approx(1)


def chances_of_damage(environment, component, damage, is_replaced):
    """Return the probability of each next damage, from the words of the description."""
    success = environment.replace_success[component] if is_replaced and damage else 0.0
    chances = np.zeros(DAMAGES)
    for before, chance in ((0, success), (damage, 1 - success)):
        if before == FAILED:
            chances[FAILED] += chance
        else:
            chances += chance * environment.wear[component, before]
    return chances


def chance_of_reading(environment, component, damage, reading):
    right, failed = environment.accuracy[component], environment.replace_success[component]
    wrong = 1 - right
    return {
        0: {0: right, 1: wrong, 2: 0.0},
        1: {0: wrong / 2, 1: right, 2: wrong / 2},
        2: {0: 0.0, 1: 1 - failed, 2: failed},
    }[damage][reading]


def test_beliefs_follow_bayes_rule():
    """Two components: all damages before and after, and all readings, are enumerated."""
    environment = draw(3, 1, 2)
    rng = np.random.default_rng(0)
    before = rng.dirichlet(np.ones(DAMAGES), 2)
    for doings in product(("nothing", "replace", "inspect"), repeat=2):
        actions = np.array([[d == "replace" for d in doings] + [d == "inspect" for d in doings]])
        # Readings of components are independent, so one grid serves both.
        noise = np.repeat(np.linspace(0.0005, 0.9995, 1_000)[:, None], 2, axis=1)
        many, repeated = (
            np.repeat(row.reshape(1, -1), len(noise), axis=0).astype(kind)
            for row, kind in ((before, np.float64), (actions, np.int8))
        )
        following = environment.beliefs(environment.step(many, repeated, noise)[1])
        seen = [set(map(tuple, np.round(following[:, c], 9))) for c in range(2)]
        for component, doing in enumerate(doings):
            joint = np.zeros((DAMAGES, DAMAGES))  # damage after, reading
            after = sum(
                before[component, damage]
                * chances_of_damage(environment, component, damage, doing == "replace")
                for damage in range(DAMAGES)
            )
            for damage, reading in product(range(DAMAGES), repeat=2):
                chance = chance_of_reading(environment, component, damage, reading)
                joint[damage, reading] = after[damage] * (chance if doing == "inspect" else 1)
            wanted = {tuple(np.round(column / column.sum(), 9)) for column in joint.T}
            assert seen[component] == wanted


def test_readings_are_as_likely_as_the_belief_says():
    """The mean of the next belief is the belief without a reading."""
    environment = make(2)
    states = np.random.default_rng(1).dirichlet(np.ones(DAMAGES), 4).reshape(1, -1)
    blind, inspected = np.zeros((1, 8), np.int8), np.array([[0] * 4 + [1] * 4], np.int8)
    _, expected = environment.step(states, blind, np.zeros((1, 4)))
    grid = (np.arange(20_000) + 0.5) / 20_000
    many = np.repeat(states, len(grid), axis=0)
    noise = np.repeat(grid[:, None], 4, axis=1)
    _, following = environment.step(many, np.repeat(inspected, len(grid), axis=0), noise)
    assert following.mean(axis=0) == pytest.approx(expected[0], abs=1e-4)


@pytest.mark.parametrize("environment", MEMBERS, ids=lambda environment: environment.name)
def test_costs_are_those_of_the_description(environment):
    for states, actions, rewards, _ in random_play(environment, episodes=5, steps=5):
        for state, action, reward in zip(states, actions, rewards, strict=True):
            failed = environment.beliefs(state[None])[0, :, FAILED]
            system = sum(
                np.where(works, 1 - failed, failed).prod()
                for works in product((False, True), repeat=len(failed))
                if sum(works) < environment.k
            )
            costs = np.concatenate([environment.replace_cost, environment.inspect_cost])
            cost = costs @ action + environment.mobilisation * action.any()
            assert -reward == pytest.approx(cost + environment.failure_cost * system)


def test_actions():
    space = make(1).space
    assert len(space.enumerate(100)) == 3**4
    assert space.names[0] == "replace 1"
    assert space.names[4] == "inspect 1"
    both = np.zeros(8, np.int8)
    both[[0, 4]] = 1
    assert not space.contains(both[None])[0]


@pytest.mark.parametrize("k", PUBLISHED)
def test_published_cost_of_doing_nothing(k):
    environment = make(k, horizon=PUBLISHED_HORIZON)
    cost, half = discounted_cost(environment, no_action(environment), 2, 0)
    assert cost == pytest.approx(PUBLISHED[k].nothing, abs=0.01)
    assert half == pytest.approx(0)


# Figures of doing nothing in the public code's table of baselines.
@pytest.mark.parametrize(
    ("k", "n", "factor", "cost"),
    [
        (1, 2, 3, 156.60),
        (2, 2, 3, 487.12),
        (1, 3, 3, 180.00),
        (3, 3, 3, 1136.45),
        (1, 4, 1.5, 111.12),
    ],
)
def test_published_variants_without_mobilisation(k, n, factor, cost):
    environment = make(k, n, mobilisation=0, failure_factor=factor, horizon=PUBLISHED_HORIZON)
    assert discounted_cost(environment, no_action(environment), 2, 0)[0] == pytest.approx(
        cost, abs=0.01
    )


@pytest.mark.parametrize("k", PUBLISHED)
def test_published_cost_of_fail_and_replace(k):
    environment = make(k, horizon=PUBLISHED_HORIZON)
    cost, half = discounted_cost(environment, fail_and_replace(environment), 2_000, 0)
    assert abs(cost - PUBLISHED[k].fail_replace) < 2.5 * half


def test_order_of_baselines():
    """A heuristic from a small grid is better than both others, and no better than the optimum."""
    for k in (1, 2):
        environment = make(k, horizon=PUBLISHED_HORIZON)
        best = best_heuristic(environment, 50, intervals=(2, 10), thresholds=(0.2, 0.5))
        cost, half = discounted_cost(environment, best, 1_000, 1)
        worst = min(PUBLISHED[k].nothing, PUBLISHED[k].fail_replace)
        assert PUBLISHED[k].lower < cost + half < worst
        assert str(best).startswith("inspect")


def test_heuristic_breaks_no_rule():
    environment = make(2)
    policy = Heuristic(environment, 2, 3, 1, 0.3)
    rng = stream(0, "heuristic")
    states = environment.draw_start(rng, 40)
    for step in range(10):
        actions = policy(states, step, rng)
        assert environment.space.contains(actions).all()
        assert not actions[:, 4 + in_order(environment)[3]].any()
        _, states = environment.step(states, actions, rng.random((40, 4)))


def test_equal_seeds_give_equal_luck():
    environment = make(2, horizon=8)
    heuristic = Heuristic(environment, 1, 4, 1, 0.5)
    first = returns(environment, heuristic, 30, 0)
    assert np.array_equal(first, returns(environment, heuristic, 30, 0))
    assert not np.array_equal(first, returns(environment, heuristic, 30, 1))


def test_draws_differ_and_are_repeatable():
    assert draw(0, 1, 4).fingerprint == draw(0, 1, 4).fingerprint
    members = [draw(0, 1, 4), draw(1, 1, 4), draw(0, 2, 4), make(1), make(1, horizon=20)]
    assert len({member.fingerprint for member in members}) == len(members)


def test_what_is_no_system_is_refused():
    with pytest.raises(ProblemError, match="k is 5"):
        make(5)
    with pytest.raises(ProblemError, match="probabilities that add up to 1"):
        Maintenance("x", 1, np.ones((1, 2, 3)), *([1.0] for _ in range(4)), failure_cost=1)
