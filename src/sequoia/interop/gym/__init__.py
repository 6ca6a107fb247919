"""Gymnasium in both directions: our environments there, and theirs here."""

from sequoia.interop.gym.as_gym import as_gym
from sequoia.interop.gym.feasible import Feasible
from sequoia.interop.gym.from_gym import GymEnvironment, from_gym

__all__ = ["Feasible", "GymEnvironment", "as_gym", "from_gym"]
