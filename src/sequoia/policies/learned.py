"""Act on a learned Q-function: exactly, or one component at a time."""

from collections.abc import Callable
from functools import partial

import numpy as np

from sequoia.defaults import DECISION_SECONDS
from sequoia.errors import ProblemError
from sequoia.models.model import QFunction
from sequoia.optimize.auto import Auto
from sequoia.optimize.by_state import ByState
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.result import Argmax
from sequoia.policies.greedy import Greedy
from sequoia.policies.policy import Options, StatewisePolicy, Style
from sequoia.problem import Environment, limits_of
from sequoia.problem.environment import States
from sequoia.proof import what_stopped
from sequoia.simulate import Decided
from sequoia.validation import ActionArray, FloatArray


class Sequoia(StatewisePolicy):
    """The action with the largest Q-value over the whole space (paper, section 4).

    Parameters
    ----------
    engine
        How the best action is found, from an encoding of the actions; by default they are listed
        where they are few, and the network is embedded in a program otherwise.
    seconds
        Longest time for the proof of one decision, with the default engine.
    """

    name = "sequoia"
    words = "the best decision by a learned value"
    objective = "by what the model has learned"
    style = Style("#D55E00", "P")
    needs_model = True

    def __init__(
        self,
        environment: Environment,
        q: QFunction,
        engine: Callable[[ActionEncoding], Argmax] | None = None,
        *,
        seconds: float = DECISION_SECONDS,
    ) -> None:
        self._environment = environment
        self._q = q
        make = partial(Auto, seconds=seconds) if engine is None else engine
        self._engine = ByState(_encoding(environment, q), make)

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "Sequoia":
        """Make it for any environment that a model was trained for."""
        return cls(environment, _required(options.model, cls.name), seconds=options.seconds)

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decided:
        """Return the best action with its plan.

        One state at a time: sums over a batch would be rounded differently in other batches.
        """
        states, steps = state[None], np.array([step])
        limits = limits_of(self._environment, states, steps)
        best = self._engine.best(self._q.fold(states, steps), limits)
        value, bound = float(best.values[0]), float(best.bounds[0])
        is_cut_off = bool(np.isfinite(bound) and not best.is_proven[0])
        decision = self._environment.space.certify(best.actions[0])
        stopped_by = what_stopped(is_cut_off, bool(best.is_late[0]))
        return Decided(decision, value, bound, stopped_by)


class IterativeDqn(Greedy):
    """Greedy by Q-value: learned foresight without a solver (appendix D)."""

    name = "iterative-dqn"
    words = "built up one component at a time by a learned value"
    style = Style("#CC79A7", "D")
    needs_model = True

    def __init__(self, environment: Environment, q: QFunction) -> None:
        super().__init__(environment)
        self._encoding = _encoding(environment, q)
        self._q = q

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "IterativeDqn":
        """Make it for any environment that a model was trained for."""
        return cls(environment, _required(options.model, cls.name))

    def values(self, state: States, step: int, actions: ActionArray) -> FloatArray:
        """Return the Q-values of actions."""
        net = self._q.fold(state[None], np.array([step]))
        values: FloatArray = net.values(self._encoding.encode(actions)[None])[0]
        return values


def _encoding(environment: Environment, q: QFunction) -> ActionEncoding:
    """Return what a model sees of actions: the columns alone, if it learned without doses."""
    encoding = ActionEncoding.of(environment)
    if getattr(q, "n_inputs", encoding.n_inputs) == encoding.n_inputs:
        return encoding
    return ActionEncoding.of_space(environment.space)


def _required(q: QFunction | None, name: str) -> QFunction:
    if q is None:
        raise ProblemError(f"{name} needs a trained model, and none is given.")
    if (player := getattr(q, "played_by", name)) != name:
        raise ProblemError(f"{name} does not play this model; {player} does.")
    return q
