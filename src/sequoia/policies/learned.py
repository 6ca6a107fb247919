"""Act on a learned Q-function: exactly, or one component at a time."""

import numpy as np

from sequoia.arrays import ActionArray, FloatArray, IntArray
from sequoia.optimize.argmax import Argmax
from sequoia.optimize.auto import Auto
from sequoia.optimize.columns import Columns
from sequoia.policies.greedy import Greedy
from sequoia.policies.q_function import QFunction
from sequoia.problem import Decision, Problem

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
        problem: Problem,
        q: QFunction,
        engine: Argmax | None = None,
        *,
        seconds: float = _SECONDS,
    ) -> None:
        self._space = problem.space
        self._q = q
        if engine is None:
            engine = Auto(Columns.of_problem(problem), seconds=seconds)
        self._engine = engine

    def act(self, state: IntArray, step: int, rng: np.random.Generator) -> Decision:  # noqa: ARG002
        """Return the best action with its plan."""
        answer = self._engine.best(self._q.fold(state[None]))
        return self._space.certify(answer.actions[0])


def iterative_dqn(problem: Problem, q: QFunction) -> Greedy:
    """Return the greedy policy by Q-value: learned foresight without a solver (appendix D)."""
    columns = Columns.of_problem(problem)

    def value(state: IntArray, actions: ActionArray) -> FloatArray:
        values: FloatArray = q.fold(state[None]).values(columns.encode(actions)[None])[0]
        return values

    return Greedy(problem, value, "iterative-dqn")
