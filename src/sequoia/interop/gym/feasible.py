"""A Gymnasium action space that is defined by rules, and scores as a way to act in it."""

from collections.abc import Iterable
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from sequoia.errors import ProblemError
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.problem import ActionSpace, Rules, with_rules
from sequoia.problem.spaces import write_space
from sequoia.validation import ActionArray, IntArray


class Feasible(spaces.Space[ActionArray]):
    """The actions of an `ActionSpace`: binary vectors, ``(N,)``, for which a plan exists.

    Attributes
    ----------
    space
        The rules; in a game whose rules depend on the state, those of the moment.
    """

    def __init__(self, space: ActionSpace, seed: int | np.random.Generator | None = None) -> None:
        super().__init__((space.n_actions,), np.int8, seed)
        self.space = self._whole = space

    @property
    def is_np_flattenable(self) -> bool:
        """Whether an element is a plain array: it is."""
        return True

    def sample(self, mask: IntArray | None = None, probability: None = None) -> ActionArray:
        """Draw a feasible action with this space's own generator.

        Parameters
        ----------
        mask
            As for Gymnasium's ``MultiBinary``, ``(N,)``: 0 where a column must not be chosen, 1
            where it must be, 2 where it may be.

        Raises
        ------
        InfeasibleSpace
            When no feasible action fits the mask.
        """
        if probability is not None:
            raise ProblemError("columns are not independent of each other; use mask instead.")
        space = self.space if mask is None else self._masked(np.asarray(mask))
        return space.sample(self.np_random).action.astype(np.int8)

    def _masked(self, mask: IntArray) -> ActionSpace:
        if mask.shape != self.shape or not np.isin(mask, (0, 1, 2)).all():
            raise ProblemError(f"the mask is {mask.tolist()}; {self.shape} of 0, 1 or 2 is wanted.")
        never, must = (self.space.chosen(mask == wanted) for wanted in (0, 1))
        return with_rules(self.space, Rules(must=must, never=never))

    def contains(self, x: Any) -> bool:
        """Say whether ``x`` is a binary vector for which a plan exists."""
        action = np.asarray(x)
        if action.shape != self.shape or action.dtype.kind not in "biu":
            return False
        return bool(np.isin(action, (0, 1)).all() and self.space.contains(action[None])[0])

    def to_jsonable(self, sample_n: Iterable[ActionArray]) -> list[list[int]]:
        """Return actions as lists of 0 and 1."""
        return [np.asarray(action).tolist() for action in sample_n]

    def from_jsonable(self, sample_n: list[Any]) -> list[ActionArray]:
        """Return actions from lists of 0 and 1."""
        return [np.array(action, dtype=np.int8) for action in sample_n]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Feasible) and self._mark == other._mark

    __hash__ = None  # type: ignore[assignment]

    @property
    def _mark(self) -> str:
        return write_space(self._whole).fingerprint()

    def __repr__(self) -> str:
        return f"Feasible({self._whole.base.kind}, {self._whole.n_actions} columns)"


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
        if scores.shape != self._feasible.shape or not np.isfinite(scores).all():
            raise ProblemError(
                f"the scores are {scores.tolist()}; {self._feasible.shape} of numbers is wanted."
            )
        if rules is not self._for:
            self._linear, self._for = LinearArgmax(ActionEncoding.of_space(rules)), rules
        best: ActionArray = self._linear.maximise(scores[None]).actions[0]
        return best
