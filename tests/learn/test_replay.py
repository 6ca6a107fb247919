"""Transitions come back as often as they surprised, and weights make up for it."""

import numpy as np
import pytest
from learning_cases import tiny

from sequoia.learn.replay import Replay

PROBLEM = tiny()
RNG = np.random.default_rng(0)


def transitions(count, first=0):
    """Return transitions that carry their number as reward and step."""
    number = np.arange(first, first + count)
    states = np.stack([number % 3, number // 3 % 3, number // 9 % 3], axis=1)
    actions = np.eye(3, dtype=np.int8)[number % 3]
    return states, number, actions, number.astype(float), (states + 1) % 3


def filled(count=5, capacity=10, alpha=0.6):
    replay = Replay(PROBLEM, capacity, alpha)
    replay.add(*transitions(count))
    return replay


def frequencies(replay, draws=40_000):
    places, _ = replay.sample(np.random.default_rng(1), draws, 1.0)
    return np.bincount(places, minlength=len(replay)) / draws


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_draws_follow_priorities(alpha):
    replay = filled(alpha=alpha)
    td_errors = np.array([0.1, -2.0, 1.0, 0.5, -0.2])
    replay.update(np.arange(5), td_errors)
    chances = (np.abs(td_errors) + 1e-6) ** alpha
    assert frequencies(replay) == pytest.approx(chances / chances.sum(), abs=0.01)


def test_weights_make_up_for_uneven_draws():
    replay = filled(alpha=1.0)
    replay.update(np.arange(5), np.array([1.0, 2.0, 4.0, 8.0, 16.0]))
    places, weights = replay.sample(np.random.default_rng(2), 4_000, 1.0)
    assert weights == pytest.approx(2.0 ** -places.astype(float) / (2.0**-places).max())
    mean = (weights * replay.rewards[places]).sum() / weights.sum()
    assert mean == pytest.approx(replay.rewards[:5].mean(), abs=0.15)
    places, weights = replay.sample(np.random.default_rng(2), 100, 0.5)
    assert weights == pytest.approx(2.0 ** (-0.5 * (places - places.min())))


def test_no_correction_leaves_weights_equal():
    replay = filled(alpha=1.0)
    replay.update(np.arange(5), np.arange(1.0, 6.0))
    assert replay.sample(RNG, 50, 0.0)[1].tolist() == [1.0] * 50


def test_new_transitions_have_the_largest_priority():
    replay = filled(4)
    assert replay.priorities[:4].tolist() == [1.0] * 4
    replay.update(np.array([1]), np.array([-7.0]))
    replay.add(*transitions(2, first=4))
    assert replay.priorities[4:6] == pytest.approx(7.0, abs=1e-5)
    assert replay.priorities[0] == 1.0
    assert replay.priorities[6:].tolist() == [0.0] * 4


def test_only_updated_places_change():
    replay = filled()
    replay.update(np.array([3, 0]), np.array([0.25, -0.5]))
    assert replay.priorities[:5] == pytest.approx([0.5, 1, 1, 0.25, 1], abs=1e-5)


def test_what_never_surprises_is_still_drawn_now_and_then():
    replay = filled()
    replay.update(np.arange(5), np.zeros(5))
    assert frequencies(replay) == pytest.approx(0.2, abs=0.01)


def test_the_oldest_give_way():
    replay = Replay(PROBLEM, 4, 0.6)
    for first, count in ((0, 3), (3, 3), (6, 1)):
        replay.add(*transitions(count, first))
    assert len(replay) == 4
    assert sorted(replay.rewards) == [3, 4, 5, 6]
    places, _ = replay.sample(RNG, 200, 1.0)
    assert set(places) == {0, 1, 2, 3}
    states, steps, actions, _, following = transitions(7)
    for place, number in enumerate(replay.rewards.astype(int)):
        assert replay.steps[place] == steps[number]
        assert replay.states[place].tolist() == states[number].tolist()
        assert replay.actions[place].tolist() == actions[number].tolist()
        assert replay.following[place].tolist() == following[number].tolist()


def test_more_at_once_than_fit():
    replay = Replay(PROBLEM, 4, 0.6)
    replay.add(*transitions(11))
    assert len(replay) == 4
    assert sorted(replay.rewards) == [7, 8, 9, 10]


def test_nothing_is_drawn_from_places_that_are_not_used():
    replay = filled(3, capacity=1000)
    assert set(replay.sample(RNG, 500, 1.0)[0]) == {0, 1, 2}
