"""Every policy by name."""

from collections.abc import Callable
from dataclasses import dataclass

from sequoia.errors import ProblemError, TooLarge
from sequoia.models.q_function import QFunction
from sequoia.policies.greedy import iterative_myopic
from sequoia.policies.idle import Idle
from sequoia.policies.learned import Sequoia, iterative_dqn
from sequoia.policies.myopic import Myopic
from sequoia.policies.optimal import Optimal
from sequoia.policies.policy import Policy
from sequoia.policies.price import PricePolicy
from sequoia.policies.price_update import PriceUpdatePolicy
from sequoia.policies.random import Random
from sequoia.policies.sampling import Sampling
from sequoia.policies.whittle import WhittlePolicy
from sequoia.problem import Problem

SECONDS = 10.0
_UPDATE_EVERY = 5


@dataclass(frozen=True)
class Recipe:
    """How a policy is made.

    Attributes
    ----------
    words
        What it does, in one line.
    make
        From a problem and the longest time for one decision; `learned` instead where a trained
        model is needed.
    remembers
        Whether earlier decisions may tip the scales between actions that are equally good; an
        evaluation then makes the policy anew for every block of episodes.
    """

    words: str
    make: Callable[[Problem, float], Policy] | None = None
    learned: Callable[[Problem, QFunction, float], Policy] | None = None
    remembers: bool = False

    @property
    def needs_model(self) -> bool:
        """Whether a trained model is needed."""
        return self.learned is not None


POLICIES: dict[str, Recipe] = {
    "idle": Recipe("do nothing", lambda problem, _: Idle(problem)),
    "random": Recipe("a random feasible decision", lambda problem, _: Random(problem)),
    "sampling": Recipe(
        "the best of 100 random decisions for the next step",
        lambda problem, _: Sampling(problem),
    ),
    "iterative-myopic": Recipe(
        "built up one component at a time for the next step",
        lambda problem, _: iterative_myopic(problem),
    ),
    "myopic": Recipe(
        "the best decision for the next step",
        lambda problem, seconds: Myopic(problem, seconds=seconds),
    ),
    "iterative-dqn": Recipe(
        "built up one component at a time by a learned value",
        learned=lambda problem, q, _: iterative_dqn(problem, q),
    ),
    "sequoia": Recipe(
        "the best decision by a learned value",
        learned=lambda problem, q, seconds: Sequoia(problem, q, seconds=seconds),
        remembers=True,
    ),
    "price": Recipe(
        "the best decision at prices found once",
        lambda problem, seconds: PricePolicy(problem, seconds=seconds),
    ),
    "price-update": Recipe(
        "the best decision at prices found anew every five steps",
        lambda problem, seconds: PriceUpdatePolicy(problem, _UPDATE_EVERY, seconds=seconds),
    ),
    "whittle": Recipe(
        "the largest Whittle indices; for standard bandits",
        lambda problem, _: WhittlePolicy(problem),
    ),
    "exact": Recipe(
        "the optimum by dynamic programming; for tiny problems",
        lambda problem, _: Optimal(problem),
    ),
}


def recipe(name: str) -> Recipe:
    """Return the recipe called ``name``, or say which names there are."""
    if name not in POLICIES:
        raise ProblemError(f"there is no policy {name!r}; known: {', '.join(POLICIES)}.")
    return POLICIES[name]


def make_policy(
    name: str, problem: Problem, q: QFunction | None = None, seconds: float = SECONDS
) -> Policy:
    """Make a policy.

    Parameters
    ----------
    q
        A trained model, for those that need one.
    seconds
        Longest time for one decision, where a solver is used.

    Raises
    ------
    SequoiaError
        One line: the name is unknown, a model is missing, or the policy does not apply.
    """
    found = recipe(name)
    if found.learned is not None:
        if q is None:
            raise ProblemError(f"{name} needs a trained model, and none is given.")
        return found.learned(problem, q, seconds)
    assert found.make is not None
    try:
        return found.make(problem, seconds)
    except (ProblemError, TooLarge) as error:
        # Whoever names several policies wants to know which of them it was.
        reason = str(error).removeprefix(f"{name} ")
        raise type(error)(f"{name}: {reason}") from None
