"""Where learning starts from: prices, for problems that have them."""

from dataclasses import dataclass, replace

from sequoia.bounds.certificate import Bound
from sequoia.bounds.lagrangian.relax import relax, why_no_prices
from sequoia.errors import ConfigError
from sequoia.learn.config import TrainConfig
from sequoia.models.price_part import PricePart
from sequoia.problem import Environment, Problem

_GAP = 1e-3


@dataclass(frozen=True, eq=False)
class Priced:
    """A price part, and the bound that its prices prove."""

    part: PricePart
    bound: Bound


def priced(environment: Environment, config: TrainConfig) -> Priced | None:
    """Return prices, if they are wanted and the arms evolve on their own.

    With a clock they are prices of every step of an episode; without one, stationary prices.
    """
    problem = _with_prices(environment)
    if config.prices == "none" or problem is None:
        return None
    if config.clock and config.discount not in (None, 1.0):
        raise ConfigError("train.discount must be 1 with a clock and prices: all steps count.")
    found = relax(
        replace(problem, discount=config.discount or problem.discount),
        config.prices,
        horizon=None if config.clock else 0,
        discounted=not config.clock,
        seconds=config.price_seconds,
        gap=_GAP,
    )
    return Priced(PricePart.of(found.prices, environment.horizon), found.bound)


def usual_preset(environment: Environment) -> str:
    """Return the name of the preset that suits ``environment``."""
    return "scratch" if _with_prices(environment) is None else "default"


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
