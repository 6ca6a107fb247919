"""Every policy by name; packages add theirs by entry points of ``sequoia.policies``."""

from sequoia.defaults import DECISION_SECONDS, ROLLOUTS
from sequoia.errors import ProblemError, TooLarge
from sequoia.models.model import QFunction
from sequoia.plugins import Parts
from sequoia.policies.greedy import IterativeMyopic
from sequoia.policies.idle import Idle
from sequoia.policies.learned import IterativeDqn, Sequoia
from sequoia.policies.lookahead import Lookahead
from sequoia.policies.myopic import Myopic
from sequoia.policies.optimal import Optimal
from sequoia.policies.policy import Options, Policy
from sequoia.policies.price import PricePolicy
from sequoia.policies.price_update import PriceUpdatePolicy
from sequoia.policies.random import Random
from sequoia.policies.robust import RobustPolicy
from sequoia.policies.sampling import Sampling
from sequoia.policies.whittle import WhittlePolicy
from sequoia.problem import Environment
from sequoia.problem.names import closest

_LIBRARY: tuple[type[Policy], ...] = (
    Idle,
    Random,
    Sampling,
    IterativeMyopic,
    Myopic,
    IterativeDqn,
    Sequoia,
    PricePolicy,
    PriceUpdatePolicy,
    RobustPolicy,
    WhittlePolicy,
    Lookahead,
    Optimal,
)
POLICIES = Parts("sequoia.policies", {policy.name: policy for policy in _LIBRARY})


def policy_called(name: str) -> type[Policy]:
    """Return the policy called ``name``, or say which names there are."""
    if name not in POLICIES:
        raise ProblemError(
            f"there is no policy {name!r}; known: "
            f"{', '.join(POLICIES)}{closest(name, list(POLICIES))}."
        )
    return POLICIES[name]


def make_policy(
    name: str,
    environment: Environment,
    model: QFunction | None = None,
    seconds: float = DECISION_SECONDS,
    rollouts: int = ROLLOUTS,
) -> Policy:
    """Make a policy.

    Parameters
    ----------
    model
        A trained model, for those that need one.
    seconds
        Longest time for one decision, where a solver is used.
    rollouts
        How many rollouts one decision may take, where it takes any.

    Raises
    ------
    SequoiaError
        One line: the name is unknown, a model is missing, or the policy does not apply.
    """
    policy = policy_called(name)
    if policy.needs_model and model is None:
        raise ProblemError(f"{name} needs a trained model, and none is given.")
    try:
        return policy.make(environment, Options(model, seconds, rollouts))
    except (ProblemError, TooLarge) as error:
        # Whoever names several policies wants to know which of them it was.
        reason = str(error).removeprefix(f"{name} ")
        raise type(error)(f"{name}: {reason}") from None
