"""Today's plan: the best decision in a given state, what it is worth, and why."""

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from sequoia.bounds.factored.relax import relax_factored
from sequoia.bounds.factored.value import FactoredValue
from sequoia.bounds.lagrangian.prices import Prices
from sequoia.bounds.lagrangian.relax import Relaxation, relax
from sequoia.defaults import PLANNING_SECONDS, planning_policy
from sequoia.errors import InfeasibleSpace, ProblemError
from sequoia.frames import Library, frame_of
from sequoia.optimize import ActionEncoding, LinearArgmax
from sequoia.planning.overrides import columns_of, including, leaving_out
from sequoia.planning.plan import Plan, plan_state
from sequoia.policies import Myopic, Policy, PricePolicy, QFunction, make_policy
from sequoia.policies.price import ClusterPricePolicy
from sequoia.policies.registry import policy_called
from sequoia.problem import Environment, Problem, Rules, capabilities_of, limits_of
from sequoia.problem.framed_arms import states_of
from sequoia.problem.names import count
from sequoia.problem.spaces.base import Task
from sequoia.shown import Columns
from sequoia.solvers import Limits
from sequoia.validation import ActionArray, FloatArray, IntArray

_LEAST_SECONDS = 0.5


@dataclass(frozen=True)
class Worth:
    """The worth of a decision.

    Attributes
    ----------
    next_step
        Expected reward of the next state, summed over arms.
    long_run
        The same for all steps to the horizon, as prices see it: an estimate from above. ``None``
        where arms infect each other, as they have no prices.
    """

    next_step: float
    long_run: float | None

    def __sub__(self, other: "Worth") -> "Worth":
        ahead = None
        if self.long_run is not None and other.long_run is not None:
            ahead = self.long_run - other.long_run
        return Worth(self.next_step - other.next_step, ahead)


@dataclass(frozen=True)
class Why:
    """The cost of deciding otherwise about one arm.

    Attributes
    ----------
    is_chosen
        Whether the plan acts on it.
    cost
        What is lost when the plan is made without it, or with it; ``None`` when there is none.
    instead
        The tasks of that other plan.
    reason
        Why there is no other plan.
    """

    name: str
    is_chosen: bool
    cost: Worth | None
    instead: tuple[Task, ...] = ()
    reason: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class DayPlan(Plan):
    """A plan for one state of a problem of arms, and what it is worth.

    Attributes
    ----------
    worth, idle
        What the plan is worth, and what doing nothing would be.
    objective
        What the gap is about: ``"next step"`` for myopic and without prices, else ``"long run"``.
    gap
        By that objective, as prices see the long run, no decision is better by more, relatively.
    ceiling
        No policy earns more from today's state to the horizon: certified, where arms interact and
        the plan is by prices of clusters; else ``None``.
    """

    problem: Problem
    worth: Worth
    idle: Worth
    objective: str
    gap: float
    ceiling: float | None

    @property
    def value(self) -> float:
        """The worth of the plan by `objective`."""
        if self.objective == "long run":
            assert self.worth.long_run is not None
            return self.worth.long_run
        return self.worth.next_step

    def _lines(self) -> list[str]:
        """Return how much there is to do, what it is worth, and how good it is."""
        gain = self.worth - self.idle
        ahead = "" if gain.long_run is None else f", {gain.long_run:.4g} more in the long run"
        return [
            f"Plan of {self.problem.name!r} by {self.policy}: {count(len(self.tasks), 'task')}",
            f"{gain.next_step:.4g} more in the next step than without it{ahead}",
            self.proof_in_words,
        ]

    def _shown_table(self) -> Columns:
        """Return a row for each task."""
        columns = {name: [getattr(task, name) for task in self.tasks] for name in Task._fields}
        arms = self.problem.bare_arms
        known = dict(zip(arms.names, self.state.tolist(), strict=False))
        before = [known.get(task.where) for task in self.tasks]
        columns["state"] = ["" if s is None else self.problem.arms.say_state(s) for s in before]
        return {name: cells for name, cells in columns.items() if any(cells) or name == "where"}

    def to_frame(self, library: Library = "pandas") -> Any:
        """Return tasks as a data frame.

        Its columns are ``who``, ``when``, ``where``, ``do`` and today's ``state``; what no task has
        is left out.
        """
        return frame_of(self._shown_table(), library)


