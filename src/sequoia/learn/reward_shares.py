"""Which part of a reward each component earns: declared, or found by regression on play."""

from dataclasses import dataclass

import numpy as np

from sequoia.learn.play import Play
from sequoia.models.sight import Sight
from sequoia.problem import Environment, capabilities_of
from sequoia.problem.capabilities import SharesRewards
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray

# Transitions that are regressed on, and the share of them that the fit is judged by.
_ROWS, _HELD_OUT = 6_000, 0.2
# Keeps coefficients of what never varies at 0, and is small against thousands of rows.
_RIDGE = 1e-3


@dataclass(frozen=True, eq=False)
class RewardShares:
    """``r_c = before_c . x_c(s) + after_c . x_c(s') + sum_i a_i chosen_e . [1, x_c(s)]``.

    The last sum is over the columns i with an outlet e at component c.

    Attributes
    ----------
    before, after
        ``(D, P)`` each.
    chosen
        ``(E, 1 + P)``.
    explained
        How much of the variance of rewards the shares add up to, in transitions kept back.
    """

    sight: Sight
    before: FloatArray
    after: FloatArray
    chosen: FloatArray
    explained: float

    def of(self, states: States, actions: ActionArray, following: States) -> FloatArray:
        """Return what each component earns, ``(B, D)``."""
        own, then, chosen = _seen(self.sight, states, actions, following)
        found: FloatArray = (own * self.before).sum(axis=2) + (then * self.after).sum(axis=2)
        found += (chosen * self.chosen).sum(axis=2) @ self.sight.outlets_to_nodes
        return found


@dataclass(frozen=True, eq=False)
class DeclaredShares:
    """What an environment says itself."""

    environment: SharesRewards
    explained: float = 1.0

    def of(self, states: States, actions: ActionArray, following: States) -> FloatArray:
        """Return what each component earns, ``(B, D)``."""
        return self.environment.component_rewards(states, actions)


def find_shares(
    environment: Environment, played: Play, sight: Sight, rng: np.random.Generator
) -> RewardShares | DeclaredShares:
    """Ask the environment, or regress rewards on components and on what is done to them."""
    if (sharing := capabilities_of(environment).reward_shares) is not None:
        return DeclaredShares(sharing)
    rows = rng.permutation(len(played.steps))[:_ROWS]
    states, actions = played.states[rows], played.actions[rows]
    rewards = played.rewards[rows]
    parts = _seen(sight, states, actions, played.following[rows])
    sizes = [part.shape[1:] for part in parts]
    inputs = np.concatenate([part.reshape(len(rows), -1) for part in parts], axis=1)
    kept = max(1, round((1 - _HELD_OUT) * len(rows)))
    mean = inputs[:kept].mean(axis=0), float(rewards[:kept].mean())
    found = _ridge(inputs[:kept] - mean[0], rewards[:kept] - mean[1])
    error = rewards[kept:] - mean[1] - (inputs[kept:] - mean[0]) @ found
    spread = float(rewards[kept:].var()) if kept < len(rewards) else 0.0
    explained = 1.0 if spread == 0 else max(0.0, 1 - float((error**2).mean()) / spread)
    ends = np.cumsum([int(np.prod(size)) for size in sizes])
    before, after, chosen = (
        own.reshape(size) for own, size in zip(np.split(found, ends[:-1]), sizes, strict=True)
    )
    return RewardShares(sight, before, after, chosen, explained)


def _ridge(inputs: FloatArray, values: FloatArray) -> FloatArray:
    """Return ridge coefficients, by rows or by columns, whichever are fewer."""
    rows, columns = inputs.shape
    if columns <= rows:
        gram = inputs.T @ inputs + _RIDGE * np.eye(columns)
        return np.asarray(np.linalg.solve(gram, inputs.T @ values))
    kernel = inputs @ inputs.T + _RIDGE * np.eye(rows)
    return np.asarray(inputs.T @ np.linalg.solve(kernel, values))


def _seen(
    sight: Sight, states: States, actions: ActionArray, following: States
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return components before and after, ``(B, D, P)``, and outlets, ``(B, E, 1 + P)``."""
    own = sight.shown(states)
    ones = np.ones((*own.shape[:2], 1))
    at_outlets = np.concatenate([ones, own], axis=2)[:, sight.node]
    chosen = actions[:, sight.column].astype(np.float64)
    return own, sight.shown(following), at_outlets * chosen[:, :, None]
