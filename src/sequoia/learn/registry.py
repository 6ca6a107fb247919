"""Every learner by name; packages add theirs by entry points of ``sequoia.learners``."""

from typing import Any

from sequoia.learn.base import Learner
from sequoia.learn.learner import PolicyImprovement
from sequoia.learn.q_learning import QLearning
from sequoia.plugins import Parts

_LIBRARY: tuple[type[Learner[Any]], ...] = (PolicyImprovement, QLearning)
LEARNERS = Parts("sequoia.learners", {learner.name: learner for learner in _LIBRARY})
