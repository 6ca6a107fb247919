"""What is said about an evaluation: a tie is a tie, a win is one that luck does not explain."""

from dataclasses import replace

import numpy as np
import pytest

from sequoia.bounds.certificate import Bound
from sequoia.evaluation import Evaluation
from sequoia.evaluation.intervals import Estimate
from sequoia.evaluation.verdict import cut_off, recommended, verdict


def made(levels, episodes=20, bound=None, shifts=None, cut=0) -> Evaluation:
    """Rewards that share their luck: the level of each policy plus noise, and noise of its own.

    ``shifts`` is the standard deviation of what a policy has on its own.
    """
    rng = np.random.default_rng(0)
    shared = rng.normal(0.0, 1.0, (episodes, 4))
    own = {name: rng.normal(0.0, (shifts or {}).get(name, 0.0), (episodes, 1)) for name in levels}
    rewards = np.array([level + shared + own[name] for name, level in levels.items()])
    gaps, is_at_limit = np.full(rewards.shape, np.nan), np.zeros(rewards.shape, dtype=bool)
    is_at_limit[-1].flat[:cut] = True
    gaps[-1].flat[:cut] = np.linspace(0.01, 0.03, cut)
    random = 5.0 + shared
    limit = None if bound is None else Bound(4 * bound, bound, "lp", 0.1)
    return Evaluation(
        *("made up", "f" * 16, 0, list(levels), rewards, np.full(rewards.shape, 1e-3)),
        *(gaps, is_at_limit, np.zeros_like(is_at_limit), random, limit),
    )


def test_a_clear_win_is_called_one():
    found = made({"random": 5.0, "myopic": 8.0, "price": 11.0}, bound=12.0)
    said = verdict(found)
    assert found.as_good_as_best == ("price",)
    assert said.use == "Use price."
    assert "The next, myopic, earns" in said.others
    assert "times what random earns" in said.earns
    assert "% more than myopic" in said.earns
    assert "so at most" in said.left
    assert "95 % confidence" in said.sure
    assert str(said).startswith("Use price. It earns ")


@pytest.mark.parametrize("total", [0.0, 48.0, -48.0])
def test_an_estimated_bound_is_said_with_its_margin_whatever_its_size(total):
    found = replace(
        made({"random": -20.0, "price": -18.0}),
        bound=Bound(total, total / 4, "clairvoyant", 0.1, margin=2.0),
    )
    margin = 0.5 if total else 2.0
    assert f"more than {total / 4:.4g} ± {margin:.2g} per step" in verdict(found).left
    assert "at most" in verdict(found).left


def test_a_tie_is_called_a_tie_and_needs_no_training():
    """The trained policy has the larger mean, but its difference includes 0."""
    found = made({"price": 10.0, "sequoia": 10.01}, shifts={"sequoia": 0.2})
    assert found.best == "sequoia"
    assert found.paired("sequoia", "price").includes_zero
    assert found.as_good_as_best == ("price", "sequoia")
    said = verdict(found)
    assert recommended(found) == "price"
    assert said.others.startswith("It is a tie with sequoia: the difference, 0.")
    assert said.learning == "Learning gained nothing over price that is more than luck."
    assert "earns the most" not in str(said)


def test_learning_that_gained_something_is_recommended():
    found = made({"price": 10.0, "myopic": 9.0, "sequoia": 10.5}, shifts={"sequoia": 0.2})
    said = verdict(found)
    assert said.use == "Use sequoia."
    assert said.learning.startswith("Learning gained 0.")
    assert said.learning.endswith("per step over price.")


def test_learning_that_lost_is_said():
    said = verdict(made({"price": 10.0, "sequoia": 9.0}))
    assert said.use == "Use price."
    assert said.learning == "Learning gained nothing: sequoia earns 1 ± 0 less than price."


def test_nobody_who_differs_from_random_by_luck_only_is_called_better():
    said = verdict(made({"price": 5.0, "myopic": 5.0}, shifts={"price": 0.3, "myopic": 0.3}))
    assert "not clearly more than random" in said.earns


def test_equal_rewards_in_another_order_of_summing_are_equal():
    found = made({"a": 10.0, "b": 10.0})
    found.rewards[1] *= 1 + 3e-16
    assert found.as_good_as_best == ("a", "b")


def test_a_mean_that_luck_carries_above_the_bound():
    found = made({"price": 10.0}, bound=9.9)
    assert "cannot tell price from that" in verdict(found).left
    assert verdict(found).use == ""


def test_one_episode_gives_no_verdict():
    said = verdict(made({"price": 10.0, "random": 5.0}, episodes=1))
    assert said.use == said.others == said.learning == ""
    assert "evaluate more" in said.sure


def test_losses_have_no_per_cent():
    found = made({"idle": -8.0, "price": -3.0}, bound=-2.0)
    object.__setattr__(found, "random", found.random - 15.0)
    said = verdict(found)
    assert "more than random" in said.earns
    assert "%" not in said.left + said.earns


def test_what_was_cut_off_is_counted():
    found = made({"price": 10.0, "sequoia": 9.0}, cut=3)
    assert cut_off(found, "price") == "0"
    assert cut_off(found, "sequoia") == "3 of 80, gap 2 %, at most 3 %"
    assert "Some decisions of sequoia were cut off" in verdict(found).sure
    found.gaps[1].flat[0] = np.inf
    assert cut_off(found, "sequoia") == "3 of 80, gap unknown"


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (23.2512, 0.2749, "23.25 ± 0.27"),
        (-0.00204, 0.0098, "-0.0020 ± 0.0098"),
        (-0.0004, 0.31, "0.00 ± 0.31"),
        (1234.5, 67.8, "1234 ± 68"),
        (2.0, 0.0, "2 ± 0"),
        (3e-9, 1e-10, "3e-09 ± 1e-10"),
        (2.5, float("nan"), "2.5"),
    ],
)
def test_estimates_are_said_with_two_digits_of_what_is_uncertain(mean, half, text):
    assert str(Estimate(mean, mean - half, mean + half)) == text
