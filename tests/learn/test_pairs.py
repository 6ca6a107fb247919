"""What other actions would have earned, under the same luck."""

from functools import partial

import numpy as np
import pytest

from sequoia.learn.pairs import compare
from sequoia.problem import Budget
from sequoia.problem.families import epidemic
from sequoia.simulate.paired_rollouts import Candidates


class Walk:
    """Two counters that columns move by 1; luck is paid out, and the third column does nothing."""

    name, fingerprint = "walk", "walk 1"
    space = Budget(np.ones(3), 3)
    horizon, discount, n_noise = 6, 0.9, 2

    def draw_start(self, rng, count):
        return np.zeros((count, 2), np.int64)

    def step(self, states, actions, noise):
        earned = states @ [1.0, 10.0] + 100.0 * noise[:, 0] - actions[:, 0]
        return earned, states + actions[:, :2]


class Forgetful(Walk):
    """The same, but the first counter is thrown away by the next step."""

    def step(self, states, actions, noise):
        earned, after = super().step(states, actions, noise)
        after[:, 0] = actions[:, 0]
        return earned, after


def policy(states, steps, rng):  # noqa: ARG001
    """Move the second counter where it is not ahead, else the first."""
    found = np.zeros((len(states), 3), np.int8)
    ahead = states[:, 1] > states[:, 0]
    found[np.arange(len(states)), np.where(ahead, 0, 1)] = 1
    return found


STATES = np.array([[0, 0], [2, 1], [1, 3]])
STEPS = np.array([0, 1, 2])
ACTIONS = policy(STATES, STEPS, None)


def candidates(*tried):
    """Return these actions in all states, one after the other."""
    state = np.repeat(np.arange(len(STATES)), len(tried))
    return Candidates(state, np.tile(np.array(tried, np.int8), (len(STATES), 1)))


def pairs_of(tried, depth, rollouts=3, discount=0.9, environment=None, steps=STEPS):
    environment = Walk() if environment is None else environment
    luck = (depth, rollouts, discount, np.random.default_rng(0))
    return compare(environment, policy, STATES, steps, ACTIONS, tried, *luck)


def by_hand(environment, state, action, own, depth, discount, last=10**9, step=0):
    """Return what an action earns more than another, and where both end, without luck."""
    gained, ends = 0.0, []
    for first, sign in ((action, 1), (own, -1)):
        at, chosen = state[None], np.asarray(first)[None]
        for ahead in range(min(depth, last - step)):
            earned, at = environment.step(at, chosen, np.zeros((1, 2)))
            gained += sign * discount**ahead * earned[0]
            chosen = policy(at, None, None)
        ends.append(at[0])
    return gained, ends[0], ends[1]


@pytest.mark.parametrize("depth", [1, 3])
def test_the_same_action_gains_nothing(depth):
    same = Candidates(np.arange(3), ACTIONS)
    found = pairs_of(same, depth)
    assert not found.gained.any()
    assert np.array_equal(found.own, found.other)


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_luck_is_the_same_for_both(depth):
    """It is paid out ten to a hundred times as high as all the rest; none of it is left."""
    found = pairs_of(candidates([1, 0, 0], [0, 0, 1], [1, 1, 0], [0, 0, 0]), depth)
    for number, (state, action) in enumerate(zip(found.state, found.tried, strict=True)):
        own = ACTIONS[state]
        wanted, ended, twin = by_hand(Walk(), STATES[state], action, own, depth, 0.9)
        assert found.gained[number] == pytest.approx(wanted, abs=1e-9)
        assert (found.other[:, number] == ended).all()
        assert (found.own[:, state] == twin).all()


@pytest.mark.parametrize("environment", [Walk(), Forgetful()])
def test_three_steps_and_a_critic_are_a_rollout_by_hand(environment):
    tried = candidates([1, 0, 0], [1, 1, 0])
    found = pairs_of(tried, 3, environment=environment)

    class Critic:
        def values(self, states, steps):
            return states @ [2.0, 5.0] + steps

    advantages = found.advantages(Critic(), 0.9)
    for number, (state, action) in enumerate(zip(tried.state, tried.actions, strict=True)):
        gained, ended, twin = by_hand(environment, STATES[state], action, ACTIONS[state], 3, 0.9)
        wanted = gained + 0.9**3 * (ended - twin) @ [2.0, 5.0]
        assert advantages[number] == pytest.approx(wanted, abs=1e-9)


def test_what_has_met_its_twin_stays_with_it():
    """A column that does nothing meets at once, another one in the next step, the last never."""
    tried = candidates([0, 0, 1], [1, 0, 0], [0, 1, 1], [1, 1, 1])
    found = pairs_of(tried, 5, environment=Forgetful())
    differs = (found.other != found.own[:, found.state]).any(axis=(0, 2))
    third = ACTIONS.copy()
    third[:, 2] = 1
    meets = (tried.actions == third[tried.state]).all(axis=1)
    assert meets.any()
    assert not differs[meets].any()
    assert differs.any()
    assert not found.gained[meets].any()
    for number in np.flatnonzero(~meets):
        state = tried.state[number]
        own = by_hand(Forgetful(), STATES[state], tried.actions[number], ACTIONS[state], 5, 0.9)
        assert found.gained[number] == pytest.approx(own[0], abs=1e-9)
        assert (found.other[:, number] == own[1]).all()


def test_nothing_is_played_beyond_the_end_of_an_episode():
    """Where all steps count alike; what comes then is worth nothing."""
    tried, steps = candidates([1, 0, 0], [0, 0, 0]), np.array([5, 4, 0])
    found = pairs_of(tried, 3, discount=1.0, steps=steps)
    for number, (state, action) in enumerate(zip(tried.state, tried.actions, strict=True)):
        given = (STATES[state], action, ACTIONS[state], 3, 1.0, Walk.horizon, steps[state])
        assert found.gained[number] == pytest.approx(by_hand(Walk(), *given)[0], abs=1e-9)


def test_with_a_discount_comparisons_go_on_beyond_the_end():
    tried = candidates([1, 0, 0])
    late = pairs_of(tried, 3, steps=np.full(3, 5))
    early = pairs_of(tried, 3, steps=np.zeros(3, np.int64))
    assert late.gained == pytest.approx(early.gained, abs=1e-9)


def test_rollouts_differ_by_their_luck_and_are_averaged():
    problem = epidemic(arms=6, budget=2, horizon=6, seed=1)
    rng = np.random.default_rng(0)
    states = problem.draw_start(rng, 30)
    steps, none = np.zeros(30, np.int64), np.zeros((30, 6), np.int8)
    one = none.copy()
    one[:, 0] = 1

    def idle(states, steps, rng):  # noqa: ARG001
        return np.zeros((len(states), 6), np.int8)

    play = partial(compare, problem, idle, states, steps, none, Candidates(np.arange(30), one))
    found = play(3, 8, 1.0, np.random.default_rng(1))
    assert found.own.shape == (8, 30, 6)
    assert (found.own[0] != found.own[1]).any()
    # To treat somebody never does harm.
    assert found.gained.min() > -1e-9
    assert found.gained.max() > 0
    assert found.own.dtype == np.int8
