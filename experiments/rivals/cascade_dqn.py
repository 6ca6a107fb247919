"""Hill-climbing deep Q-learning (Zhang, Sun & Wang, arXiv 2512.06274).

Q-learning whose maxima over actions are built up one component at a time, each time the one that
raises the Q-value most. Where Q is monotone and submodular in the action, as it is for cascades on
a network, that is at least ``1 - 1/e`` of the best.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from sequoia.learn.q_learning import QLearning
from sequoia.learn.q_learning_config import FULL_NETWORK, QLearningConfig
from sequoia.optimize.result import ArgmaxResult
from sequoia.policies import IterativeDqn, Policy
from sequoia.problem import Environment
from sequoia.problem.environment import States
from sequoia.rng import stream
from sequoia.simulate import Decisions
from sequoia.validation import IntArray


class CascadeDqnConfig(QLearningConfig):
    """Settings of ``cascade-dqn``: those of Q-learning."""

    learner: ClassVar[str] = "cascade-dqn"


# The authors' network is not public in detail. The Q-network
# learns from transitions alone.
CASCADE = {
    "network": {**FULL_NETWORK, "hidden": (32,), "value": 64},
    "exploration": {"initial_eps": 0.9, "final_eps": 0.05, "decay": 4_000},
    "replay": {"alpha": 0.0},
    "warm_start": {"samples": 0},
    "selection": {"eval_freq": 5, "patience": 1_000, "keep_best": True},
    "gamma": 1.0,
    "rounds": 60,
    "episodes": 32,
    "gradient_steps": 4,
    "batch_size": 64,
    "learning_rate": 1e-3,
    "lr_decay": 1.0,
    "adam_epsilon": 1e-8,
    "max_grad_norm": 10.0,
    "target_update_interval": 80,
    "tau": 1.0,
    "cache_rounds": 1,
}


class CascadeDqn(QLearning):
    """Q-learning with hill climbing in the place of the exact argmax."""

    name: ClassVar[str] = "cascade-dqn"
    settings = CascadeDqnConfig
    changes = CASCADE
    played_by: ClassVar[str] = IterativeDqn.name

    def __init__(self, environment: Environment, config: QLearningConfig, seed: int) -> None:
        super().__init__(environment, config, seed)
        self._greedy = _HillClimbing(self)

    def _solve(self, states: States, steps: IntArray) -> ArgmaxResult:
        """Build up an action for each state by the online network."""
        climbing = IterativeDqn(self.environment, self.learned.model())
        rng = stream(0, "unused")
        found = [
            climbing.decide(state, int(step), rng, 0).action
            for state, step in zip(states, steps, strict=True)
        ]
        actions = np.array(found, np.int8).reshape(len(states), self.environment.space.n_actions)
        return ArgmaxResult.unproven(actions, np.full(len(states), np.nan))


class _HillClimbing(Policy):
    """The policy of the network as it is now."""

    name = "greedy"

    def __init__(self, learner: CascadeDqn) -> None:
        self._learner = learner

    def act(self, states: States, step: int, rngs: Sequence[np.random.Generator]) -> Decisions:
        """Build up an action for each state."""
        found = self._learner._solve(states, np.full(len(states), step))
        return Decisions.of_actions(found.actions)
