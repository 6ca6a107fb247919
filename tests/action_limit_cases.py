"""Limits that depend on the state, and a small environment that has some."""

import numpy as np

from sequoia.problem import ActionLimits
from sequoia.problem.spaces import Budget


def random_limits(rng, size):
    """Some closed columns, at most one forced one, sometimes a row."""
    upper = (rng.random((1, size)) < 0.7).astype(np.int8)
    lower = np.zeros((1, size), dtype=np.int8)
    if rng.random() < 0.5:
        lower[0, rng.integers(size)] = 1
    if rng.random() < 0.5:
        return ActionLimits(np.minimum(lower, upper), upper)
    matrix = rng.integers(0, 3, (2, size)).astype(float)
    bounds = np.array([[rng.integers(1, 4), np.inf]])
    least = np.array([[-np.inf, rng.integers(0, 2)]])
    return ActionLimits(np.minimum(lower, upper), upper, matrix, least, bounds)


class Doors:
    """Four doors with an amount behind each; a door with nothing behind it stays shut.

    A door that holds 3 must be opened. In odd steps only one door may be.
    """

    name, fingerprint = "doors", "doors 1"
    space = Budget(np.ones(4), 2, [f"door {i}" for i in range(4)])
    horizon, discount, n_noise = 5, 1.0, 4

    def draw_start(self, rng, count):
        # At most one door is forced, so that something is always allowed.
        return rng.integers(0, 3, (count, 4))

    def features(self, states):
        return states / 3

    def step(self, states, actions, noise):
        reward = (actions * states * [1.0, 1.5, 2.0, 2.5]).sum(axis=1)
        grown = np.where(actions == 1, 0, np.minimum(states + (noise < 0.4), 2))
        # Only the first door ever gets to 3.
        grown[:, 0] = np.where((states[:, 0] >= 2) & (actions[:, 0] == 0), 3, grown[:, 0])
        return reward, grown

    def action_limits(self, states, steps):
        most = np.where(np.asarray(steps) % 2 == 1, 1.0, np.inf)
        return ActionLimits(
            states >= 3, states > 0, np.ones((1, 4)), None, most[:, None], ["one in odd steps"]
        )
