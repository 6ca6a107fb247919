"""Learned policies with a model made by hand: prices as a linear network."""

from dataclasses import dataclass

import numpy as np
import pytest

from policy_cases import decide
from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import relax
from sequoia.evaluation import evaluate
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.engines.enumeration import Enumeration
from sequoia.optimize.engines.milp import Milp
from sequoia.optimize.relu_net import ReluNet
from sequoia.policies import IterativeDqn, IterativeMyopic, Sequoia, make_policy
from sequoia.problem.families import capacity, interventions, routing, scheduling, standard
from sequoia.simulate import Scenarios, rollout

PROBLEMS = {
    "capacity": capacity(arms=8, workers=3, horizon=5),
    "scheduling": scheduling(arms=8, workers=3, horizon=5),
    "interventions": interventions(arms=9, budget=3, horizon=5),
    "routing": routing(arms=8, budget=3, horizon=5),
}
RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Tables:
    """Q as a sum over arms of a table by state and dose level."""

    columns: ActionEncoding
    q_values: np.ndarray  # (H, J, S, L)

    def fold(self, states, steps) -> ReluNet:
        step = np.minimum(steps, len(self.q_values) - 1)[:, None]
        table = self.q_values[step, np.arange(states.shape[1]), states]
        return ReluNet.of_linear(*self.columns.objective(table))


def by_prices(problem) -> tuple[Tables, Prices]:
    prices = relax(problem).prices
    every = np.array([prices.q_values(step) for step in range(problem.horizon)])
    return Tables(ActionEncoding.of_problem(problem), every), prices


@pytest.mark.parametrize("name", PROBLEMS)
def test_sequoia_takes_the_largest_q_value_of_all_actions(name):
    problem = PROBLEMS[name]
    q, prices = by_prices(problem)
    policy = make_policy("sequoia", problem, q)
    actions = problem.space.enumerate(100_000)
    rng = np.random.default_rng(1)
    for step in range(problem.horizon):
        state = rng.integers(0, 4, problem.arms.n_arms)
        weights = prices.weights(state, step)
        arm = np.arange(len(state))
        every = weights[arm, problem.levels(actions)].sum(axis=1)
        decision = decide(policy, state, step, rng)
        problem.space.system.require(decision)
        value = weights[arm, problem.levels(decision.action[None])[0]].sum()
        assert value == pytest.approx(every.max(), abs=1e-6)


def test_both_engines_find_it():
    problem = PROBLEMS["scheduling"]
    q, prices = by_prices(problem)
    state = np.arange(8) % 4
    values = []
    for engine in (Enumeration, Milp):
        action = decide(Sequoia(problem, q, engine), state, 0, RNG).action
        values.append(prices.weights(state)[np.arange(8), action].sum())
    assert values[0] == pytest.approx(values[1])


@pytest.mark.parametrize("name", ["capacity", "scheduling", "interventions"])
def test_iterative_dqn_is_the_same_greedy_as_iterative_myopic(name):
    problem = PROBLEMS[name]
    model = problem.arms.model
    table = problem.arms.next_rewards[model].transpose(0, 2, 1)
    q = Tables(ActionEncoding.of_problem(problem), table[None])
    scenarios = Scenarios.sample(problem, 3, seed=0)
    one = rollout(problem, IterativeDqn(problem, q), scenarios)
    other = rollout(problem, IterativeMyopic(problem), scenarios)
    assert one.rewards == pytest.approx(other.rewards)


@dataclass(frozen=True)
class Turns:
    """Wants one arm alone, another one in every step."""

    columns: ActionEncoding

    def fold(self, states, steps) -> ReluNet:
        arms = states.shape[1]
        return ReluNet.of_linear(np.where(np.arange(arms) == steps[:, None] % arms, 1.0, -1.0))


@pytest.mark.parametrize("name", ["iterative-dqn", "sequoia"])
def test_the_step_is_the_one_that_is_asked_about(name):
    problem = standard(arms=5, budget=1, horizon=5)
    policy = make_policy(name, problem, Turns(ActionEncoding.of_problem(problem)))
    for step in (3, 0, 4, 1):
        assert np.flatnonzero(decide(policy, np.zeros(5, np.int64), step, RNG).action) == [step]


def test_the_myopic_weights_are_those_of_the_state():
    problem = PROBLEMS["interventions"]
    weights = problem.dose_rewards(np.full(9, 2))
    assert weights == pytest.approx(problem.arms.next_rewards[problem.arms.model][:, :, 2])


def test_a_model_is_evaluated_like_any_other_policy():
    """On a space too large to list, where a search may begin where the last one ended."""
    problem = scheduling(arms=40, horizon=3)
    q, _ = by_prices(problem)
    both = evaluate(problem, ["iterative-dqn", "random", "sequoia"], 6, model=q, bound="none")
    alone = evaluate(problem, ["sequoia"], 6, model=q, bound="none")
    assert np.array_equal(both.rewards[2], alone.rewards[0])
    assert both.paired("sequoia", "random").mean > 0
