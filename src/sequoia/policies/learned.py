"""Act on a learned Q-function: exactly, or one component at a time."""

import numpy as np

from sequoia.models.q_function import QFunction
from sequoia.optimize.auto import Auto
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.result import Argmax
from sequoia.policies.greedy import Greedy
from sequoia.problem import Decision, Environment
from sequoia.problem.environment import States
from sequoia.validation import ActionArray, FloatArray

_SECONDS = 10.0


class Sequoia:
    """The action with the largest Q-value over the whole space (paper, section 4).

    Parameters
    ----------
    engine
        How the best action is found; by default the actions are listed where they are few, and
        the network is embedded in a program otherwise.
    seconds
        Longest time for the proof of one decision, with the default engine.
    """

    name = "sequoia"

    def __init__(
        self,
        environment: Environment,
        q: QFunction,
        engine: Argmax | None = None,
        *,
        seconds: float = _SECONDS,
    ) -> None:
        self._space = environment.space
        self._q = q
        if engine is None:
            engine = Auto(ActionEncoding.of(environment), seconds=seconds)
        self._engine = engine

    def act(self, state: States, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Return the best action with its plan."""
        answer = self._engine.best(self._q.fold(state[None], np.array([step])))
        return self._space.certify(answer.actions[0])


def iterative_dqn(environment: Environment, q: QFunction) -> Greedy:
    """Return the greedy policy by Q-value: learned foresight without a solver (appendix D)."""
    columns = ActionEncoding.of(environment)

    def value(state: States, step: int, actions: ActionArray) -> FloatArray:
        net = q.fold(state[None], np.array([step]))
        values: FloatArray = net.values(columns.encode(actions)[None])[0]
        return values

    return Greedy(environment, value, "iterative-dqn")
