"""Costs of wishes, and the gain of overtime: other plans, made and compared."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from sequoia.errors import InfeasibleSpace, ProblemError
from sequoia.planning.overrides import Offer, Wish, together
from sequoia.planning.planner import DayPlan, Planner, Worth
from sequoia.policies import QFunction
from sequoia.problem import Problem, Rules

# Every choice of offers is planned: 32 plans.
_MOST_OFFERS = 5


@dataclass(frozen=True)
class WishCost:
    """The cost of one wish.

    Attributes
    ----------
    cost
        What the best plan would be worth more without this wish, the others kept; ``None`` where
        there would be no plan.
    reason
        Why there would be none.
    """

    wish: Wish
    cost: Worth | None
    reason: str = ""


@dataclass(frozen=True)
class OfferedOvertime:
    """Overtime that was offered.

    Attributes
    ----------
    gain
        What the plan is worth more with it than without, the other overtime as it is taken.
    is_taken
        Whether that is more than it costs.
    """

    offer: Offer
    gain: Worth
    is_taken: bool


def wish_costs(
    planner: Planner,
    base: Problem,
    plan: DayPlan,
    wishes: Sequence[Wish],
    overtime: Sequence[Offer] = (),
) -> list[WishCost]:
    """Return what each of ``wishes``, under which ``plan`` was made, costs.

    The best plans with and without it are compared: for the long run, as prices see it, or for
    the next step, whichever ``plan`` is about. So a cost is never negative, up to what is proven.

    Parameters
    ----------
    base
        The problem without any of the wishes.
    overtime
        What is worked, with or without them.
    """
    if not wishes:
        return []
    best = planner.best_like(plan)
    costs = []
    for wish in wishes:
        others = together(other for other in wishes if other is not wish)
        try:
            without = planner.plan(base.with_rules(_longer(base, others, overtime)), best.policy)
        except InfeasibleSpace as error:
            costs.append(WishCost(wish, None, str(error)))
            continue
        costs.append(WishCost(wish, without.worth - best.worth))
    return costs


def plan_with_overtime(
    planner: Planner,
    base: Problem,
    rules: Rules,
    offers: Sequence[Offer],
    policy: str | None = None,
    q: QFunction | None = None,
) -> tuple[DayPlan, list[OfferedOvertime]]:
    """Return the plan that is worth most after what its overtime costs, and the overtime.

    Every choice of offers is planned, each wholly taken or left.

    Parameters
    ----------
    base, rules
        The problem, and today's rules on it.
    """
    if len(offers) > _MOST_OFFERS:
        raise ProblemError(
            f"overtime is offered {len(offers)} times; at most {_MOST_OFFERS} are wanted."
        )
    plans: dict[tuple[bool, ...], DayPlan] = {}
    for taken in product((False, True), repeat=len(offers)):
        worked = [offer for offer, is_taken in zip(offers, taken, strict=True) if is_taken]
        plans[taken] = planner.plan(base.with_rules(_longer(base, rules, worked)), policy, q)
    costs = {
        taken: sum(offer.cost for offer, is_taken in zip(offers, taken, strict=True) if is_taken)
        for taken in plans
    }
    best = max(plans, key=lambda taken: plans[taken].value - costs[taken])
    offered = []
    for place, offer in enumerate(offers):
        with_it, without = (
            plans[(*best[:place], is_taken, *best[place + 1 :])] for is_taken in (True, False)
        )
        offered.append(OfferedOvertime(offer, with_it.worth - without.worth, best[place]))
    return plans[best], offered


def _longer(base: Problem, rules: Rules, offers: Sequence[Offer]) -> Rules:
    """Return rules with overtime added to what workers have today."""
    before = base.space.rules.and_also(rules)
    hours = dict(before.hours)
    for offer in offers:
        if offer.worker in before.absent:
            raise ProblemError(f"{offer.worker} is off, and cannot work overtime.")
        usual = base.space.base.usual_hours(offer.worker)
        hours[offer.worker] = hours.get(offer.worker, usual) + offer.hours
    return replace(rules, hours=hours)
