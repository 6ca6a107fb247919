"""Rollouts: what a policy earns in given scenarios."""

import numpy as np
import pytest

from sequoia import Decision
from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.policies import FunctionPolicy, Policy
from sequoia.problem.families import capacity, interventions, scheduling, standard, trap
from sequoia.simulate import Decisions, Scenarios, rollout


def playing(act):
    return FunctionPolicy("test", act)


def random_policy(problem):
    return playing(lambda _state, _step, rng: problem.space.sample(rng))


def idle_policy(problem):
    return playing(lambda _state, _step, _rng: problem.space.idle)


@pytest.mark.parametrize("family", [capacity, interventions, scheduling])
def test_a_rollout_is_transitions_one_after_another(family):
    problem = family(arms=12, horizon=6)
    scenarios = Scenarios.sample(problem, 4, seed=3)
    played = rollout(problem, random_policy(problem), scenarios, seed=1)
    assert played.states.shape == (4, 7, 12)
    assert played.actions.shape == (4, 6, problem.space.n_actions)
    np.testing.assert_array_equal(played.states[:, 0], scenarios.start)
    assert played.actions.any()
    for step in range(6):
        states, actions = played.states[:, step], played.actions[:, step]
        assert problem.space.contains(actions).all()
        np.testing.assert_array_equal(
            played.states[:, step + 1],
            problem.transition(states, actions, scenarios.noise[:, step]),
        )
        np.testing.assert_array_equal(
            played.rewards[:, step], problem.expected_reward(states, actions)
        )


def test_the_policy_sees_the_state_and_the_step():
    problem = standard(arms=6, horizon=5)
    seen = []

    def act(state, step, _rng):
        seen.append((step, state.copy()))
        return problem.space.idle

    played = rollout(problem, playing(act), Scenarios.sample(problem, 3, seed=0))
    assert [step for step, _ in seen] == [step for step in range(5) for _ in range(3)]
    for index, (step, state) in enumerate(seen):
        np.testing.assert_array_equal(state, played.states[index % 3, step])


def test_trap_by_arithmetic():
    problem = trap()
    scenarios = Scenarios.sample(problem, 2, seed=0)
    second = problem.space.certify([0, 1])
    played = rollout(problem, playing(lambda *_: second), scenarios)
    # Arm 1 pays 0.1 throughout; arm 2 pays 0.1 once, then 10.
    np.testing.assert_allclose(played.rewards[0], [0.2] + [10.1] * 19)
    assert played.rewards.sum(axis=1).tolist() == pytest.approx([192.1, 192.1])
    first = problem.space.certify([1, 0])
    played = rollout(problem, playing(lambda *_: first), scenarios)
    np.testing.assert_allclose(played.rewards[0], [0.4] + [1.2] * 19)


def test_an_episode_depends_neither_on_others_nor_on_their_number():
    problem = capacity(arms=12, horizon=5)
    few, many = Scenarios.sample(problem, 2, seed=3), Scenarios.sample(problem, 9, seed=3)
    short = rollout(problem, random_policy(problem), few, seed=7)
    long = rollout(problem, random_policy(problem), many, seed=7)
    np.testing.assert_array_equal(short.states, long.states[:2])
    np.testing.assert_array_equal(short.actions, long.actions[:2])
    np.testing.assert_array_equal(short.rewards, long.rewards[:2])


def test_the_seed_matters_to_a_random_policy_only():
    problem = capacity(arms=12, horizon=5)
    scenarios = Scenarios.sample(problem, 3, seed=3)
    draws = [rollout(problem, random_policy(problem), scenarios, seed).actions for seed in (1, 2)]
    assert (draws[0] != draws[1]).any()
    idle = [rollout(problem, idle_policy(problem), scenarios, seed).states for seed in (1, 2)]
    np.testing.assert_array_equal(*idle)


