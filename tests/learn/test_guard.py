"""A policy is kept when it wins on fresh luck, which is the same for both."""

import numpy as np
import pytest

from sequoia.learn.guard import Guard
from sequoia.problem import Budget
from sequoia.rng import stream


class Game:
    """Luck is a thousand times what the column adds; a step pays more by its state."""

    name, fingerprint = "game", "game 1"
    space = Budget(np.ones(2), 2)
    horizon, discount, n_noise = 4, 0.5, 1

    def draw_start(self, rng, count):
        return rng.integers(0, 2, (count, 1))

    def step(self, states, actions, noise):
        fair = np.where(noise[:, 0] < 0.5, -1.0, 1.0)
        earned = 1_000 * noise[:, 0] + actions[:, 0] + fair * actions[:, 1] + states[:, 0]
        return earned, states


def always(*action):
    def act(states, steps):  # noqa: ARG001
        return np.tile(np.array(action, np.int8), (len(states), 1))

    return act


def luck(seed):
    return lambda batch: stream(seed, f"batch {batch}")


IDLE, BETTER, GAMBLE = always(0, 0), always(1, 0), always(0, 1)


def test_an_equal_policy_never_wins():
    won, gain, _ = Guard(Game(), 20, 1.0).test(always(0, 0), IDLE, luck(0))
    assert not won
    assert (gain.mean, gain.low, gain.high) == (0, 0, 0)


def test_a_better_policy_wins_under_the_same_luck_however_large_that_is():
    guard = Guard(Game(), 20, 1.0)
    won, gain, held = guard.test(BETTER, IDLE, luck(0))
    assert won
    assert gain.mean == pytest.approx(1)
    assert held.std() > 50
    assert len(held) == 20  # One look is enough.
    lost, gain, _ = guard.test(IDLE, BETTER, luck(0))
    assert not lost
    assert gain.high < 0


def test_what_is_not_decided_is_looked_at_up_to_three_times():
    seen = []

    def noted(batch):
        seen.append(batch)
        return stream(0, f"batch {batch}")

    won, _, held = Guard(Game(), 10, 1.0).test(GAMBLE, IDLE, noted)
    assert not won
    assert seen == [0, 0, 1, 1, 2, 2, 3, 3]
    assert len(held) == 40


def test_a_gamble_that_is_worth_nothing_seldom_wins():
    guard = Guard(Game(), 20, 1.0)
    wins = sum(guard.test(GAMBLE, IDLE, luck(seed))[0] for seed in range(200))
    assert wins <= 12  # Some 2.5 % are allowed for.


def test_what_is_earned_is_per_step_and_discounted_as_asked():
    class Rising(Game):
        """Pays 8 in the first step, then nothing."""

        n_noise = 0

        def draw_start(self, rng, count):
            return np.full((count, 1), 8.0)

        def step(self, states, actions, noise):
            return states[:, 0], 0 * states

    rng = np.random.default_rng(0)
    assert Guard(Rising(), 3, 1.0).earned(IDLE, rng).tolist() == [2] * 3
    assert Guard(Rising(), 3, 0.5).earned(IDLE, rng) == pytest.approx(8 / 1.875)
