"""The optional abilities of an environment, and the function that says which of them it has.

In the room of problems, because a problem of arms is an ability too. No other module probes an
environment: it asks `capabilities_of`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.action_limits import ActionLimits
from sequoia.problem.dependencies import Dependencies
from sequoia.problem.environment import Environment, States
from sequoia.problem.problem import Problem
from sequoia.problem.spaces import ActionSpace
from sequoia.problem.spaces.restricted import restrict
from sequoia.validation import ActionArray, FloatArray, IntArray


class LimitsActions(Environment, Protocol):
    """Allows some actions in some states only."""

    def action_limits(self, states: States, steps: IntArray) -> ActionLimits | None:
        """Return what is allowed in each state; ``None`` where that is every action."""
        ...


class KnowsDependencies(Environment, Protocol):
    """Says which components of a state depend on which components and columns."""

    @property
    def dependencies(self) -> Dependencies:
        """The components and columns that each component depends on."""
        ...


class SharesRewards(Environment, Protocol):
    """Splits a reward into the parts that components earn."""

    def component_rewards(self, states: States, actions: ActionArray) -> FloatArray:
        """Return the reward of each component, ``(B, D)``."""
        ...


class ExpectsRewards(Environment, Protocol):
    """Knows the expected reward of a step."""

    def expected_reward(self, states: States, actions: ActionArray) -> FloatArray:
        """Return the expected reward of each pair of a state and an action, ``(B,)``."""
        ...


class TabulatesRewards(ExpectsRewards, Protocol):
    """Knows the expected rewards of many actions at once."""

    def reward_table(self, states: States, actions: ActionArray) -> FloatArray:
        """Return the expected reward of every action in every state, ``(B, A)``."""
        ...


class KnowsChances(ExpectsRewards, Protocol):
    """Knows the chances of next states; components move independently, given state and action.

    Axes: B batch, D components of a state, K values of a component.
    """

    @property
    def component_sizes(self) -> IntArray:
        """The number of values of each component, from 0 on, ``(D,)``."""
        ...

    @property
    def start(self) -> FloatArray:
        """The chance of each first value, ``(D, K)``."""
        ...

    def next_shares(self, states: States, actions: ActionArray) -> FloatArray:
        """Return the chance of each next value of each component, ``(B, D, K)``."""
        ...


class RanksComponents(Environment, Protocol):
    """Says how much it helps that a component leaves its first value."""

    @property
    def relevance(self) -> FloatArray:
        """The weight of each component, ``(D,)``."""
        ...


class MeasuresProgress(KnowsDependencies, Protocol):
    """Says how far acting on a component brings the goals of the reward."""

    def progress(self, states: States) -> FloatArray:
        """Return the progress of acting on each component, ``(B, D)``."""
        ...


class MakesPlans(Environment, Protocol):
    """Finds plans that lead to rewards, as if nothing went wrong on the way."""

    def relaxed_plans(self, state: States, left: int) -> Sequence[tuple[float, IntArray]]:
        """Return the worth of plans, the best first, and their columns that are possible now."""
        ...


class NamesComponents(Environment, Protocol):
    """Names the components of a state."""

    @property
    def component_names(self) -> Sequence[str]:
        """A name for each component, ``D`` of them."""
        ...


class ReadsValues(NamesComponents, Protocol):
    """Reads values of components that are written in its own words."""

    def read_value(self, name: str, text: str) -> float:
        """Return the number that a text stands for; `ValueError` where it stands for none."""
        ...


Ability = TypeVar("Ability", bound=Environment)


class _Offer(Generic[Ability]):
    """One ability of `Capabilities`: the environment with its type, or ``None``.

    Parameters
    ----------
    members
        Attributes that an environment with this ability has; one that is ``None`` is missing.
    adds
        What the ability adds, in one line.
    """

    def __init__(self, *members: str, adds: str) -> None:
        self.members, self.adds = members, adds

    def __get__(self, capabilities: "Capabilities", _: Any) -> Ability | None:
        environment = capabilities.environment
        if any(getattr(environment, member, None) is None for member in self.members):
            return None
        return cast(Ability, environment)


class _ProblemOffer(_Offer[Problem]):
    """The ability to be a problem of arms, which is a class and no set of attributes."""

    def __get__(self, capabilities: "Capabilities", _: Any) -> Problem | None:
        environment = capabilities.environment
        return environment if isinstance(environment, Problem) else None


class Capability(NamedTuple):
    """One line of the table of ``sequoia check``."""

    name: str
    is_offered: bool
    adds: str


@dataclass(frozen=True)
class Capabilities:
    """The optional abilities of an environment; each is ``None`` where it is missing.

    An ability is asked for at its use: some cost time to find out.
    """

    environment: Environment

    problem = _ProblemOffer(adds="prices, Whittle indices, bounds, pictures, wishes")
    limits = _Offer[LimitsActions]("action_limits", adds="fewer actions in some states")
    dependencies = _Offer[KnowsDependencies](
        "dependencies", adds="one network for all columns, with nothing to discover"
    )
    reward_shares = _Offer[SharesRewards](
        "component_rewards", adds="thousands of components learned at once"
    )
    rewards = _Offer[ExpectsRewards]("expected_reward", adds="the policy myopic")
    reward_table = _Offer[TabulatesRewards](
        "expected_reward", "reward_table", adds="learning that starts from myopic"
    )
    chances = _Offer[KnowsChances]("next_shares", adds="the exact optimum")
    relevance = _Offer[RanksComponents]("relevance", adds="learning that favours what matters")
    progress = _Offer[MeasuresProgress](
        "dependencies", "progress", adds="learning that starts from progress to goals"
    )
    plans = _Offer[MakesPlans]("relaxed_plans", adds="lookahead by plans to far rewards")
    names = _Offer[NamesComponents]("component_names", adds="names in sheets of states")
    values = _Offer[ReadsValues](
        "component_names", "read_value", adds="words for values in sheets of states"
    )

    def table(self) -> list[Capability]:
        """Return every ability, whether it is offered, and what it adds."""
        offers = {name: it for name, it in vars(Capabilities).items() if isinstance(it, _Offer)}
        return [
            Capability(
                offer.members[-1] if offer.members else "a problem of arms",
                getattr(self, name) is not None,
                offer.adds,
            )
            for name, offer in offers.items()
        ]


def capabilities_of(environment: Environment) -> Capabilities:
    """Return the optional abilities of an environment."""
    return Capabilities(environment)


def component_names(environment: Environment) -> Sequence[str]:
    """Return the names of the components of a state, ``D`` of them; numbers where it has none."""
    naming = capabilities_of(environment).names
    if naming is not None:
        return naming.component_names
    return [str(i) for i in range(environment.draw_start(np.random.default_rng(0), 1).shape[1])]


def limits_of(environment: Environment, states: States, steps: IntArray) -> ActionLimits | None:
    """Return what is allowed in each state, on top of the rules of the space.

    ``None`` where every state allows the same.

    Parameters
    ----------
    states
        ``(B, D)``.
    steps
        Steps since the beginning of the episode, ``(B,)``.

    Raises
    ------
    ProblemError
        When the limits are of another size.
    """
    limiting = capabilities_of(environment).limits
    limits = None if limiting is None else limiting.action_limits(states, steps)
    if limits is None:
        return None
    wanted = (len(states), environment.space.n_actions)
    if not isinstance(limits, ActionLimits) or limits.lower.shape != wanted:
        what = limits.lower.shape if isinstance(limits, ActionLimits) else type(limits).__name__
        raise ProblemError(
            f"action_limits of {environment.name} are {what}; ActionLimits {wanted} are wanted."
        )
    return limits


def dependencies_of(environment: Environment) -> Dependencies | None:
    """Return who depends on whom; ``None`` where an environment does not say.

    Raises
    ------
    ProblemError
        When it is of another size than states and actions.
    """
    knowing = capabilities_of(environment).dependencies
    if knowing is None:
        return None
    depends = knowing.dependencies
    size = environment.draw_start(np.random.default_rng(0), 1).shape[1]
    wanted = (size, environment.space.n_actions)
    if depends.columns.shape != wanted:
        raise ProblemError(
            f"the dependencies of {environment.name} are of {depends.columns.shape[0]} components "
            f"and {depends.columns.shape[1]} columns; it has {wanted[0]} and {wanted[1]}."
        )
    return depends


def space_at(environment: Environment, state: States, step: int) -> ActionSpace:
    """Return the actions that are allowed in one state, ``(D,)``, as a space."""
    limits = limits_of(environment, state[None], np.array([step]))
    return environment.space if limits is None else restrict(environment.space, limits)


def sample_actions(
    environment: Environment, states: States, steps: IntArray, rng: np.random.Generator
) -> ActionArray:
    """Draw a random feasible action for each state, ``(B, N)``."""
    limits = limits_of(environment, states, steps)
    space = environment.space
    drawn = [
        (space if limits is None else restrict(space, limits.only([row]))).sample(rng).action
        for row in range(len(states))
    ]
    return np.array(drawn, dtype=np.int8).reshape(len(states), space.n_actions)
