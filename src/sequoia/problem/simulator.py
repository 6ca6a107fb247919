"""An environment from two functions: how it starts, and how it steps."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.capabilities import sample_actions
from sequoia.problem.environment import States
from sequoia.problem.names import count
from sequoia.problem.spaces import ActionSpace
from sequoia.rng import stream
from sequoia.shown import Shown
from sequoia.sizes import MOST_STEPS
from sequoia.validation import ActionArray, FloatArray, whole

# Episodes of random play from which the usual size of each number of a state is seen.
_LOOKED_AT = 32

Start = Callable[[np.random.Generator, int], Any]
StepOf = Callable[[Any, Any, Any], tuple[Any, Any]]
Look = Callable[[States], Any]


@dataclass(frozen=True, eq=False, repr=False)
class Simulator(Shown):
    """An `Environment` from functions over batches, of NumPy, JAX or any other arrays.

    Attributes
    ----------
    space
        Which actions are allowed.
    first
        From a generator and a count to first states, ``(count, D)``.
    move
        From states ``(B, D)``, actions ``(B, N)`` and uniforms ``(B, U)`` to rewards ``(B,)`` and
        next states ``(B, D)``. All luck comes from the uniforms.
    n_noise
        ``U``.
    look
        From states to what a network sees of them, ``(B, F)``. Unless given, the numbers of a
        state, each divided by its usual size.
    version
        Another text for a simulator that changed: a trained model belongs to one.

    Examples
    --------
    >>> import numpy as np
    >>> from sequoia import Budget, Simulator
    >>> pumps = Simulator(
    ...     "pumps",
    ...     Budget(np.ones(3), 1),
    ...     lambda rng, count: rng.integers(0, 4, (count, 3)),
    ...     lambda wear, fix, luck: ((wear < 3).sum(1), np.where(fix, 0, wear + (luck < 0.2))),
    ...     n_noise=3,
    ... )
    >>> pumps
    Simulator 'pumps': 3 actions, 20 steps, discount 0.99, 3 uniforms of luck a step
    budget: at most 1 unit in all; an action costs 1
    """

    name: str
    space: ActionSpace
    first: Start
    move: StepOf
    n_noise: int
    horizon: int = 20
    discount: float = 0.99
    look: Look | None = None
    version: str = "1"

    def __post_init__(self) -> None:
        whole("simulator.horizon", self.horizon, 1, MOST_STEPS)
        whole("simulator.n_noise", self.n_noise, 0)
        if not 0 < self.discount <= 1:
            raise ProblemError(f"simulator.discount is {self.discount}; (0, 1] is wanted.")

    def _lines(self) -> list[str]:
        """Return its sizes and, below, what is allowed."""
        actions, steps = count(self.space.n_actions, "action"), count(self.horizon, "step")
        luck = f"{count(self.n_noise, 'uniform')} of luck a step"
        head = f"Simulator {self.name!r}: {actions}, {steps}, discount {self.discount:g}, {luck}"
        return [head, self.space.summary()]

    @property
    def fingerprint(self) -> str:
        """Its name, version and sizes."""
        return f"{self.name}, version {self.version}, {self.space.n_actions} by {self.horizon}"

    def draw_start(self, rng: np.random.Generator, count: int) -> States:
        """Draw first states, ``(count, D)``."""
        return np.asarray(self.first(rng, count))

    def step(
        self, states: States, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, States]:
        """Return rewards, ``(B,)``, and the next states."""
        rewards, after = self.move(states, actions, noise)
        return np.asarray(rewards, dtype=np.float64), np.asarray(after)

    def features(self, states: States) -> FloatArray:
        """Return what a network sees of each state, ``(B, F)``."""
        if self.look is not None:
            return np.asarray(self.look(states), dtype=np.float64)
        scaled: FloatArray = np.asarray(states, dtype=np.float64) / self._sizes
        return scaled

    @cached_property
    def _sizes(self) -> FloatArray:
        """The largest size of each number of a state in random play, ``(D,)``; 1 for none."""
        rng = stream(0, "simulator: sizes")
        states = self.draw_start(rng, _LOOKED_AT)
        most = np.abs(states).max(axis=0)
        for step in range(self.horizon):
            actions = sample_actions(self, states, np.full(_LOOKED_AT, step), rng)
            _, states = self.step(states, actions, rng.random((_LOOKED_AT, self.n_noise)))
            most = np.maximum(most, np.abs(states).max(axis=0))
        sizes: FloatArray = np.where(most > 0, most, 1).astype(np.float64)
        return sizes
