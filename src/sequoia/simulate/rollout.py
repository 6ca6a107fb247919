"""Play a policy through scenarios."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sequoia.errors import InfeasibleDecision
from sequoia.problem import Decision, Environment
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.simulate.scenarios import Scenarios
from sequoia.validation import ActionArray, FloatArray

Act = Callable[[States, int, np.random.Generator], Decision]


@dataclass(frozen=True, eq=False)
class Trajectory:
    """What happened.

    Attributes
    ----------
    states
        ``(E, H + 1, D)``, the start first.
    actions
        ``(E, H, N)``.
    rewards
        ``(E, H)``; for a problem, the expected reward of the next state, summed over arms.
    """

    states: States
    actions: ActionArray
    rewards: FloatArray


def rollout(environment: Environment, act: Act, scenarios: Scenarios, seed: int = 0) -> Trajectory:
    """Play ``act`` through every scenario; each decision is checked against the rules.

    Parameters
    ----------
    act
        From a state ``(D,)``, the step and a generator to a decision. Each episode has a generator
        of its own, so that neither other policies nor other episodes shift it.

    Raises
    ------
    InfeasibleDecision
        When a decision breaks a rule; the message says in which episode and step.
    """
    space = environment.space
    episodes, horizon = scenarios.noise.shape[:2]
    states = np.empty((episodes, horizon + 1, *scenarios.start.shape[1:]), scenarios.start.dtype)
    actions = np.empty((episodes, horizon, space.n_actions), dtype=np.int8)
    rewards = np.empty((episodes, horizon))
    states[:, 0] = scenarios.start
    rngs = [stream(seed, f"episode:{episode}") for episode in range(episodes)]
    for step in range(horizon):
        for episode, rng in enumerate(rngs):
            decision = act(states[episode, step].copy(), step, rng)
            broken = space.system.violations(decision)
            if broken:
                raise InfeasibleDecision(f"episode {episode}, step {step}: {'; '.join(broken)}.")
            actions[episode, step] = decision.action
        rewards[:, step], states[:, step + 1] = environment.step(
            states[:, step], actions[:, step], scenarios.noise[:, step]
        )
    return Trajectory(states, actions, rewards)
