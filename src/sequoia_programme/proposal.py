"""A plan with all that is said about it, as plain data that passes between processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from sequoia.planning.planner import Why, Worth
from sequoia.problem.summary import rules_in_words
from sequoia_programme.drafts import Overrides
from sequoia_programme.plans import StoredPlan
from sequoia_programme.today import Planning, PricedWish


@dataclass(frozen=True)
class Proposal:
    """A plan for some wishes, and what there is to say about it.

    Attributes
    ----------
    gain
        What the plan is worth against doing nothing.
    cost, costs
        What all wishes cost together, and each beside the others.
    gap
        No plan is better by more, relatively, by what the policy looks at.
    objective
        What that is: the ``"long run"`` or the ``"next step"``.
    is_at_limit
        Whether a limit of time or work cut the search off.
    knowledge
        What is known of everybody's state, in words, by name.
    worth
        What the best dose would be worth to everybody, by name.
    away
        Who is absent on that day by the records.
    half_days
        Half of everybody's hours, by the name of the worker, as a wish says it.
    rules
        What is allowed on any day, in words.
    """

    plan: StoredPlan
    gain: Worth
    cost: Worth
    costs: Sequence[PricedWish]
    gap: float
    objective: str
    is_at_limit: bool
    knowledge: dict[str, str]
    worth: dict[str, float]
    away: Sequence[str]
    half_days: dict[str, float]
    rules: Sequence[str]
    transitions: str
    remarks: Sequence[str]

    @property
    def date(self) -> date:
        """The first date of its step."""
        return self.plan.date


def propose(planning: Planning, overrides: Overrides) -> Proposal:
    """Plan a day, and say everything about it."""
    made = planning.plan(overrides)
    situation, planner, found = made.situation, made.planner, made.found
    table = planner.long_run if planner.has_prices else planner.next_step
    best = (table - table[:, :1]).max(axis=1).tolist()
    names, usual = situation.columns.arms, situation.problem.space.base
    return Proposal(
        plan=made.stored,
        gain=found.worth - found.idle,
        cost=planning.cost(overrides),
        costs=planning.costs(overrides),
        gap=found.gap if found.proof is None else found.proof.gap,
        objective=found.objective,
        is_at_limit=found.proof is not None and found.proof.is_at_limit,
        knowledge=dict(zip(names, situation.knowledge, strict=True)),
        worth=dict(zip(names, best, strict=True)),
        away=[*situation.absences.absent, *situation.absences.never],
        half_days={name: usual.half_day(name) for name in usual.worker_names},
        rules=rules_in_words(situation.problem.space),
        transitions=situation.estimates.words,
        remarks=[*situation.remarks, *(f"{one.words}." for one in planning.promises(overrides))],
    )


def explain(planning: Planning, overrides: Overrides, who: str) -> Why:
    """Say what it would cost to drop or to include somebody."""
    return planning.plan(overrides, why=[who]).why[0]
