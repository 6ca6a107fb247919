"""Scores in, a feasible action out."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sequoia.errors import ProblemError
from sequoia.interop.gym.feasible import Feasible
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.validation import ActionArray


class ScoresToAction(gymnasium.ActionWrapper[NDArray[Any], NDArray[np.float32], ActionArray]):
    """Takes a score per column, from -1 to 1, and acts by the feasible action of the largest sum.

    The action is ``argmax { scores @ a : a feasible }``, exact, for every action space; so any
    learner of continuous actions can act here and never breaks a rule.
    """

    def __init__(self, env: gymnasium.Env[NDArray[Any], ActionArray]) -> None:
        super().__init__(env)
        if not isinstance(env.action_space, Feasible):
            raise ProblemError(f"the actions are {env.action_space}; a Feasible space is wanted.")
        self._feasible, rules = env.action_space, env.action_space.space
        self.action_space = spaces.Box(-1.0, 1.0, (rules.n_actions,), np.float32)
        self._linear, self._for = LinearArgmax(ActionEncoding.of_space(rules)), rules

    def action(self, action: NDArray[np.float32]) -> ActionArray:
        """Return the feasible action with the largest sum of scores."""
        scores, rules = np.asarray(action, dtype=np.float64), self._feasible.space
        if rules is not self._for:
            self._linear, self._for = LinearArgmax(ActionEncoding.of_space(rules)), rules
        best: ActionArray = self._linear.maximise(scores[None]).actions[0]
        return best
