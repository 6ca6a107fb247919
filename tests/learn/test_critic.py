"""What states are worth under random play, against the exact values; and what places are worth."""

import itertools

import numpy as np
import pytest

from sequoia import Arms, Budget, Problem
from sequoia.learn.critic import LocalCritic, displacement, fit_critic
from sequoia.learn.play import play
from sequoia.learn.reward_shares import DeclaredShares, find_shares
from sequoia.models.sight import Sight
from sequoia.problem import Dependencies

STATES = np.array(list(itertools.product(range(3), repeat=2)))


def chain(horizon, discount):
    """Return two arms of three states, of which one at a time may be acted on."""
    rng = np.random.default_rng(5)
    kernels = rng.dirichlet(np.ones(3), (2, 2, 3))
    arms = Arms([[0, 1, 4], [0, 2, 3]], [[0, 1], [0, 1]], kernels)
    start = np.full((2, 3), 1 / 3)
    space = Budget(np.ones(2), 1)
    return Problem("chain", arms, space, start, horizon=horizon, discount=discount)


def evenly(states, steps, rng):  # noqa: ARG001
    """Act on the first arm, on the second or on none, each as likely."""
    return np.array([[0, 0], [1, 0], [0, 1]], np.int8)[rng.integers(0, 3, len(states))]


def exact_by_arm(problem, discount, steps):
    """Return what the states of each arm are worth under this play, ``(steps + 1, 2, 3)``."""
    arms = problem.arms
    moves = (2 * arms.kernels[:, 0] + arms.kernels[:, 1]) / 3
    rewards = np.einsum("jst,jt->js", moves, arms.rewards)
    values = np.zeros((steps + 1, 2, 3))
    for step in reversed(range(steps)):
        values[step] = rewards + discount * np.einsum("jst,jt->js", moves, values[step + 1])
    return values


def exact(problem, discount, steps):
    by_arm = exact_by_arm(problem, discount, steps)
    return by_arm[:, 0][:, STATES[:, 0]] + by_arm[:, 1][:, STATES[:, 1]]


def fitted(problem, discount, is_timeless, episodes=1_500):
    rng = np.random.default_rng(0)
    played = play(problem, evenly, evenly, 0.0, episodes, rng)
    sight = Sight.of(played.states, problem.dependencies, problem.horizon, is_timeless)
    prices = np.zeros((2, sight.n_times))
    return fit_critic([played], sight, DeclaredShares(problem), prices, discount)


def apart(found, wanted):
    """Return how far values are apart beside a constant, as a share of how they spread."""
    error = found - wanted
    return (error - error.mean()).std() / wanted.std()


@pytest.mark.parametrize(("step", "most"), [(0, 0.1), (3, 0.1), (7, 0.2)])
def test_it_is_close_to_the_exact_value_at_each_step(step, most):
    """Squares of the time left bend less than values do towards the end."""
    problem = chain(8, 1.0)
    critic = fitted(problem, 1.0, False)
    found = critic.values(STATES, np.full(9, step))
    assert apart(found, exact(problem, 1.0, 8)[step]) < most


def test_where_time_does_not_matter_it_is_that_of_all_time_to_come():
    problem = chain(60, 0.8)
    critic = fitted(problem, 0.8, True, episodes=300)
    wanted = exact(problem, 0.8, 200)[0]
    for step in (0, 59):
        assert apart(critic.values(STATES, np.full(9, step)), wanted) < 0.05


def test_an_episode_that_is_over_is_worth_nothing():
    critic = fitted(chain(4, 1.0), 1.0, False, episodes=100)
    assert not critic.values(STATES, np.full(9, 4)).any()
    assert critic.values(STATES, np.full(9, 3)).any()


def test_what_a_column_costs_is_taken_from_its_component():
    """With a price as high as what acting brings, values are those of less."""
    problem = chain(8, 1.0)
    rng = np.random.default_rng(0)
    played = play(problem, evenly, evenly, 0.0, 1_500, rng)
    sight = Sight.of(played.states, problem.dependencies, 8, False)
    shares = DeclaredShares(problem)
    prices = np.zeros((2, 3))
    free = fit_critic([played], sight, shares, prices, 1.0)
    prices[0, 0] = 3.0
    dear = fit_critic([played], sight, shares, prices, 1.0)
    steps = np.zeros(9, np.int64)
    # A third of 8 steps at 3 each.
    change = dear.values(STATES, steps) - free.values(STATES, steps)
    assert change == pytest.approx(-8, abs=0.5)


