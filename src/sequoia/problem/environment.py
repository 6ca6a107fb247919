"""Any Markov decision process whose actions are combinatorial."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sequoia.problem.spaces import ActionSpace
from sequoia.validation import ActionArray, FloatArray

States = NDArray[Any]


class Environment(Protocol):
    """What SEQUOIA needs to know to learn; a `Problem` is one.

    It may say more: ``dependencies``, who depends on whom (`Dependencies`), so that one network
    serves all columns; and with it ``component_rewards(states, actions)``, ``(B, D)``, the part of
    the reward that each component earns, so that thousands of them are learned at once. And
    ``action_limits(states, steps)``, what is allowed in some states only (`ActionLimits`). And
    ``relevance``, ``(D,)``, how much it helps that a component leaves its first value. And
    ``expected_reward(states, actions)``, ``(B,)``, what the next step earns; with it
    ``reward_table(states, actions)``, ``(B, A)``, the same of every action in every state, so that
    learning starts from the best next step where actions are few. And ``progress(states)``,
    ``(B, D)``, how far acting on a component brings goals: learning may start from that. And
    ``relaxed_plans(state, left)``, what leads to rewards: `Lookahead` follows them.

    Axes: B batch, D numbers that make a state, N action columns, F features, U uniforms. A state
    is everything that the future depends on, as numbers.
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
        """Which actions are allowed in every state; ``action_limits`` may allow fewer in some."""
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
