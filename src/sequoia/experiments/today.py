"""Today's plan: the best decision in a given state, what it is worth, and why."""

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sequoia.arrays import ActionArray, FloatArray, IntArray
from sequoia.bounds.prices import Prices
from sequoia.bounds.relaxation import relax
from sequoia.bounds.step import Step
from sequoia.errors import InfeasibleSpace, SolverFailed
from sequoia.experiments.errands import Errand, errands
from sequoia.experiments.wishes import columns_of, including, leaving_out
from sequoia.policies import QFunction, make_policy
from sequoia.policies.myopic import next_step_weights
from sequoia.problem import Decision, Problem
from sequoia.problem.conflict import conflict
from sequoia.solve import Limits

_LEAST_SECONDS = 0.5


@dataclass(frozen=True)
class Worth:
    """What a decision is worth.

    Attributes
    ----------
    next_step
        Expected reward of the next state, summed over arms.
    long_run
        The same for all steps to the horizon, as prices see it: an estimate from above.
    """

    next_step: float
    long_run: float


@dataclass(frozen=True)
class Why:
    """What it would cost to decide otherwise about one arm.

    Attributes
    ----------
    is_chosen
        Whether the plan acts on it.
    cost
        What is lost when the plan is made without it, or with it; ``None`` when there is none.
    instead
        The errands of that other plan.
    reason
        Why there is no other plan.
    """

    name: str
    is_chosen: bool
    cost: Worth | None
    instead: tuple[Errand, ...] = ()
    reason: str = ""


@dataclass(frozen=True, eq=False)
class Today:
    """A plan for one state.

    Attributes
    ----------
    worth, idle
        What the plan is worth, and what doing nothing would be.
    objective
        What the gap is about: ``"next step"`` for myopic, else ``"long run"``.
    gap
        No decision is better than this one by more, relatively.
    """

    problem: Problem
    state: IntArray
    policy: str
    decision: Decision
    worth: Worth
    idle: Worth
    objective: str
    gap: float
    seconds: float

    @cached_property
    def errands(self) -> list[Errand]:
        """Who goes where, when, to do what."""
        return errands(self.problem.space, self.decision)


class Planner:
    """Plans a day of ``problem`` from ``state``.

    Prices are found once, from today's state to the horizon, without today's rules: these are
    gone tomorrow.

    Parameters
    ----------
    seconds
        Longest time for the prices, and again for each decision.
    """

    def __init__(self, problem: Problem, state: IntArray, seconds: float = 10.0) -> None:
        self.problem = problem
        self.state = state
        self._seconds = max(seconds, _LEAST_SECONDS)

    @cached_property
    def prices(self) -> Prices:
        """Prices of doses, from today on."""
        return relax(self.problem, start=self.state, seconds=self._seconds).prices

    @cached_property
    def long_run(self) -> FloatArray:
        """What each dose level is worth to every arm, to the horizon, ``(J, L)``."""
        return self.prices.weights(self.state)

    @cached_property
    def next_step(self) -> FloatArray:
        """What each dose level brings every arm in the next step, ``(J, L)``."""
        return next_step_weights(self.problem, self.state)

    def worth(self, action: ActionArray) -> Worth:
        """Say what an action is worth today."""
        level = self.problem.levels(action[None])[0]
        arm = np.arange(len(level))
        ahead = float(self.long_run[arm, level].sum()) + self.prices.offset()
        return Worth(float(self.next_step[arm, level].sum()), ahead)

    def plan(self, today: Problem, policy: str = "price", q: QFunction | None = None) -> Today:
        """Plan under today's rules.

        Parameters
        ----------
        today
            The problem with whatever is special today.
        """
        began = time.perf_counter()
        is_myopic = policy == "myopic"
        weights = self.next_step if is_myopic else self.long_run
        if policy in ("myopic", "price", "price-update"):
            action, bound = self._best(today, weights)
            decision = today.space.certify(action)
        else:
            acting = make_policy(policy, today, q, self._seconds)
            decision = acting.act(self.state, 0, np.random.default_rng(0))
            bound = self._best(today, weights)[1]
        level = today.levels(decision.action[None])[0]
        value = float(weights[np.arange(len(level)), level].sum())
        return Today(
            problem=today,
            state=self.state,
            policy=policy,
            decision=decision,
            worth=self.worth(decision.action),
            idle=self.worth(np.zeros_like(decision.action)),
            objective="next step" if is_myopic else "long run",
            gap=max(0.0, bound - value) / max(abs(value), 1e-9),
            seconds=time.perf_counter() - began,
        )

    def why(self, plan: Today, text: str) -> Why:
        """Say what it costs to drop or to include one arm, such as ``"arm:12"``."""
        name, columns = columns_of(self.problem, text)
        is_chosen = bool(set(columns) & set(plan.problem.space.chosen(plan.decision.action)))
        if not columns:
            return Why(name, False, None, reason="no action reaches it.")
        rule = (leaving_out if is_chosen else including)(self.problem, text)
        try:
            other = self.plan(
                plan.problem.with_rules(rule), "myopic" if plan.policy == "myopic" else "price"
            )
        except InfeasibleSpace as error:
            return Why(name, is_chosen, None, reason=str(error))
        cost = Worth(
            plan.worth.next_step - other.worth.next_step, plan.worth.long_run - other.worth.long_run
        )
        return Why(name, is_chosen, cost, tuple(other.errands))

    def _best(self, today: Problem, weights: FloatArray) -> tuple[ActionArray, float]:
        """Return the best action and what no action exceeds."""
        try:
            best = Step(today).best(weights, Limits(seconds=self._seconds))
        except InfeasibleSpace:
            rows = " | ".join(conflict(today.space.compact))
            raise InfeasibleSpace(
                f"no plan satisfies all rules; these contradict: {rows}."
            ) from None
        if best.action is None:
            raise SolverFailed(f"no plan was found in {self._seconds:g} seconds; allow more time.")
        return best.action, best.bound
