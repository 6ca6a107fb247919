"""The interface of a policy, and policies whose objective is a sum over arms."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sequoia.defaults import DECISION_SECONDS, ROLLOUTS
from sequoia.errors import ProblemError, SolverFailed
from sequoia.models.model import QFunction
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.optimize.by_state import ByState
from sequoia.problem import Decision, Environment, Problem, capabilities_of, limits_of
from sequoia.problem.environment import States
from sequoia.proof import what_stopped
from sequoia.simulate import Decided, Decisions
from sequoia.solvers import Limits, Solver
from sequoia.validation import FloatArray


@dataclass(frozen=True)
class Style:
    """The looks of a policy in every picture; neighbours in a legend differ in lightness too."""

    colour: str
    marker: str
    line: str = "-"


@dataclass(frozen=True, eq=False)
class Options:
    """Options that a policy may be made with.

    Attributes
    ----------
    model
        A trained model, for those that need one.
    seconds
        Longest time for one decision, where a solver is used: a last resort.
    rollouts
        How many rollouts a decision may take, where it takes any.
    """

    model: QFunction | None = None
    seconds: float = DECISION_SECONDS
    rollouts: int = ROLLOUTS


class Policy(ABC):
    """A way to act: a decision for every state.

    Attributes
    ----------
    name
        What it is called on the command line and in results.
    words
        What it does, in one line.
    style
        Its colour and marker; ``None`` for one by its position.
    objective
        What its decisions maximise, in words; ``None`` where they maximise nothing.
    needs_model, needs_prices
        Whether a trained model, or prices of the problem, are needed.
    """

    name: str
    words: ClassVar[str] = ""
    style: ClassVar[Style | None] = None
    objective: ClassVar[str | None] = None
    needs_model: ClassVar[bool] = False
    needs_prices: ClassVar[bool] = False

    @classmethod
    def make(cls, environment: Environment, options: Options) -> "Policy":
        """Make it for an environment, by name (`make_policy`)."""
        raise ProblemError(f"{cls.__name__} cannot be made by name; make it yourself.")

    def reset(self, episodes: int) -> None:  # noqa: B027 (most policies remember nothing)
        """Forget earlier episodes: so many begin side by side, one in each row of ``states``."""

    @abstractmethod
    def act(self, states: States, step: int, rngs: Sequence[np.random.Generator]) -> Decisions:
        """Return a feasible decision for each state, and what is proven about it.

        Parameters
        ----------
        states
            One row for each episode, ``(B, D)``; for a problem, the state of each arm.
        step
            Steps since the beginning of the episodes.
        rngs
            One generator for each episode: the only source of chance a policy may use.
        """


class StatewisePolicy(Policy):
    """A policy that looks at one state at a time."""

    @abstractmethod
    def decide(
        self, state: States, step: int, rng: np.random.Generator, episode: int
    ) -> Decided | Decision:
        """Return a feasible decision for one state, ``(D,)``.

        Parameters
        ----------
        episode
            Which of the episodes that `reset` began.
        """

    def act(self, states: States, step: int, rngs: Sequence[np.random.Generator]) -> Decisions:
        """Decide state by state, and note how long each took."""
        decided, seconds = [], []
        for episode, (state, rng) in enumerate(zip(states, rngs, strict=True)):
            began = time.perf_counter()
            made = self.decide(state, step, rng, episode)
            seconds.append(time.perf_counter() - began)
            decided.append(self._checked(made))
        return Decisions.of(decided, seconds)

    def _checked(self, made: object) -> Decided:
        if isinstance(made, Decision):
            return Decided(made)
        if not isinstance(made, Decided):
            raise ProblemError(
                f"the policy {self.name} returned {type(made).__name__}; a Decision is wanted: "
                "space.certify(action) makes one."
            )
        return made


class FunctionPolicy(StatewisePolicy):
    """A policy from a function of a state ``(D,)``, the step and a generator to a decision."""

    def __init__(
        self, name: str, decide: Callable[[States, int, np.random.Generator], Decided | Decision]
    ) -> None:
        self.name = name
        self._decide = decide

    def decide(
        self,
        state: States,
        step: int,
        rng: np.random.Generator,
        episode: int,
    ) -> Decided | Decision:
        """Ask the function."""
        return self._decide(state, step, rng)


def require_problem(environment: Environment, name: str) -> Problem:
    """Return the environment as a problem of arms, or say that the policy needs one."""
    problem = capabilities_of(environment).problem
    if problem is None:
        raise ProblemError(
            f"{name} needs a problem of arms; {environment.name} is another environment, for which "
            "random, and trained policies, apply."
        )
    return problem


class LinearPolicy(StatewisePolicy):
    """Maximises ``sum_j table[j, level_j(a)]`` over the feasible actions, exactly.

    Parameters
    ----------
    seconds
        Longest time for one decision; the best action found by then is taken, and said to be cut
        off.
    """

    def __init__(
        self, problem: Problem, *, solver: Solver | None = None, seconds: float = DECISION_SECONDS
    ) -> None:
        self._problem = problem
        self._seconds = seconds
        encoding = ActionEncoding.of_problem(problem)
        limits = Limits(seconds=seconds)
        self._argmax = ByState(encoding, lambda encoded: LinearArgmax(encoded, solver, limits))

    @abstractmethod
    def table(self, state: States, step: int, episode: int) -> FloatArray:
        """Return what each dose level is worth to every arm in a state, ``(J, L)``."""

    def decide(self, state: States, step: int, rng: np.random.Generator, episode: int) -> Decided:
        """Return the best decision, and what is proven about it."""
        argmax = self._argmax.at(limits_of(self._problem, state[None], np.array([step])))
        best = argmax.best_doses(self.table(state, step, episode)[None])
        if not best.is_found[0]:
            raise SolverFailed(f"{self.name} found no decision in {self._seconds:g} seconds.")
        decision = self._problem.space.certify(best.actions[0])
        value, bound = float(best.values[0]), float(best.bounds[0])
        stopped_by = what_stopped(not best.is_proven[0], bool(best.is_late[0]))
        return Decided(decision, value, bound, stopped_by)
