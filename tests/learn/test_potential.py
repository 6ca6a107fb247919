"""What lasts, and was never so before, is worth something where rewards are rare."""

import numpy as np
import pytest

from learned_cases import Switches
from sequoia.learn.candidates import random_actions
from sequoia.learn.play import Play, play
from sequoia.learn.potential import Potential
from sequoia.optimize.auto import RolloutAuto
from sequoia.optimize.encoding import ActionEncoding


def played_in(environment, episodes=200):
    argmax = RolloutAuto(ActionEncoding.of(environment))

    def act(states, steps, rng):
        return random_actions(environment, argmax, states, steps, rng)

    return play(environment, act, act, 0.0, episodes, np.random.default_rng(0))


def test_each_lasting_change_is_worth_a_step():
    found = Potential.of(Switches(), played_in(Switches()), np.ones(5, bool))
    states = np.array([[0, 0, 0, 0, 0], [1, 0, 0, 0, 0], [1, 1, 1, 0, 0]])
    assert found.values(states, np.zeros(3, np.int64)).tolist() == [0, 1, 3]


def transitions(states, rewards=0.0):
    """Return play of one episode through these states."""
    states = np.asarray(states)
    count = len(states) - 1
    none, steps = np.zeros((count, 1), np.int8), np.arange(count)
    earned = np.full(count, rewards)
    return Play(states[:-1], steps, none, earned, states[1:], steps < 0)


class Three:
    """Is three steps long."""

    horizon = 3


def test_what_comes_back_does_not_last():
    play = transitions([[0, 0, 5], [1, 1, 5], [0, 2, 5], [0, 1, 5]], rewards=-4.0)
    found = Potential.of(Three(), play, np.ones(3, bool))
    # The first returns, the second changes on and on but never back, the third never changes.
    assert found.worth.tolist() == [0, 4, 0]


def test_what_helps_more_counts_for_more():
    class Knowing(Three):
        relevance = np.array([1.0, 0.25])

    found = Potential.of(Knowing(), transitions([[0, 0], [1, 0], [1, 1], [1, 1]]), np.ones(2, bool))
    assert found.worth.tolist() == [1, 0.25]


@pytest.mark.parametrize("states", [[[0], [1], [0], [1]], [[2], [2], [2], [2]]])
def test_where_nothing_lasts_there_is_none(states):
    assert Potential.of(Three(), transitions(states), np.ones(1, bool)) is None
