"""Where learning starts from: prices or, where arms interact, a factored value function."""

from dataclasses import dataclass, replace

from sequoia.bounds.certificate import Bound
from sequoia.bounds.lagrangian.relax import relax, why_no_prices
from sequoia.errors import ConfigError, TooLarge
from sequoia.learn.policy_iteration_config import StartSettings
from sequoia.learn.q_learning_config import QLearningConfig
from sequoia.models.factored_part import FactoredPart
from sequoia.models.price_part import PricePart
from sequoia.problem import Environment, Problem

# Prices within a thousandth of the best act as well; the last digits cost most of the time.
_GAP = 1e-3
# Arms times rounds of prices between clusters: some ten seconds. Prices of fewer rounds than the
# least say little.
_WORK, _FEWEST, _MOST = 20_000, 60, 200


@dataclass(frozen=True, eq=False)
class Priced:
    """A price part, and the bound that its prices prove."""

    part: PricePart
    bound: Bound


def priced(environment: Environment, config: QLearningConfig) -> Priced | None:
    """Return prices, if they are wanted and the arms are decoupled.

    With a time feature they are prices of every step of an episode; without one, stationary prices.
    """
    own, problem = config.network, _with_prices(environment)
    if own.prices == "none" or problem is None:
        return None
    if own.time_feature and config.gamma not in (None, 1.0):
        raise ConfigError("train.gamma must be 1 with a time feature and prices: all steps count.")
    found = relax(
        replace(problem, discount=config.gamma or problem.discount),
        own.prices,
        horizon=None if own.time_feature else 0,
        discounted=not own.time_feature,
        rounds=own.price_rounds,
        gap=_GAP,
        seconds=own.price_seconds,
    )
    return Priced(PricePart.of(found.prices, environment.horizon), found.bound)


def has_prices(environment: Environment) -> bool:
    """Say whether prices can be found for ``environment``."""
    return _with_prices(environment) is not None


def loosened(environment: Environment) -> Environment:
    """Return the environment under the simple rules of its space alone, where it is a problem."""
    if not isinstance(environment, Problem):
        return environment
    return replace(environment, space=environment.space.loose)


def _with_prices(environment: Environment) -> Problem | None:
    """Return the environment as a problem that has prices, if it is one."""
    if isinstance(environment, Problem) and why_no_prices(environment) is None:
        return environment
    return None


def factored_start(
    environment: Environment, settings: StartSettings
) -> tuple[FactoredPart | None, float | None]:
    """Return what a factored value function knows, and the bound per step that it proves.

    Nothing for an environment without arms, or with too many.
    """
    if not isinstance(environment, Problem):
        return None, None
    rounds = settings.price_rounds
    if rounds is None:
        rounds = min(_WORK // environment.arms.n_arms, _MOST)
        rounds = rounds if rounds >= _FEWEST else 0
    if not rounds:
        return None, None
    try:
        return FactoredPart.of(environment, settings.table, rounds)
    except TooLarge:
        return None, None
