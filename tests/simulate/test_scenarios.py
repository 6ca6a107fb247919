"""Scenarios: shared luck, stable under asking for more, keyed by name."""

import numpy as np
import pytest

from sequoia import Arms, Budget, Problem
from sequoia.errors import ProblemError, TooLarge
from sequoia.problem.families import capacity
from sequoia.rng import stream, streams
from sequoia.simulate import Scenarios

# Changing these numbers would change every published evaluation.
PINNED = [0.7972433745730213, 0.7742780816470971, 0.8518176398356819]


def test_shapes_and_ranges():
    problem = capacity(arms=12, horizon=7)
    drawn = Scenarios.sample(problem, 5, seed=1)
    assert drawn.n_episodes == 5
    assert drawn.start.shape == (5, 12)
    assert drawn.noise.shape == (5, 7, 12)
    assert ((drawn.noise >= 0) & (drawn.noise < 1)).all()
    assert set(np.unique(drawn.start)) <= {0, 1}
    for array in (drawn.start, drawn.noise):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_first_episodes_stay_when_more_are_drawn():
    problem = capacity(arms=12)
    few, many = Scenarios.sample(problem, 3, seed=1), Scenarios.sample(problem, 50, seed=1)
    np.testing.assert_array_equal(few.start, many.start[:3])
    np.testing.assert_array_equal(few.noise, many.noise[:3])


def test_episodes_and_seeds_differ():
    problem = capacity(arms=12)
    drawn, other = Scenarios.sample(problem, 4, seed=1), Scenarios.sample(problem, 4, seed=2)
    noise = np.concatenate([drawn.noise, other.noise]).reshape(8, -1)
    assert len(np.unique(noise, axis=0)) == 8
    assert len(np.unique(noise)) == noise.size


def test_starts_follow_their_distribution():
    start = np.array([[0.1, 0.0, 0.6, 0.3], [0, 1, 0, 0], [0.25, 0.25, 0.25, 0.25]])
    arms = Arms.ladder(np.zeros((3, 4)), [[0.1, 0.9]] * 3)
    problem = Problem("p", arms, Budget(np.ones(3), 1), start, horizon=1)
    draws = 5000
    drawn = Scenarios.sample(problem, draws, seed=0).start
    for arm in range(3):
        found = np.bincount(drawn[:, arm], minlength=4) / draws
        error = np.sqrt(start[arm] * (1 - start[arm]) / draws)
        assert (np.abs(found - start[arm]) <= 4.5 * error + 1e-12).all()


def test_starts_and_noise_are_uncorrelated():
    problem = capacity(arms=50, start_share=0.5, horizon=1)
    drawn = Scenarios.sample(problem, 400, seed=0)
    correlation = np.corrcoef(drawn.start.ravel(), drawn.noise.ravel())[0, 1]
    assert abs(correlation) < 4.5 / np.sqrt(drawn.start.size)


def test_a_stream_belongs_to_its_name_and_seed():
    first = stream(5, "policy:random").random(4)
    np.testing.assert_array_equal(first, stream(5, "policy:random").random(4))
    assert (first != stream(5, "policy:random2").random(4)).all()
    assert (first != stream(6, "policy:random").random(4)).all()


def test_a_further_stream_shifts_no_other():
    alone = [rng.random() for rng in streams(5, "a", "b")]
    among = [rng.random() for rng in streams(5, "z", "b", "y", "a")]
    assert alone == [among[3], among[1]]


def test_a_stream_is_the_same_on_every_machine():
    assert stream(1, "scenario:0").random(3).tolist() == PINNED


def test_a_negative_seed_is_refused():
    with pytest.raises(ProblemError, match="the seed is -1; at least 0 is wanted"):
        stream(-1, "a")


def test_more_episodes_than_a_float_can_count_are_refused():
    with pytest.raises(TooLarge, match="the luck of"):
        Scenarios.sample(capacity(arms=4), 10**400, 0)
