"""Play a policy through some episodes, checking and timing every decision."""

import time
from dataclasses import dataclass

import numpy as np

from sequoia.errors import InfeasibleDecision
from sequoia.policies import Policy
from sequoia.problem import Problem
from sequoia.rng import stream
from sequoia.simulate import Scenarios
from sequoia.validation import ActionArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Played:
    """What happened in B episodes.

    Attributes
    ----------
    rewards
        Expected reward of the next state, summed over arms, ``(B, H)``.
    seconds
        Time that each decision took, ``(B, H)``.
    states
        States of the first of these episodes, ``(H + 1, J)``.
    actions
        Actions of the first of these episodes, ``(H, N)``.
    """

    rewards: FloatArray
    seconds: FloatArray
    states: IntArray
    actions: ActionArray


def play(
    problem: Problem, policy: Policy, name: str, scenarios: Scenarios, first: int, seed: int
) -> Played:
    """Play ``policy`` through scenarios that are numbered from ``first``.

    Each episode has a generator of its own, keyed by the name of the policy and the number of the
    episode, so that neither other policies nor other episodes shift it.

    Raises
    ------
    InfeasibleDecision
        When a decision breaks a rule; the message says whose, when and which.
    """
    episodes, horizon, arms = scenarios.noise.shape
    states = np.empty((episodes, horizon + 1, arms), dtype=np.int64)
    actions = np.empty((episodes, horizon, problem.space.n_actions), dtype=np.int8)
    rewards, seconds = np.empty((episodes, horizon)), np.empty((episodes, horizon))
    states[:, 0] = scenarios.start
    rngs = [stream(seed, f"policy:{name}:episode:{first + e}") for e in range(episodes)]
    for step in range(horizon):
        for episode, rng in enumerate(rngs):
            state = states[episode, step].copy()
            began = time.perf_counter()
            decision = policy.act(state, step, rng)
            seconds[episode, step] = time.perf_counter() - began
            broken = problem.space.system.violations(decision)
            if broken:
                where = f"{name}, episode {first + episode}, step {step}"
                raise InfeasibleDecision(f"{where}: {'; '.join(broken)}.")
            actions[episode, step] = decision.action
        rewards[:, step], states[:, step + 1] = problem.step(
            states[:, step], actions[:, step], scenarios.noise[:, step]
        )
    return Played(rewards, seconds, states[0], actions[0])
