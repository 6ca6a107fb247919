"""Every learner by name."""

from typing import Any

from sequoia.learn.learner import Learner
from sequoia.learn.policy_iteration import PolicyIteration
from sequoia.learn.q_learning import QLearning

LEARNERS: dict[str, type[Learner[Any]]] = {
    learner.name: learner for learner in (QLearning, PolicyIteration)
}
