"""Arms: small Markov chains whose transitions depend on the dose they receive."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError
from sequoia.frames import Library, frame_of
from sequoia.problem.names import Numbered, between, checked_names, count
from sequoia.shown import Columns, Shown
from sequoia.validation import (
    FloatArray,
    IntArray,
    frozen,
    require,
    require_moderate,
    set_fields,
)

# Doses are the same up to this share of all that an arm can get: more than rounding leaves.
SAME_DOSE = 1e-9
_SUM_TOLERANCE = 1e-9


def attainable_doses(weights: FloatArray, most: float = np.inf) -> FloatArray | None:
    """Return all that some of the ``weights``, ``(K,)``, add up to, ascending, 0 among them.

    ``None`` where there are more than ``most``.
    """
    same = SAME_DOSE * np.abs(weights).sum()
    sums = np.zeros(1)
    for weight in weights:
        both = np.sort(np.concatenate([sums, sums + weight]))
        sums = both[np.diff(both, prepend=-np.inf) > same]
        if len(sums) > most:
            return None
    return sums


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Arms(Shown):
    """J arms, each following one of G models (its own, unless ``model`` says otherwise).

    Attributes
    ----------
    rewards
        Reward of each state, ``(G, S)``.
    doses
        The doses at which transitions are tabulated, ``(G, L)``, ascending, the first 0.
    kernels
        Transition probabilities by dose, from state, to state, ``(G, L, S, S)``.
    model
        The model of each arm, ``(J,)``; arms that share a model share its memory.
    names, model_names, state_names
        What arms, models and states are called; numbers unless given.
    dose_names
        What some doses are called, such as ``{1.0: "a visit"}``.

    Examples
    --------
    >>> from sequoia import Arms
    >>> Arms.ladder([[0, 1, 5]] * 2, up=[[0.1, 0.8]] * 2, names=['Ada', 'Ben'])
    2 arms of 2 models, 3 states: 0, 1, 2
    doses 0, 1; rewards 0 to 5
    """

    rewards: FloatArray
    doses: FloatArray
    kernels: FloatArray
    model: IntArray
    names: Sequence[str]
    model_names: Sequence[str]
    state_names: Sequence[str]
    dose_names: Mapping[float, str]

    def __init__(
        self,
        rewards: ArrayLike,
        doses: ArrayLike,
        kernels: ArrayLike,
        model: ArrayLike | None = None,
        names: Sequence[str] | None = None,
        model_names: Sequence[str] | None = None,
        state_names: Sequence[str] | None = None,
        dose_names: Mapping[float, str] | None = None,
    ) -> None:
        rewards = frozen("arms.rewards", rewards, np.float64, (None, None))
        models, states = rewards.shape
        if models == 0 or states == 0:
            raise ProblemError(
                f"arms.rewards has shape {rewards.shape}; an arm with a state is wanted."
            )
        require_moderate("arms.rewards", rewards)
        doses = frozen("arms.doses", doses, np.float64, (models, None))
        levels = doses.shape[1]
        require_moderate("arms.doses", doses)
        if levels == 0:
            raise ProblemError("arms.doses is empty; the first dose of each arm is 0.")
        require("arms.doses[:, 0]", doses[:, 0], doses[:, 0] == 0, "the first dose is 0")
        rising = np.diff(doses, axis=1) > 0
        require("arms.doses", doses[:, 1:], rising, "doses rise along each row")
        kernels = frozen("arms.kernels", kernels, np.float64, (models, levels, states, states))
        fine = (kernels >= 0) & (kernels <= 1 + _SUM_TOLERANCE)
        require("arms.kernels", kernels, fine, "a probability is wanted")
        sums = kernels.sum(axis=3)
        wrong = np.argwhere(np.abs(sums - 1) > _SUM_TOLERANCE)
        if len(wrong):
            place = ", ".join(map(str, wrong[0]))
            raise ProblemError(
                f"arms.kernels[{place}] sums to {sums[tuple(wrong[0])]:.6g}; a row must sum to 1."
            )
        model = np.arange(models) if model is None else model
        model = frozen("arms.model", model, np.int64, (None,))
        inside = (model >= 0) & (model < models)
        require("arms.model", model, inside, f"models run from 0 to {models - 1}")
        if len(model) == 0:
            raise ProblemError("arms.model is empty; at least one arm is wanted.")
        called = {float(dose): str(name) for dose, name in (dose_names or {}).items()}
        checked_names("arms.dose_names", list(called.values()), "dose", len(called))
        set_fields(
            self,
            rewards=rewards,
            doses=doses,
            kernels=kernels,
            model=model,
            names=checked_names("arms.names", names, "arm", len(model)),
            model_names=checked_names("arms.model_names", model_names, "model", models),
            state_names=checked_names("arms.state_names", state_names, "state", states),
            dose_names=called,
        )

    def _lines(self) -> list[str]:
        """Return how many there are, and their states, doses and rewards."""
        states = ", ".join(map(self.say_state, range(min(self.n_states, 8))))
        doses = ", ".join(map(self.say_dose, np.unique(self.doses)[:8]))
        return [
            f"{count(self.n_arms, 'arm')} of {count(self.n_models, 'model')}, "
            f"{count(self.n_states, 'state')}: {states}{', …' if self.n_states > 8 else ''}",
            f"doses {doses}; rewards {between(self.rewards)}",
        ]

    def _shown_table(self) -> Columns:
        """Return a row for each model, dose and state with the chance of each next state."""
        models, levels, states = self.n_models, self.n_doses, self.n_states
        each = np.arange(models * levels * states)
        return {
            "model": [self.model_names[m] for m in (each // (levels * states)).tolist()],
            "dose": self.doses.reshape(-1)[each // states],
            "state": [self.say_state(s) for s in (each % states).tolist()],
            **{
                f"to {self.say_state(s)}": share
                for s, share in enumerate(self.kernels.reshape(-1, states).T)
            },
        }

    def to_frame(self, library: Library = "pandas") -> Any:
        """Return transitions as a data frame, without moves that do not happen.

        Its columns are ``model``, ``dose``, ``state``, ``to`` and ``probability``.
        """
        model, level, state, to = np.nonzero(self.kernels)
        columns: dict[str, Any] = {
            "model": [self.model_names[m] for m in model.tolist()],
            "dose": self.doses[model, level],
            "state": [self.say_state(s) for s in state.tolist()],
            "to": [self.say_state(s) for s in to.tolist()],
            "probability": self.kernels[model, level, state, to],
        }
        return frame_of(columns, library)

    def rewards_frame(self, library: Library = "pandas") -> Any:
        """Return rewards as a data frame: ``model``, ``state``, ``reward``."""
        model, state = np.indices(self.rewards.shape).reshape(2, -1)
        columns: dict[str, Any] = {
            "model": [self.model_names[m] for m in model.tolist()],
            "state": [self.say_state(s) for s in state.tolist()],
            "reward": self.rewards.reshape(-1),
        }
        return frame_of(columns, library)

    @property
    def model_of_each(self) -> list[str]:
        """The name of the model of each arm."""
        return [self.model_names[model] for model in self.model.tolist()]

    def called(self, models: IntArray) -> IntArray | list[str]:
        """Return the names of some models, or just their numbers."""
        if isinstance(self.model_names, Numbered):
            return models
        return [self.model_names[model] for model in models.tolist()]

    def say_state(self, state: int) -> str:
        """Return the name of a state, or just its number."""
        is_numbered = isinstance(self.state_names, Numbered)
        return str(state) if is_numbered else self.state_names[state]

    def state_in_words(self, state: int) -> str:
        """Say a state in a sentence: ``state 0``, or ``state "at risk"``."""
        is_numbered = isinstance(self.state_names, Numbered)
        return self.state_names[state] if is_numbered else f'state "{self.state_names[state]}"'

    def say_dose(self, dose: float) -> str:
        """Return a dose with its name, if it has one."""
        name = self.dose_names.get(float(dose))
        return f"{dose:g}" if name is None else f"{dose:g} ({name})"

    @classmethod
    def ladder(
        cls,
        rewards: ArrayLike,
        up: ArrayLike,
        doses: ArrayLike | None = None,
        model: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> "Arms":
        """Return arms that move one state up or down in each step (paper, appendix B).

        Parameters
        ----------
        rewards
            ``(G, S)``.
        up
            Probability of moving up, by dose, ``(G, L)`` or, by dose and state, ``(G, L, S)``;
            otherwise the arm moves down. At either end it stays instead of leaving.
        doses
            ``(G, L)``; ``0, 1, …`` unless given.
        """
        rewards = frozen("arms.rewards", rewards, np.float64, (None, None))
        states = rewards.shape[1]
        shape = (None, None, states) if np.ndim(up) == 3 else (None, None)
        up = frozen("arms.up", up, np.float64, shape)
        require("arms.up", up, (up >= 0) & (up <= 1), "a probability is wanted")
        up = np.broadcast_to(up[..., None] if up.ndim == 2 else up, (*up.shape[:2], states))
        kernels = np.zeros((*up.shape, states))
        here = np.arange(states)
        kernels[..., here, np.minimum(here + 1, states - 1)] += up
        kernels[..., here, np.maximum(here - 1, 0)] += 1 - up
        if doses is None:
            doses = np.broadcast_to(np.arange(up.shape[1]), up.shape[:2])
        return cls(rewards, doses, kernels, model, names)

    @property
    def n_arms(self) -> int:
        """``J``."""
        return len(self.model)

    @property
    def n_models(self) -> int:
        """``G``."""
        return len(self.rewards)

    @property
    def n_states(self) -> int:
        """``S``."""
        return int(self.rewards.shape[1])

    @property
    def n_doses(self) -> int:
        """``L``."""
        return int(self.doses.shape[1])

    @cached_property
    def next_rewards(self) -> FloatArray:
        """Expected reward of the next state, by model, dose and state, ``(G, L, S)``."""
        expected: FloatArray = np.einsum("glst,gt->gls", self.kernels, self.rewards)
        return expected

    @cached_property
    def cumulative(self) -> FloatArray:
        """Probability of ending in state t or below, ``(S - 1, G * L * S)``, for sampling."""
        sums = self.kernels.cumsum(axis=3).reshape(-1, self.n_states)
        # Divided by the total, so that rounding never leads into a state of probability 0.
        return np.ascontiguousarray((sums / sums[:, -1:])[:, :-1].T)

    @cached_property
    def _thresholds(self) -> FloatArray:
        """Half-way points between doses, by level and arm, ``(L - 1, J)``."""
        between = (self.doses[:, 1:] + self.doses[:, :-1]) / 2
        return np.ascontiguousarray(between[self.model].T)

    def levels(self, doses: ArrayLike) -> IntArray:
        """Return the index of each dose in the table of its arm, ``(..., J)``."""
        doses = np.asarray(doses)
        level = np.zeros(doses.shape, dtype=np.int64)
        for threshold in self._thresholds:
            level += doses > threshold
        return level
