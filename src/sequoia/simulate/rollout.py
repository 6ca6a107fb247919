"""Play a policy through scenarios."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sequoia.arrays import ActionArray, FloatArray, IntArray
from sequoia.errors import InfeasibleDecision
from sequoia.problem import Decision, Problem
from sequoia.rng import stream
from sequoia.simulate.scenarios import Scenarios
from sequoia.simulate.transition import expected_reward, transition

Act = Callable[[IntArray, int, np.random.Generator], Decision]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What happened.

    Attributes
    ----------
    states
        ``(E, H + 1, J)``, the start first.
    actions
        ``(E, H, N)``.
    rewards
        Expected reward of the next state, summed over arms, ``(E, H)``.
    """

    states: IntArray
    actions: ActionArray
    rewards: FloatArray


def rollout(problem: Problem, act: Act, scenarios: Scenarios, seed: int = 0) -> Trajectory:
    """Play ``act`` through every scenario; each decision is checked against the rules.

    Parameters
    ----------
    act
        From a state ``(J,)``, the step and a generator to a decision. Each episode has a generator
        of its own, so that neither other policies nor other episodes shift it.

    Raises
    ------
    InfeasibleDecision
        When a decision breaks a rule; the message says in which episode and step.
    """
    episodes, horizon, arms = scenarios.noise.shape
    states = np.empty((episodes, horizon + 1, arms), dtype=np.int64)
    actions = np.empty((episodes, horizon, problem.space.n_actions), dtype=np.int8)
    rewards = np.empty((episodes, horizon))
    states[:, 0] = scenarios.start
    rngs = [stream(seed, f"episode:{episode}") for episode in range(episodes)]
    for step in range(horizon):
        for episode, rng in enumerate(rngs):
            decision = act(states[episode, step], step, rng)
            broken = problem.space.system.violations(decision)
            if broken:
                raise InfeasibleDecision(f"episode {episode}, step {step}: {'; '.join(broken)}.")
            actions[episode, step] = decision.action
        rewards[:, step] = expected_reward(problem, states[:, step], actions[:, step])
        luck = scenarios.noise[:, step]
        states[:, step + 1] = transition(problem, states[:, step], actions[:, step], luck)
    return Trajectory(states, actions, rewards)
