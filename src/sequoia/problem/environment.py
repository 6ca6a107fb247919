"""Any Markov decision process whose actions are combinatorial."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sequoia.problem.spaces import ActionSpace
from sequoia.validation import ActionArray, FloatArray

States = NDArray[Any]


class Environment(Protocol):
    """A process that can be started and stepped, with an action space; a `Problem` is one.

    It may offer more: `sequoia.problem.capabilities` lists the abilities and what each adds.

    Axes: B batch, D numbers that make a state, N action columns, F features, U uniforms. A state
    is everything that the future depends on, as numbers.

    Examples
    --------
    >>> from sequoia import Environment, make
    >>> maze: Environment = make('trap')
    >>> maze.horizon, maze.space.n_actions
    (20, 2)
    """

    @property
    def name(self) -> str:
        """One line of text."""
        ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever the environment does; a model belongs to one fingerprint."""
        ...

    @property
    def space(self) -> ActionSpace:
        """Actions that are allowed in every state; ``action_limits`` may allow fewer in some."""
        ...

    @property
    def horizon(self) -> int:
        """Number of steps of an episode."""
        ...

    @property
    def discount(self) -> float:
        """Weight of the next step against this one, in (0, 1]."""
        ...

    @property
    def n_noise(self) -> int:
        """``U``: how many uniforms one step uses."""
        ...

    def draw_start(self, rng: np.random.Generator, count: int) -> States:
        """Draw first states, ``(count, D)``."""
        ...

    def features(self, states: States) -> FloatArray:
        """Return what a network sees of each state, ``(B, F)``; best of size about 1."""
        ...

    def step(
        self, states: States, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, States]:
        """Return rewards, ``(B,)``, expected ones where they are known, and the next states.

        ``actions`` is ``(B, N)`` and may break the rules where training asks what that would earn;
        ``noise`` is uniform in ``[0, 1)``, ``(B, U)``: equal noise gives equal luck.
        """
        ...
