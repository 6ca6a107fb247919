"""Gymnasium in both directions: our environments there, and theirs here."""

from sequoia.interop.gym.as_gym import as_gym
from sequoia.interop.gym.feasible import Feasible
from sequoia.interop.gym.from_gym import GymEnvironment, from_gym
from sequoia.interop.gym.one_by_one import OneByOne
from sequoia.interop.gym.registration import register
from sequoia.interop.gym.scores import ScoresToAction

register()

__all__ = ["Feasible", "GymEnvironment", "OneByOne", "ScoresToAction", "as_gym", "from_gym"]
