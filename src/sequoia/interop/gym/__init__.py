"""Gymnasium in both directions: our environments there, and theirs here."""

from sequoia.extras import require

require("gymnasium")

from sequoia.interop.gym.as_gym import as_gym, register
from sequoia.interop.gym.feasible import Feasible, ScoresToAction
from sequoia.interop.gym.from_gym import GymEnvironment, from_gym
from sequoia.interop.gym.one_by_one import OneByOne

register()

__all__ = ["Feasible", "GymEnvironment", "OneByOne", "ScoresToAction", "as_gym", "from_gym"]
