"""One column at a time, with a mask of what may come next."""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sequoia.errors import ProblemError
from sequoia.interop.gym.as_gym import Observation
from sequoia.interop.gym.feasible import Feasible
from sequoia.problem import ActionSpace, Decision
from sequoia.validation import ActionArray, BoolArray


class OneByOne(gymnasium.Wrapper[Observation, Any, Observation, Any]):
    """Builds each action column by column; `action_masks` says what may come next.

    Action ``n < N`` adds column ``n`` to what is chosen so far, action ``N`` carries it out. Adding
    earns nothing and takes no time. What is chosen so far is the end of the observation. The name
    `action_masks` is the one that the MaskablePPO of sb3-contrib asks for.

    Raises
    ------
    ProblemError
        When the actions cannot be built so: doing nothing is against the rules, or a choice says
        nothing about the plan.
    """

    def __init__(self, env: gymnasium.Env[Observation, ActionArray]) -> None:
        super().__init__(env)
        if not isinstance(env.action_space, Feasible):
            raise ProblemError(f"the actions are {env.action_space}; a Feasible space is wanted.")
        self._space = env.action_space
        if self._rules.why_not_iterative is not None:
            raise ProblemError(f"one column at a time: {self._rules.why_not_iterative}.")
        if not self._rules.contains(self._rules.idle.action[None])[0]:
            raise ProblemError("one column at a time: the rules forbid to begin with nothing.")
        observations = env.observation_space
        if not isinstance(observations, spaces.Box) or len(observations.shape) != 1:
            raise ProblemError(f"the observations are {observations}; a row of numbers is wanted.")
        columns = np.ones(self._rules.n_actions)
        self.action_space = spaces.Discrete(self._rules.n_actions + 1)
        self.observation_space = spaces.Box(
            np.append(observations.low, 0 * columns).astype(np.float32),
            np.append(observations.high, columns).astype(np.float32),
            dtype=np.float32,
        )
        self._begun: Decision = self._rules.idle
        self._last: Observation = np.zeros(observations.shape, dtype=np.float32)

    @property
    def _rules(self) -> ActionSpace:
        """The actions that are allowed now."""
        return self._space.space

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode with nothing chosen."""
        self._last, info = self.env.reset(seed=seed, options=options)
        self._begun = self._rules.idle
        return self._observation(), info

    def action_masks(self) -> BoolArray:
        """Return which actions may come next, ``(N + 1,)``."""
        allowed = np.zeros(self._rules.n_actions + 1, dtype=np.bool_)
        allowed[self._rules.extensions(self._begun).columns] = True
        allowed[-1] = True
        return allowed

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Add a column, or carry out what is chosen."""
        if not 0 <= action <= self._rules.n_actions:
            raise ProblemError(f"the action is {action}; 0 to {self._rules.n_actions} is wanted.")
        if action < self._rules.n_actions:
            self._add(int(action))
            return self._observation(), 0.0, False, False, {}
        self._last, reward, is_terminal, is_cut, info = self.env.step(self._begun.action)
        self._begun = self._rules.idle
        return self._observation(), float(reward), is_terminal, is_cut, info

    def _add(self, column: int) -> None:
        begun = self._rules.extensions(self._begun).with_column(column)
        if begun is None:
            raise ProblemError(
                f"{self._rules.names[column]} cannot be added to "
                f"{', '.join(self._rules.chosen(self._begun.action)) or 'nothing'}; ask "
                "action_masks first."
            )
        self._begun = begun

    def _observation(self) -> NDArray[np.float32]:
        return np.concatenate([self._last, self._begun.action]).astype(np.float32)
