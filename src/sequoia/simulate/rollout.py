"""Play a policy through scenarios: the one loop over episodes, batched, checked and timed."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.problem import Environment, limits_of
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.simulate.decisions import Decisions
from sequoia.simulate.scenarios import Scenarios
from sequoia.validation import ActionArray, BoolArray, FloatArray


class Actor(Protocol):
    """A policy that can be played; see `sequoia.policies.Policy`."""

    @property
    def name(self) -> str:
        """Under this name its random streams are drawn."""
        ...

    def reset(self, episodes: int) -> None:
        """Begin so many episodes side by side."""
        ...

    def act(self, states: States, step: int, rngs: Sequence[np.random.Generator]) -> Decisions:
        """Return a decision for each state."""
        ...


@dataclass(frozen=True, eq=False)
class Episode:
    """One episode: states ``(H + 1, D)``, actions ``(H, N)`` and rewards ``(H,)``."""

    states: States
    actions: ActionArray
    rewards: FloatArray


@dataclass(frozen=True, eq=False)
class Trajectory:
    """The record of E episodes of H steps.

    Attributes
    ----------
    states
        ``(E, H + 1, D)``, the start first.
    actions
        ``(E, H, N)``.
    rewards
        ``(E, H)``; for a problem, the expected reward of the next state, summed over arms.
    seconds
        Time that each decision took, ``(E, H)``.
    gaps
        How far each decision may be from the best by its own objective, relatively, ``(E, H)``;
        NaN where nothing is proven.
    is_at_limit
        Which decisions a limit of time or work cut off, ``(E, H)``.
    is_late
        Which of these the clock cut off, ``(E, H)``.
    """

    states: States
    actions: ActionArray
    rewards: FloatArray
    seconds: FloatArray
    gaps: FloatArray
    is_at_limit: BoolArray
    is_late: BoolArray

    def episode(self, index: int) -> Episode:
        """Return one of the episodes."""
        return Episode(self.states[index], self.actions[index], self.rewards[index])


def rollout(
    environment: Environment,
    policy: Actor,
    scenarios: Scenarios,
    seed: int = 0,
    *,
    first: int = 0,
    name: str | None = None,
) -> Trajectory:
    """Play ``policy`` through every scenario; each decision is checked against the rules.

    Each episode has a generator of its own, keyed by the name of the policy and the number of the
    episode, so that neither other policies nor other episodes shift it.

    Parameters
    ----------
    first
        The number of the first scenario, where these are part of more.
    name
        What the policy is called here; its own name unless given.

    Raises
    ------
    InfeasibleDecision
        When a decision breaks a rule; the message says whose, when and which.
    """
    space = environment.space
    episodes, horizon = scenarios.noise.shape[:2]
    shape = (episodes, horizon)
    states = np.empty((episodes, horizon + 1, *scenarios.start.shape[1:]), scenarios.start.dtype)
    actions = np.empty((*shape, space.n_actions), dtype=np.int8)
    rewards, seconds, gaps = np.empty(shape), np.empty(shape), np.empty(shape)
    is_at_limit, is_late = np.zeros((2, *shape), dtype=np.bool_)
    states[:, 0] = scenarios.start
    name = policy.name if name is None else name
    rngs = [stream(seed, f"policy:{name}:episode:{first + e}") for e in range(episodes)]
    policy.reset(episodes)
    for step in range(horizon):
        began = time.perf_counter()
        made = policy.act(states[:, step].copy(), step, rngs)
        spent = time.perf_counter() - began
        _require_decisions(name, made, episodes)
        limits = limits_of(environment, states[:, step], np.full(episodes, step))
        broken = made.broken(space, limits)
        if broken is not None:
            where = f"{name}, episode {first + broken[0]}, step {step}"
            raise InfeasibleDecision(f"{where}: {broken[1]}.")
        actions[:, step], gaps[:, step] = made.actions, made.gaps
        seconds[:, step] = spent / episodes if made.seconds is None else made.seconds
        is_at_limit[:, step], is_late[:, step] = made.is_at_limit, made.is_late
        rewards[:, step], states[:, step + 1] = environment.step(
            states[:, step], actions[:, step], scenarios.noise[:, step]
        )
    return Trajectory(states, actions, rewards, seconds, gaps, is_at_limit, is_late)


def _require_decisions(name: str, made: object, count: int) -> None:
    """Say in one line what a policy of the user's own should have returned."""
    if not isinstance(made, Decisions):
        raise ProblemError(
            f"the policy {name} returned {type(made).__name__}; Decisions are wanted. A policy "
            "that decides one state at a time derives from StatewisePolicy and returns a Decision; "
            "space.certify(action) makes one."
        )
    if len(made) != count:
        raise ProblemError(f"the policy {name} made {len(made)} decisions; {count} are wanted.")