def test_shares_that_were_found_do_as_well_as_declared_ones():
    problem = chain(8, 1.0)
    rng = np.random.default_rng(0)
    played = play(problem, evenly, evenly, 0.0, 1_500, rng)
    sight = Sight.of(played.states, problem.dependencies, 8, False)

    class Game:
        """Says nothing of what components earn."""

    shares = find_shares(Game(), played, sight, rng)
    critic = fit_critic([played], sight, shares, np.zeros((2, 3)), 1.0)
    assert apart(critic.values(STATES, np.zeros(9, np.int64)), exact(problem, 1.0, 8)[0]) < 0.15


def test_components_of_a_kind_share_what_none_of_them_saw_often():
    """One of four equal arms is never seen outside its first state."""
    rng = np.random.default_rng(1)
    nothing = Dependencies(np.zeros((4, 4)), np.eye(4))
    states = rng.integers(0, 2, (4_000, 4))
    states[:, 3] = 0
    sight = Sight.of(np.concatenate([states, np.ones((1, 4), np.int64)]), nothing, 2, True)

    class Shares:
        def of(self, states, actions, following):
            return 2.0 * states

    from sequoia.learn.play import Play

    actions, steps = np.zeros((4_000, 4), np.int8), np.zeros(4_000, np.int64)
    played = Play(states, steps, actions, 2.0 * states.sum(axis=1), 0 * states, steps == 1)
    critic = fit_critic([played], sight, Shares(), np.zeros((4, 1)), 0.5)
    zero, one = critic.values(np.array([[0, 0, 0, 0], [0, 0, 0, 1]]), np.zeros(2, np.int64))
    assert one - zero == pytest.approx(2, abs=0.05)


# ------------------------------------------------------------------ displacement


def price_of_places(space, weights):
    """Return what chosen columns cost, where all states have much the same weights."""
    columns = len(weights[0])
    nothing = Dependencies(np.zeros((columns, columns)), np.eye(columns))
    sight = Sight.of(np.zeros((1, columns)), nothing, 5, True)
    every = space.enumerate(1_000)
    return displacement(
        sight,
        np.zeros(len(weights), np.int64),
        weights,
        lambda actions: (weights * actions).sum(axis=1),
        lambda own: every[(own @ every.T).argmax(axis=1)],
        np.random.default_rng(0),
    )[:, 0]


def test_with_a_budget_each_place_is_worth_the_best_column_without_one():
    weights = np.tile([5.0, 4.0, 3.0, 2.0, 1.0], (4_000, 1))
    found = price_of_places(Budget(np.ones(5), 2), weights)
    assert found == pytest.approx(3, abs=1e-2)


def test_in_a_knapsack_it_is_worth_all_that_would_take_its_room():
    weights = np.tile([5.0, 2.0, 2.5, 1.0], (4_000, 1))
    found = price_of_places(Budget([2, 1, 1, 1], 2), weights)
    # Without the first, which fills it alone, the next two fit.
    assert found[0] == pytest.approx(4.5, abs=1e-2)


def test_where_there_is_room_for_all_places_cost_nothing():
    weights = np.tile([5.0, 2.0, 2.5, 1.0], (4_000, 1))
    assert price_of_places(Budget(np.ones(4), 4), weights) == pytest.approx(0, abs=1e-9)


def test_each_column_has_a_price_of_its_own_where_they_differ():
    """Of two columns that cost one each, and two that cost two, in states of two sorts."""
    space = Budget([1, 1, 2, 2], 2)
    weights = np.tile([[3.0, 2.0, 1.0, 4.0], [1.0, 0.5, 9.0, 7.0]], (3_000, 1))
    found = price_of_places(space, weights)
    # The first sort takes columns 0 and 1 (3 + 2 > 4), the second column 2, instead of column 3.
    assert found[0] == pytest.approx(4 - 2, abs=0.1)
    assert found[1] == pytest.approx(4 - 3, abs=0.1)
    assert found[2] == pytest.approx(7, abs=0.1)


def test_a_critic_says_the_same_of_rows_in_parts(monkeypatch):
    from sequoia.models import scores

    critic = fitted(chain(4, 1.0), 1.0, False, episodes=100)
    assert isinstance(critic, LocalCritic)
    steps = np.arange(9) % 5
    whole = critic.values(STATES, steps)
    monkeypatch.setattr(scores, "_TOGETHER", 20)
    assert critic.values(STATES, steps) == pytest.approx(whole)