@overload
def plan(
    environment: Problem,
    state: Any,
    policy: str | None = None,
    *,
    model: QFunction | None = None,
    rules: Rules = Rules(),
    seconds: float = PLANNING_SECONDS,
) -> DayPlan: ...
@overload
def plan(
    environment: Environment,
    state: Any = None,
    policy: str | None = None,
    *,
    model: QFunction | None = None,
    seconds: float = PLANNING_SECONDS,
) -> Plan: ...
def plan(
    environment: Environment,
    state: Any = None,
    policy: str | None = None,
    *,
    model: QFunction | None = None,
    rules: Rules = Rules(),
    seconds: float = PLANNING_SECONDS,
) -> Plan:
    """Plan one day; see `Planner` for more.

    Parameters
    ----------
    environment
        A problem of arms, or any other environment.
    state
        Of a problem, the state of each arm, by number or by name: a list in the order of arms, a
        mapping such as ``{"Ada": "well"}``, or a data frame with the columns ``arm`` and ``state``.
        Of another environment, its numbers, ``(D,)``; the first state unless given.
    policy
        A name known to `make_policy`; unless given, see `Planner.plan` and `plan_state`.
    model
        A trained model, for the policies that need one.
    rules
        What is special today, for a problem of arms.
    seconds
        Longest time for each decision; a last resort.

    Examples
    --------
    >>> import sequoia
    >>> from sequoia import Arms, Budget, Problem
    >>> arms = Arms.ladder([[0, 1]] * 3, up=[[0.1, 0.9]] * 3, names=['Ada', 'Ben', 'Cleo'])
    >>> three = Problem('three people', arms, Budget([1] * 3, 1), [[1, 0]] * 3)
    >>> today = sequoia.plan(three, {'Ada': 0, 'Ben': 1, 'Cleo': 1})
    >>> [task.where for task in today.tasks]
    ['Ada']
    """
    problem = capabilities_of(environment).problem
    if problem is not None:
        states = states_of(state, problem.arms)
        return Planner(problem, states, seconds).plan(problem.with_rules(rules), policy, model)
    if rules != Rules():
        raise ProblemError(f"rules of a day need a problem of arms; {environment.name} has none.")
    given = None if state is None else np.asarray(state)
    return plan_state(environment, given, policy, model=model, seconds=seconds)


