"""Our environments as Gymnasium environments; every family under a name of its own."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sequoia.errors import InfeasibleDecision, ProblemError
from sequoia.interop.gym.feasible import Feasible
from sequoia.plots import plot_decision, plot_problem
from sequoia.plots.canvas import pixels
from sequoia.problem import Environment, capabilities_of, limits_of
from sequoia.problem.environment import States
from sequoia.problem.families import FAMILIES, make
from sequoia.problem.spaces import restrict
from sequoia.validation import ActionArray

Observation = NDArray[np.float32]


def as_gym(
    environment: Environment, render_mode: str | None = None
) -> gymnasium.Env[Observation, ActionArray]:
    """Return ``environment`` for learners that speak Gymnasium, one episode at a time.

    An observation is what a network sees, ``environment.features``, and then the share of the
    episode that is left. The state itself is ``info["state"]``. An action is an element of
    `Feasible`; another one raises `InfeasibleDecision`. Where what is allowed depends on the state,
    the action space is always that of the moment, and ``info["action_mask"]`` says which columns
    must not (0), must (1) or may (2) be chosen, as `Feasible.sample` takes it. The reward is the
    expected one where it is known, and episodes are truncated after ``environment.horizon`` steps.

    Parameters
    ----------
    render_mode
        ``"rgb_array"`` draws the last decision of a `Problem`.
    """
    return _Played(environment, render_mode)


class _Played(gymnasium.Env[Observation, ActionArray]):
    """An environment that remembers where the current episode stands."""

    metadata = {"render_modes": ["rgb_array"], "render_fps": 1}  # noqa: RUF012 (as Gymnasium has it)

    def __init__(self, environment: Environment, render_mode: str | None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise ProblemError(f"render_mode is {render_mode!r}; None or 'rgb_array' is wanted.")
        if render_mode is not None and capabilities_of(environment).problem is None:
            raise ProblemError(f"{environment.name} is no problem of arms, so there is no picture.")
        self.environment = environment
        self.render_mode = render_mode
        self.action_space: Feasible = Feasible(environment.space)
        size = environment.features(environment.draw_start(np.random.default_rng(0), 1)).shape[1]
        # The features of a problem are shares; those of other environments have no known limits.
        low, high = (-np.inf, np.inf)
        if capabilities_of(environment).problem is not None:
            low, high = 0.0, 1.0
        self.observation_space = spaces.Box(low, high, (size + 1,), np.float32)
        self._steps = 0
        self._state: States | None = None
        self._action: ActionArray | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed, options=options)
        self._state = self.environment.draw_start(self.np_random, 1)
        self._steps = 0
        self._action = None
        return self._seen(self._state)

    def step(self, action: ActionArray) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Take a feasible action."""
        if self._state is None:
            raise gymnasium.error.ResetNeeded("call reset before step.")
        if not self.action_space.contains(action):
            raise InfeasibleDecision(f"{action} is not in {self.action_space}.")
        noise = self.np_random.random((1, self.environment.n_noise))
        self._action = np.asarray(action, dtype=np.int8)
        rewards, self._state = self.environment.step(self._state, self._action[None], noise)
        self._steps += 1
        is_over = self._steps >= self.environment.horizon
        observation, info = self._seen(self._state)
        return observation, float(rewards[0]), False, is_over, info

    def render(self) -> NDArray[np.uint8] | None:
        """Return the picture of the last decision or, before the first, of the problem."""
        problem = capabilities_of(self.environment).problem
        if self.render_mode is None or problem is None:
            return None
        if self._action is None:
            return pixels(plot_problem(problem))
        return pixels(plot_decision(problem, problem.space.certify(self._action)))

    def _seen(self, state: States) -> tuple[Observation, dict[str, Any]]:
        left = 1.0 - self._steps / self.environment.horizon
        limits = limits_of(self.environment, state, np.array([self._steps]))
        info: dict[str, Any] = {"state": state[0].copy()}
        if limits is not None:
            self.action_space.space = restrict(self.environment.space, limits)
            may = np.where(limits.upper[0] == 1, 2, 0)
            info["action_mask"] = np.where(limits.lower[0] == 1, 1, may).astype(np.int8)
        observation = np.append(self.environment.features(state)[0], left).astype(np.float32)
        return observation, info


def _make(
    family: str, render_mode: str | None = None, **knobs: Any
) -> gymnasium.Env[Observation, ActionArray]:
    return as_gym(make(family, **knobs), render_mode)


def register() -> None:
    """Register ``sequoia/<family>-v0``; what a family takes, ``gymnasium.make`` takes."""
    for family in FAMILIES:
        gymnasium.register(f"sequoia/{family}-v0", entry_point=partial(_make, family))
