"""A policy is kept when it wins on fresh luck, which is the same for both."""

import numpy as np
import pytest

from sequoia.learn.guard import Guard, without_luck
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
    won, gain, _ = Guard(Game(), 20, 1.0).test(always(0, 0), IDLE, None, luck(0))
    assert not won
    assert (gain.mean, gain.low, gain.high) == (0, 0, 0)


def test_a_better_policy_wins_under_the_same_luck_however_large_that_is():
    guard = Guard(Game(), 20, 1.0)
    won, gain, held = guard.test(BETTER, IDLE, None, luck(0))
    assert won
    assert gain.mean == pytest.approx(1)
    assert held.std() > 50
    assert len(held) == 20  # One look is enough.
    lost, gain, _ = guard.test(IDLE, BETTER, None, luck(0))
    assert not lost
    assert gain.high < 0


def test_what_is_not_decided_is_looked_at_up_to_three_times():
    seen = []

    def noted(batch):
        seen.append(batch)
        return stream(0, f"batch {batch}")

    won, _, held = Guard(Game(), 10, 1.0).test(GAMBLE, IDLE, None, noted)
    assert not won
    assert seen == [0, 0, 1, 1, 2, 2, 3, 3]
    assert len(held) == 40


def test_a_gamble_that_is_worth_nothing_seldom_wins():
    guard = Guard(Game(), 20, 1.0)
    wins = sum(guard.test(GAMBLE, IDLE, None, luck(seed))[0] for seed in range(200))
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
    assert Guard(Rising(), 3, 1.0).earned(IDLE, rng)[0].tolist() == [2] * 3
    assert Guard(Rising(), 3, 0.5).earned(IDLE, rng)[0] == pytest.approx(8 / 1.875)


class Wheel(Game):
    """A state goes up or down by chance, and pays itself; the second column makes that larger."""

    horizon = 6

    def step(self, states, actions, noise):
        after = states + np.where(noise < 0.5, -1, 1) * (1 + actions[:, 1:])
        return after[:, 0] + 0.1 * actions[:, 0], after


class Worth:
    """A factor of what states of the wheel are worth: themselves in each step that is left."""

    def __init__(self, factor):
        self.factor = factor

    def values(self, states, steps):
        return self.factor * (Wheel.horizon - steps) * states[:, 0]


@pytest.mark.parametrize("factor", [1, 0, -1])
def test_luck_is_nothing_in_the_mean_whatever_the_critic_thinks(factor):
    total, known = Guard(Wheel(), 4_000, 1.0).earned(
        GAMBLE, np.random.default_rng(0), Worth(factor)
    )
    assert abs(known.mean()) < 4 * known.std() / np.sqrt(4_000)
    assert known.std() > 0.1
    assert without_luck(np.stack([total, known])).std() <= total.std()


def test_a_critic_that_is_right_takes_out_most_of_the_luck():
    guard = Guard(Wheel(), 4_000, 1.0)
    total, known = guard.earned(GAMBLE, np.random.default_rng(0), Worth(1))
    left = without_luck(np.stack([total, known])).var()
    assert left < 0.5 * total.var()


def test_with_a_critic_a_small_gain_is_seen_where_luck_hides_it():
    def wins(critic):
        guard = Guard(Wheel(), 100, 1.0)
        both = always(1, 1)
        return sum(guard.test(both, IDLE, critic, luck(seed))[0] for seed in range(40))

    assert wins(Worth(1)) > wins(None)
