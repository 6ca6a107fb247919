"""Held-out episodes: the same ones for each policy, and never those of an evaluation."""

import numpy as np

from sequoia import make
from sequoia.learn.held_out import HeldOut
from sequoia.policies import make_policy
from sequoia.simulate import Scenarios, rollout


def test_each_policy_plays_the_same_episodes_however_often():
    problem = make("capacity", arms=6, workers=2, horizon=4)
    held_out = HeldOut(problem, 20, seed=0)
    idle, myopic = (make_policy(name, problem) for name in ("idle", "myopic"))
    first = held_out.play(idle)
    assert first.shape == (20,)
    assert held_out.play(myopic).mean() > first.mean()
    np.testing.assert_array_equal(held_out.play(idle), first)


def test_an_evaluation_with_the_same_seed_sees_other_episodes():
    problem = make("capacity", arms=6, workers=2, horizon=4)
    idle = make_policy("idle", problem)
    evaluated = rollout(problem, idle, Scenarios.sample(problem, 20, seed=0)).rewards.mean(axis=1)
    assert (HeldOut(problem, 20, seed=0).play(idle) != evaluated).all()
