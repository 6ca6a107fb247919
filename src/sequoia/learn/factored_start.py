"""Where learning starts from where arms interact: a factored value function, where it is cheap."""

from sequoia.errors import TooLarge
from sequoia.learn.policy_iteration_config import StartSettings
from sequoia.models.factored_part import FactoredPart
from sequoia.problem import Environment, Problem

# Arms times rounds of prices between clusters: some ten seconds. Prices of fewer rounds than the
# least say little.
_WORK, _FEWEST, _MOST = 20_000, 60, 200


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
