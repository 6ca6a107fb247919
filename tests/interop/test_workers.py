"""Workers who act at once: PettingZoo's own checks, and what is theirs."""

import warnings

import numpy as np
import pytest

import sequoia
from sequoia.errors import InfeasibleDecision, ProblemError

pytest.importorskip("pettingzoo", reason="the extra pettingzoo is not installed")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it warns of its own older names
    from pettingzoo.test import parallel_api_test

from sequoia.interop.workers import Workers

PROBLEM = sequoia.make("capacity", arms=6, workers=3, horizon=5)


def test_pettingzoo_accepts_it():
    parallel_api_test(Workers(PROBLEM), num_cycles=30)


def test_all_get_the_reward_of_the_whole_and_a_double_visit_counts_once():
    env = Workers(PROBLEM)
    seen, infos = env.reset(seed=1)
    state = next(iter(infos.values()))["state"]
    first = {worker: env.action_space(worker).sample() for worker in env.agents}
    anybody = next(iter(first.values()))
    same = {
        worker: anybody if env.action_space(worker).contains(anybody) else 0 * anybody
        for worker in env.agents
    }
    _, rewards, _, _, _ = env.step(same)
    expected = PROBLEM.expected_reward(state[None], anybody[None])[0]
    assert set(rewards) == set(PROBLEM.space.worker_names)
    assert list(rewards.values()) == pytest.approx([expected] * 3)
    assert all((part == seen[env.possible_agents[0]]).all() for part in seen.values())


def test_nobody_carries_more_than_fits():
    env = Workers(PROBLEM)
    env.reset(seed=0)
    actions = {worker: np.ones(6, np.int8) for worker in env.agents}
    with pytest.raises(InfeasibleDecision, match="capacity of"):
        env.step(actions)


def test_only_assignments_have_workers_of_their_own():
    with pytest.raises(ProblemError, match="budget space"):
        Workers(sequoia.make("trap"))