class Planner:
    """Plans a day of ``problem`` from ``state``.

    Prices are found once, from today's state to the horizon, without today's rules: these are
    gone tomorrow.

    Parameters
    ----------
    seconds
        Longest time for each decision; a last resort.
    """

    def __init__(
        self, problem: Problem, state: IntArray, seconds: float = PLANNING_SECONDS
    ) -> None:
        self.problem = problem
        self.state = state
        self._seconds = max(seconds, _LEAST_SECONDS)

    def hurry(self) -> None:
        """Take no longer than half a second for a decision from now on, as far as can be."""
        self._seconds = _LEAST_SECONDS

    @property
    def has_prices(self) -> bool:
        """Whether the long run can be priced: only where arms do not infect each other."""
        return self.problem.is_decoupled

    @cached_property
    def relaxation(self) -> Relaxation:
        """Prices of doses, from today on, and what ended the search for them."""
        return relax(self.problem, start=self.state)

    @property
    def prices(self) -> Prices:
        """Prices of doses, from today on."""
        return self.relaxation.prices

    @cached_property
    def factored(self) -> FactoredValue:
        """The value of states where arms interact, from today on."""
        return relax_factored(self.problem, start=self.state).value

    @cached_property
    def long_run(self) -> FloatArray:
        """The worth of each dose level to every arm, to the horizon, ``(J, L)``."""
        return self.prices.weights(self.state)

    @cached_property
    def next_step(self) -> FloatArray:
        """The expected reward of each dose level in the next step, arm by arm, ``(J, L)``."""
        return self.problem.dose_rewards(self.state)

    def worth(self, action: ActionArray) -> Worth:
        """Say what an action is worth today."""
        level = self.problem.levels(action[None])[0]
        arm = np.arange(len(level))
        soon = float(self.next_step[arm, level].sum())
        if not self.has_prices:
            return Worth(soon, None)
        return Worth(soon, float(self.long_run[arm, level].sum()) + self.prices.offset())

    def plan(
        self, today: Problem, policy: str | None = None, model: QFunction | None = None
    ) -> DayPlan:
        """Plan under today's rules.

        Parameters
        ----------
        today
            The problem with whatever is special today.
        policy
            A name known to `make_policy`; unless given, ``"sequoia"`` with a model, ``"price"``
            without one, and ``"myopic"`` where there are no prices.
        """
        began = time.perf_counter()
        policy = policy or planning_policy(
            today, has_model=model is not None, has_prices=self.has_prices
        )
        acting = self._acting(policy, today, model)
        acting.reset(1)
        made = acting.act(self.state[None], 0, [np.random.default_rng(0)])
        decision, worth = made[0], self.worth(made.actions[0])
        is_long = self.has_prices and policy != Myopic.name
        value = worth.long_run if is_long else worth.next_step
        assert value is not None
        gap = max(0.0, self._most(today, is_long) - value)
        return DayPlan(
            problem=today,
            state=self.state,
            policy=policy,
            decision=decision,
            worth=worth,
            idle=self.worth(np.zeros_like(decision.action)),
            # What prices pay back later counts as well, where the gap is said relative to a value.
            proof=made.proof(
                acting.objective,
                offset=self.prices.offset() if acting.needs_prices and self.has_prices else 0.0,
            ),
            objective="long run" if is_long else "next step",
            gap=gap / abs(value) if value else gap,
            ceiling=self._ceiling(policy),
            seconds=time.perf_counter() - began,
        )

    def best_like(self, plan: DayPlan) -> DayPlan:
        """Return the best plan under the rules of ``plan``, by the objective it is about."""
        by = PricePolicy.name if plan.objective == "long run" else Myopic.name
        return plan if plan.policy == by else self.plan(plan.problem, by)

    def _acting(self, policy: str, today: Problem, model: QFunction | None) -> Policy:
        """Make the policy; prices are those of today's state."""
        if policy_called(policy).needs_prices and self.has_prices:
            return PricePolicy(today, self.prices, seconds=self._seconds)
        if policy == ClusterPricePolicy.name:
            return ClusterPricePolicy(today, self.factored, seconds=self._seconds)
        return make_policy(policy, today, model, self._seconds)

    def _ceiling(self, policy: str) -> float | None:
        """Return the bound on what is still to come, where the policy had it found."""
        if self.has_prices or policy != ClusterPricePolicy.name:
            return None
        return float(self.factored.state_values(self.state[None], 0)[0])

    def why(self, plan: DayPlan, text: str) -> Why:
        """Say what it costs to drop or to include one arm, such as ``"arm:12"``."""
        name, columns = columns_of(self.problem, text)
        is_chosen = bool(set(columns) & set(plan.problem.space.chosen(plan.decision.action)))
        if not columns:
            return Why(name, False, None, reason="no action reaches it.")
        rule = (leaving_out if is_chosen else including)(self.problem, text)
        try:
            by = PricePolicy.name if plan.objective == "long run" else Myopic.name
            other = self.plan(plan.problem.with_rules(rule), by)
        except InfeasibleSpace as error:
            return Why(name, is_chosen, None, reason=str(error))
        return Why(name, is_chosen, plan.worth - other.worth, tuple(other.tasks))

    def _most(self, today: Problem, is_long: bool) -> float:
        """Return what no plan under today's rules exceeds, in the long run or the next step."""
        encoding = ActionEncoding.of_problem(today)
        here = limits_of(today, self.state[None], np.zeros(1, dtype=np.int64))
        encoding = encoding if here is None else encoding.within(here)
        argmax = LinearArgmax(encoding, limits=Limits(seconds=self._seconds))
        table = self.long_run if is_long else self.next_step
        bound = float(argmax.best_doses(table[None]).bounds[0])
        return bound + self.prices.offset() if is_long else bound
