"""Episodes side by side, step by step: what a learner learns from."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# The actions of a policy: from states (B, D), steps (B,) and a generator to actions (B, N).
Act = Callable[[States, IntArray, np.random.Generator], ActionArray]


@dataclass(frozen=True, eq=False)
class Play:
    """M transitions of E episodes, step by step: those of step t are ``t * E`` to ``(t + 1) * E``.

    Attributes
    ----------
    states, steps, actions, rewards, following
        ``(M, D)``, ``(M,)``, ``(M, N)``, ``(M,)`` and ``(M, D)``.
    strayed
        Which actions were those of another policy, to explore, ``(M,)``.
    """

    states: States
    steps: IntArray
    actions: ActionArray
    rewards: FloatArray
    following: States
    strayed: BoolArray


def play(
    environment: Environment,
    act: Act,
    other: Act,
    explore: float,
    episodes: int,
    rng: np.random.Generator,
) -> Play:
    """Play whole episodes."""
    states = environment.draw_start(rng, episodes)
    parts = []
    for step in range(environment.horizon):
        steps = np.full(episodes, step)
        strays = rng.random(episodes) < explore
        actions = act(states, steps, rng)
        if strays.any():
            actions[strays] = other(states[strays], steps[strays], rng)
        noise = rng.random((episodes, environment.n_noise))
        rewards, following = environment.step(states, actions, noise)
        parts.append((states, steps, actions, rewards, following, strays))
        states = following
    return Play(*(np.concatenate(part) for part in zip(*parts, strict=True)))
