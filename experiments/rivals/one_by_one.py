"""Choose one column at a time by a learned policy."""

from typing import Protocol, cast

import numpy as np

from sequoia.errors import ProblemError
from sequoia.policies.greedy import require_step_by_step, what_is_forced
from sequoia.policies.policy import Options, StatewisePolicy, Style
from sequoia.problem import Decision, Environment, space_at
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray, IntArray


class ColumnPolicy(Protocol):
    """What the policy asks a model; see `ColumnModel`."""

    def logits(self, states: States, steps: IntArray, begun: ActionArray) -> FloatArray:
        """Return the preference of each choice, ``(B, N + 1)``, where ``begun`` is chosen."""
        ...


class OneByOne(StatewisePolicy):
    """Add the column that the model prefers, until it prefers to carry out what is chosen."""

    name = "one-by-one"
    words = "built up one column at a time by a learned policy"
    style = Style("#7F7F7F", "p")
    needs_model = True

    def __init__(self, environment: Environment, model: ColumnPolicy) -> None:
        require_step_by_step(environment, self.name)
        self._environment, self._model = environment, model

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "OneByOne":
        """Make it for an environment that ``ppo-masked`` was trained for."""
        if not hasattr(options.model, "logits"):
            raise ProblemError("needs a model that chooses columns one by one, as ppo-masked does.")
        return cls(environment, cast(ColumnPolicy, options.model))

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decision:
        """Return the decision that the model builds up."""
        space = space_at(self._environment, state, step)
        decision = what_is_forced(self._environment, self.name, state, step)
        while len(extensions := space.extensions(decision)):
            found = self._model.logits(state[None], np.array([step]), decision.action[None])[0]
            best = int(extensions.columns[found[extensions.columns].argmax()])
            following = extensions.with_column(best)
            if found[best] <= found[-1] or following is None:
                break
            decision = following
        return decision
