"""The paper's three strategies, each on its own."""

import numpy as np
import pytest
from learning_cases import tiny

from sequoia import make
from sequoia.learn.warm_start import (
    first_samples,
    flipped,
    more_samples,
    one_sided,
    strategic_samples,
)
from sequoia.problem.families import capacity

PROBLEM = capacity(arms=8, workers=2, horizon=5)


def rng():
    return np.random.default_rng(0)


def test_feasible_samples_of_every_step():
    found = first_samples(PROBLEM, 42, False, rng())
    assert len(found) == 45
    assert np.bincount(found.steps).tolist() == [9] * 5
    assert PROBLEM.space.contains(found.actions).all()
    assert found.rewards == pytest.approx(PROBLEM.expected_reward(found.states, found.actions))
    for step in range(4):
        before, after = found.steps == step, found.steps == step + 1
        assert found.following[before].tolist() == found.states[after].tolist()


def test_half_of_the_samples_are_one_sided():
    found = first_samples(PROBLEM, 2000, True, rng())
    crowded = (found.actions.mean(axis=1) > 0.7).mean()
    assert crowded == pytest.approx(0.25, abs=0.05)
    assert not PROBLEM.space.contains(found.actions).all()
    assert found.rewards == pytest.approx(PROBLEM.expected_reward(found.states, found.actions))


def test_all_ones_and_all_zeros_with_flips():
    actions = one_sided(rng(), 3000, 10)
    assert actions.dtype == np.int8
    shares = actions.mean(axis=1)
    assert shares[shares > 0.5].mean() == pytest.approx(0.85, abs=0.02)
    assert shares[shares < 0.5].mean() == pytest.approx(0.15, abs=0.02)
    assert (shares > 0.5).mean() == pytest.approx(0.5, abs=0.05)


def test_flips_are_few_and_change_no_original():
    actions = np.zeros((2000, 10), np.int8)
    assert flipped(rng(), actions).mean() == pytest.approx(0.15, abs=0.02)
    assert flipped(rng(), actions + 1).mean() == pytest.approx(0.85, abs=0.02)
    assert not actions.any()


@pytest.mark.parametrize("perturbed", [True, False])
def test_what_a_policy_would_do_and_the_same_with_flips(perturbed):
    problem = tiny()
    samples = first_samples(problem, 40, False, rng())
    best = np.tile(np.array([[0, 1, 0]], np.int8), (10, 1))
    found = more_samples(problem, samples.only(np.arange(10)), best, perturbed, rng())
    assert len(found) == (20 if perturbed else 10)
    assert found.actions[:10].tolist() == best.tolist()
    assert found.states[:10].tolist() == samples.states[:10].tolist()
    if perturbed:
        assert 0 < (found.actions[10:] != best).sum() < 15
        assert found.states[10:].tolist() == samples.states[:10].tolist()
    assert found.rewards == pytest.approx(problem.expected_reward(found.states, found.actions))
    both = samples.join(found)
    assert len(both) == len(samples) + len(found)
    assert both.rewards[: len(samples)].tolist() == samples.rewards.tolist()


def test_strategic_samples_try_every_column_alone_in_states_anywhere():
    found = strategic_samples(PROBLEM, 2_000, rng())
    assert len(found) == pytest.approx(2_000, rel=0.05)
    assert np.bincount(found.states.ravel(), minlength=4).min() > 0.1 * found.states.size
    sums = found.actions.sum(axis=1)
    alone = found.actions[sums == 1]
    assert alone.any(axis=0).all()
    assert (1 - found.actions[sums == 7]).any(axis=0).all()
    assert (sums == 8).any()
    assert (sums == 0).any()
    assert found.rewards == pytest.approx(PROBLEM.expected_reward(found.states, found.actions))


def test_where_nobody_knows_the_states_there_are_no_strategic_samples():
    shop = make("assortment", items=4, show=2, horizon=3)
    assert strategic_samples(shop, 100, rng()) is None