def test_policies_share_their_luck():
    problem = standard(arms=12, horizon=8)
    scenarios = Scenarios.sample(problem, 5, seed=3)
    idle = rollout(problem, idle_policy(problem), scenarios)
    busy = rollout(problem, random_policy(problem), scenarios)
    assert (busy.states >= idle.states).all(), "on a ladder, acting helps every arm or none"
    assert busy.rewards.sum() > idle.rewards.sum()


def test_a_broken_rule_names_episode_and_step():
    problem = standard(arms=4, budget=1, horizon=5)
    calls = []

    def act(_state, step, _rng):
        calls.append(step)
        late = step == 3 and calls.count(3) == 2
        return Decision(np.full(4, int(late), dtype=np.int8), np.empty(0, dtype=np.int8))

    scenarios = Scenarios.sample(problem, 3, seed=0)
    with pytest.raises(InfeasibleDecision, match=r'^test, episode 1, step 3: row "budget": 4 > 1'):
        rollout(problem, playing(act), scenarios)


@pytest.mark.parametrize(
    ("action", "plan", "message"),
    [
        ([2, 0], [], "is 2; 0 or 1 is wanted"),
        ([1, 0, 0], [], "3 columns were given; 2 are wanted"),
        ([1, 0], [1], "3 columns were given; 2 are wanted"),
    ],
)
def test_a_malformed_decision_is_refused(action, plan, message):
    problem = trap()
    decision = Decision(np.array(action, dtype=np.int8), np.array(plan, dtype=np.int8))
    with pytest.raises(InfeasibleDecision, match=f"^test, episode 0, step 0: .*{message}"):
        rollout(problem, playing(lambda *_: decision), Scenarios.sample(problem, 1, seed=0))


def test_an_action_without_its_plan_is_refused():
    problem = capacity(arms=6, workers=3)
    good = problem.space.sample(np.random.default_rng(0))
    assert good.action.any()
    bare = Decision(good.action, np.zeros_like(good.plan))
    with pytest.raises(InfeasibleDecision, match=r"^test, episode 0, step 0: .*needs a worker"):
        rollout(problem, playing(lambda *_: bare), Scenarios.sample(problem, 1, seed=0))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (np.array([0, 1]), "the policy test returned ndarray; a Decision is wanted: space.certify"),
        (None, "the policy test returned NoneType; a Decision is wanted"),
    ],
)
def test_a_policy_that_returns_something_else_is_told_what_is_wanted(made, message):
    problem = trap()
    with pytest.raises(ProblemError, match=message):
        rollout(problem, playing(lambda *_: made), Scenarios.sample(problem, 1, seed=0))


class Batched(Policy):
    name = "batched"

    def __init__(self, make):
        self._make = make

    def act(self, states, step, rngs):
        return self._make(states)


def test_a_batch_of_actions_is_checked_without_plans():
    problem = capacity(arms=6, workers=3)
    scenarios = Scenarios.sample(problem, 2, seed=0)
    idle = Batched(lambda states: Decisions.of_actions(np.zeros((len(states), 6), np.int8)))
    played = rollout(problem, idle, scenarios)
    np.testing.assert_array_equal(
        played.states, rollout(problem, idle_policy(problem), scenarios).states
    )
    assert np.isnan(played.gaps).all()
    assert not played.is_at_limit.any()
    greedy = Batched(lambda states: Decisions.of_actions(np.ones((len(states), 6), np.int8)))
    with pytest.raises(InfeasibleDecision, match=r"^batched, episode 0, step 0: .*arm 5 cannot be"):
        rollout(problem, greedy, scenarios)
    with pytest.raises(ProblemError, match=r"the policy batched returned ndarray; Decisions are"):
        rollout(problem, Batched(lambda states: np.zeros((len(states), 6))), scenarios)
    one = Batched(lambda _: Decisions.of_actions(np.zeros((1, 6), np.int8)))
    with pytest.raises(ProblemError, match=r"the policy batched made 1 decisions; 2 are wanted"):
        rollout(problem, one, scenarios)
