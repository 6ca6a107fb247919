"""What is worth something where rewards are rare: what lasts, and was never so before."""

from dataclasses import dataclass

import numpy as np

from sequoia.learn.play import Play
from sequoia.problem import Environment, capabilities_of
from sequoia.problem.environment import States
from sequoia.validation import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Potential:
    """``V(s) = sum of worth_d over the components d that have left their first value``.

    Counted are components that never return to their first value in play: what was detected,
    passed, taken. Such facts are often what rare rewards need first (goal counting, Hoffmann and
    Nebel 2001, without the planning). As a critic it is asked like any other, and what is learned
    from it has to win the same test (potential-based shaping, Ng et al. 1999).

    Attributes
    ----------
    first
        The first state, ``(D,)``.
    worth
        What a step earns or costs in play, at least 1, for each of these components, ``(D,)``;
        times its ``relevance``, where the environment knows which facts help.
    """

    first: FloatArray
    worth: FloatArray

    @classmethod
    def of(cls, environment: Environment, played: Play, may_count: BoolArray) -> "Potential | None":
        """Look for lasting changes; ``None`` where nothing lasts, or episodes begin differently.

        ``may_count`` says which components are facts, not amounts, ``(D,)``.
        """
        horizon = environment.horizon
        states = played.states.reshape(horizon, -1, played.states.shape[1])
        every = np.concatenate([states, played.following[None, -states.shape[1] :]])
        first = every[0, 0]
        if (every[0] != first).any():
            return None
        is_away = every != first
        has_left = np.maximum.accumulate(is_away, axis=0)
        returns = (has_left & ~is_away).any(axis=(0, 1))
        lasts = is_away.any(axis=(0, 1)) & ~returns & may_count
        if not lasts.any():
            return None
        ranking = capabilities_of(environment).relevance
        relevance = np.ones(len(first)) if ranking is None else np.asarray(ranking.relevance)
        size = max(1.0, float(np.abs(played.rewards).mean()))
        return cls(np.asarray(first, dtype=np.float64), size * relevance * lasts)

    def values(self, states: States, steps: IntArray) -> FloatArray:
        """Return the worth of states, ``(B,)``."""
        found: FloatArray = (np.asarray(states) != self.first) @ self.worth
        return found
