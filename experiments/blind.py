"""An environment of which a learner sees only how to play it."""

import numpy as np

from sequoia.problem.action_limits import ActionLimits
from sequoia.problem.environment import Environment, States
from sequoia.problem.spaces import ActionSpace
from sequoia.validation import ActionArray, FloatArray, IntArray


class Blind:
    """``environment`` without what it declares beyond the protocol `Environment`.

    No dependencies, no rewards of components, no expected rewards, no progress. Only
    ``action_limits`` remains where the environment has it: rules that depend on the state are rules
    of the game, and are not structure.
    """

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        if hasattr(environment, "action_limits"):
            self.action_limits = self._action_limits

    @property
    def name(self) -> str:
        """That of the environment."""
        return self._environment.name

    @property
    def fingerprint(self) -> str:
        """That of the environment: what is played is the same."""
        return self._environment.fingerprint

    @property
    def space(self) -> ActionSpace:
        """Which actions are allowed in every state."""
        return self._environment.space

    @property
    def horizon(self) -> int:
        """Number of steps of an episode."""
        return self._environment.horizon

    @property
    def discount(self) -> float:
        """Weight of the next step against this one."""
        return self._environment.discount

    @property
    def n_noise(self) -> int:
        """``U``: how many uniforms one step uses."""
        return self._environment.n_noise

    def draw_start(self, rng: np.random.Generator, count: int) -> States:
        """Draw first states, ``(count, D)``."""
        return self._environment.draw_start(rng, count)

    def features(self, states: States) -> FloatArray:
        """Return what a network sees of each state, ``(B, F)``."""
        return self._environment.features(states)

    def step(
        self, states: States, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, States]:
        """Return rewards, ``(B,)``, and the next states, ``(B, D)``."""
        return self._environment.step(states, actions, noise)

    def _action_limits(self, states: States, steps: IntArray) -> ActionLimits | None:
        limits: ActionLimits | None = self._environment.action_limits(  # type: ignore[attr-defined]
            states, steps
        )
        return limits
