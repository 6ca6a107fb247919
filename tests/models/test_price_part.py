"""The price part is exactly one step of foresight: reward, and what prices say of what follows."""

from dataclasses import replace

import numpy as np
import pytest

from policy_cases import joint_states, tiny
from sequoia.bounds.exact import solve_exactly
from sequoia.bounds.lagrangian.relax import relax
from sequoia.models.price_part import PricePart

KINDS = ["budget", "assignment", "schedule", "path", "doses", "ruled"]
FORMS = [("lp", False), ("hull", False), ("lp", True), ("hull", True)]


def part_of(problem, kind, stationary):
    found = relax(problem, kind, horizon=0 if stationary else None, discounted=stationary)
    return PricePart.of(found.prices, problem.horizon)


def state_values(part, states, steps):
    """Return what prices think each state is worth, ``(B,)``: all arms, and what is paid back."""
    row, arms = np.minimum(steps, len(part.payback) - 1), np.arange(states.shape[1])
    return part.values[row[:, None], arms, states].sum(axis=1) + part.payback[row]


def q_of(part, problem, states, step, actions):
    """Return Q by the price part of every state and action, ``(B, A)``."""
    steps = np.full(len(states), step)
    table, offset = part.levels(states, steps)
    arms = np.arange(states.shape[1])
    levels = problem.levels(actions)
    return np.stack([table[:, arms, level].sum(axis=1) + offset for level in levels], axis=1)


def expected_worth(part, problem, states, step, actions):
    """Return the expectation of worth over all next joint states, ``(B, A)``."""
    arms, following = problem.arms, joint_states(problem)
    worth = state_values(part, following, np.full(len(following), step))
    result = np.empty((len(states), len(actions)))
    for column, level in enumerate(problem.levels(actions)):
        chance = np.ones((len(states), 1))
        for arm in range(arms.n_arms):
            own = arms.kernels[arms.model[arm], level[arm], states[:, arm]]
            chance = (chance[:, :, None] * own[:, None, :]).reshape(len(states), -1)
        result[:, column] = chance @ worth
    return result


def reward_of(problem, states, actions):
    rows = [problem.expected_reward(states, np.tile(one, (len(states), 1))) for one in actions]
    return np.stack(rows, axis=1)


def everything(kind, seed=0):
    problem = replace(tiny(kind, seed, horizon=4), discount=0.9)
    every = np.unpackbits(np.arange(2**3, dtype=np.uint8)[:, None], axis=1)[:, -3:]
    return problem, joint_states(problem), every.astype(np.int8)


@pytest.mark.parametrize(("form", "stationary"), FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_q_is_the_reward_and_the_expected_worth_of_the_next_state(kind, form, stationary):
    """Also for infeasible actions, from which a warm start learns."""
    problem, states, actions = everything(kind)
    part = part_of(problem, form, stationary)
    discount = problem.discount if stationary else 1.0
    for step in range(problem.horizon):
        is_last = step == problem.horizon - 1 and not stationary
        ahead = 0.0 if is_last else expected_worth(part, problem, states, step + 1, actions)
        wanted = reward_of(problem, states, actions) + discount * ahead
        assert q_of(part, problem, states, step, actions) == pytest.approx(wanted)


@pytest.mark.parametrize(("form", "stationary"), FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_worth_is_never_too_small(kind, form, stationary):
    """At least Q of every feasible action by prices, and at least the optimum."""
    problem, states, _ = everything(kind)
    part = part_of(problem, form, stationary)
    feasible = problem.space.enumerate(100)
    exact = solve_exactly(problem, discounted=stationary)
    for step in range(problem.horizon):
        worth = state_values(part, states, np.full(len(states), step))
        assert (worth >= q_of(part, problem, states, step, feasible).max(axis=1) - 1e-7).all()
        assert (worth >= exact.values[0 if stationary else step] - 1e-7).all()


def test_steps_are_looked_up_one_by_one():
    problem, states, _ = everything("budget")
    part = part_of(problem, "lp", False)
    steps = np.arange(len(states)) % problem.horizon
    mixed = state_values(part, states, steps)
    table, offset = part.levels(states, steps)
    for row, step in enumerate(steps):
        own, alone = states[row][None], np.array([step])
        assert state_values(part, own, alone)[0] == mixed[row]
        assert part.levels(own, alone)[0][0].tolist() == table[row].tolist()
        assert part.levels(own, alone)[1][0] == offset[row]
    assert len(part.q_values) == problem.horizon
    assert len(part_of(problem, "lp", True).q_values) == 1
