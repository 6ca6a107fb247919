"""Where learning starts: what is known in closed form, each with its base policy."""

from dataclasses import dataclass

import numpy as np

from sequoia.bounds.lagrangian.relax import relax, why_no_prices
from sequoia.errors import TooLarge
from sequoia.models.factored_part import FactoredPart
from sequoia.models.known import Known, factored, known_parts, priced
from sequoia.models.price_part import PricePart
from sequoia.optimize.dose_groups import DoseGroup
from sequoia.optimize.encoding import ActionEncoding, few_actions
from sequoia.optimize.linear.dose_tables import DoseTableArgmax
from sequoia.problem import Environment, Problem, capabilities_of, limits_of

# Prices within a thousandth of the best act as well; the last digits cost most of the time. On 100
# stations of a route, 20 rounds leave 0.6 %; a clock is the last resort.
_GAP, _ROUNDS, _SECONDS = 1e-3, 20, 1_800.0
# Arms times rounds of prices between clusters: some ten seconds. Fewer rounds than the least say
# little.
_WORK, _FEWEST, _MOST = 20_000, 60, 200
# Actions that are listed in little time, and weights of joint units: 80 MB.
_MOST_LISTED, _MOST_WEIGHTS = 3_000, 10_000_000


@dataclass(frozen=True, eq=False)
class Bases:
    """What is known, and what it proves.

    Attributes
    ----------
    known
        Each is a base policy, and may have learned scores added.
    together
        The same as the last of them with what doses are worth together; ``None`` where nothing is
        known of that, or where decisions would take long.
    bound
        No policy earns more per step; ``None`` where none is known. ``bound_stopped_by`` says what
        ended the search for it.
    prices, part
        What the last of ``known`` is made from: tables that a model keeps.
    """

    known: list[Known]
    together: Known | None = None
    bound: float | None = None
    bound_stopped_by: str | None = None
    prices: PricePart | None = None
    part: FactoredPart | None = None


def find_bases(environment: Environment, encoding: ActionEncoding, is_timeless: bool) -> Bases:
    """Ask everything that is known in closed form; prices take seconds."""
    found = known_parts(environment, encoding)
    problem = capabilities_of(environment).problem
    if problem is None:
        return Bases(found)
    if why_no_prices(problem) is None:
        relaxed = relax(
            problem,
            "hull",
            horizon=0 if is_timeless else None,
            discounted=is_timeless,
            rounds=_ROUNDS,
            gap=_GAP,
            seconds=_SECONDS,
        )
        prices = PricePart.of(relaxed.prices, problem.horizon)
        known = [*found, priced(encoding, prices)]
        # A discounted sum over all time is no bound of a mean per step.
        bound = None if is_timeless else relaxed.bound.per_step
        return Bases(known, None, bound, relaxed.bound.stopped_by, prices=prices)
    rounds = min(_WORK // problem.arms.n_arms, _MOST)
    if rounds < _FEWEST:
        return Bases(found)
    try:
        part, bound = FactoredPart.of(problem, None, rounds)
    except TooLarge:
        return Bases(found)
    known = [*found, factored(problem, encoding, part, False)]
    together = None
    if _is_quick(problem, encoding, part):
        together = factored(problem, encoding, part, True)
    return Bases(known, together, bound, part=part)


def _is_quick(problem: Problem, encoding: ActionEncoding, part: FactoredPart) -> bool:
    """Whether decisions by what doses are worth together take milliseconds."""
    if few_actions(problem.space, _MOST_LISTED) is not None:
        return True
    groups = [DoseGroup(own.arms, own.doses) for own in part.tables]
    if sum(len(group.doses) for group in groups) * encoding.n_inputs > _MOST_WEIGHTS:
        return False
    start = problem.draw_start(np.random.default_rng(0), 1)
    is_free = limits_of(problem, start, np.zeros(1, dtype=np.int64)) is None
    argmax = DoseTableArgmax(encoding, groups)
    return is_free and argmax.is_batched and argmax.takes_inputs
