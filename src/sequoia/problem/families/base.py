"""The base model of the paper: arms that climb a ladder of states (appendix B)."""

from typing import Annotated

import numpy as np

from sequoia.errors import ProblemError
from sequoia.problem.arms import Arms
from sequoia.sizes import require_memory
from sequoia.validation import BoolArray, FloatArray

# The knobs that families share, each with the words the command shows for it.
NumberOfArms = Annotated[int, "number of arms"]
Workers = Annotated[int | None, "number of workers; a quarter of the arms, a fifth from 100 on"]
BudgetKnob = Annotated[int | None, "budget; a quarter of the arms, a fifth from 100 on"]
States = Annotated[int, "number of states of an arm"]
LongRun = Annotated[
    int | None, "number of arms that only pay in the long run; as many as the budget"
]
StartShare = Annotated[float, "probability that an arm starts in state 1 rather than 0"]
Horizon = Annotated[int, "steps of an episode"]
Discount = Annotated[float, "weight of the next step against this one"]
Seed = Annotated[int, "random seed"]


_MOST = 10**12


def at_least(name: str, value: float, least: float) -> None:
    """Raise a `ProblemError` unless ``value`` is at least ``least``, and not beyond all reason."""
    if not least <= value < np.inf:
        raise ProblemError(f"{name} is {value}; at least {least} is wanted.")
    if value > _MOST:
        raise ProblemError(f"{name} is {value}; at most {_MOST} is wanted.")


def chances(**values: float) -> None:
    """Raise a `ProblemError` unless all values are probabilities."""
    for name, value in values.items():
        if not 0 <= value <= 1:
            raise ProblemError(f"{name} is {value}; 0 to 1 is wanted.")


def one_of(name: str, value: str, known: tuple[str, ...]) -> None:
    """Raise a `ProblemError` unless ``value`` is known."""
    if value not in known:
        raise ProblemError(f"{name} is {value!r}; known: {', '.join(known)}.")


def budget_for(arms: int, budget: int | None, name: str = "budget") -> int:
    """Return the paper's budget for so many arms (20/5, 40/10, 100/20), unless one is given."""
    if budget is None:
        return max(1, arms // 4 if arms < 100 else arms // 5)
    at_least(name, budget, 0)
    return budget


def ladder_rewards(
    arms: int, states: int, long_run: int | None, budget: int, rng: np.random.Generator
) -> FloatArray:
    """Return the rewards of every arm, ``(J, S)``.

    Long-run arms look bad at first (0.2, 0.15, 0.1) and pay 4, 5 or 6 at the top; the others look
    good at first (0.1, 0.15, 0.2) and pay 1, 2 or 3. Long-run arms are at random positions.
    """
    at_least("arms", arms, 1)
    at_least("states", states, 2)
    # Moves by two doses, from and to every state.
    require_memory(f"{arms} arms with {states} states", 2.0 * arms * states**2)
    count = min(arms, budget) if long_run is None else long_run
    if not 0 <= count <= arms:
        raise ProblemError(f"long_run is {count}; 0 to {arms} is wanted.")
    is_long = np.zeros(arms, dtype=np.bool_)
    is_long[rng.choice(arms, count, replace=False)] = True
    rising = np.linspace(0.1, 0.2, states - 1).round(12)
    rewards = np.empty((arms, states))
    rewards[:, :-1] = np.where(is_long[:, None], rising[::-1], rising)
    rewards[:, -1] = np.where(is_long, rng.integers(4, 7, arms), rng.integers(1, 4, arms))
    return rewards


def ladder_arms(
    arms: int,
    states: int,
    long_run: int | None,
    budget: int,
    rng: np.random.Generator,
    names: list[str] | None = None,
) -> Arms:
    """Return arms that move up with probability U[0, 0.2], or U[0.7, 0.9] when acted on."""
    rewards = ladder_rewards(arms, states, long_run, budget, rng)
    idle, acted = rng.uniform(0.0, 0.2, arms), rng.uniform(0.7, 0.9, arms)
    return Arms.ladder(rewards, np.stack([idle, acted], axis=1), names=names)


def bernoulli_start(arms: int, states: int, share: float) -> FloatArray:
    """Return a start in state 1 with probability ``share``, else in state 0, ``(J, S)``."""
    chances(start_share=share)
    start = np.zeros((arms, states))
    start[:, 0], start[:, 1] = 1 - share, share
    return start


def require_slots(
    slots: int, arms: int, workers: int, slots_per_arm: int, slots_per_worker: int
) -> None:
    """Raise an error unless so many slots can be made, and arms and workers can have theirs."""
    at_least("slots", slots, 1)
    size = slots * (arms + workers) / 8
    require_memory(f"{slots} slots of {arms} arms and {workers} workers", size)
    for name, value in (("slots_per_arm", slots_per_arm), ("slots_per_worker", slots_per_worker)):
        if not 0 <= value <= slots:
            raise ProblemError(f"{name} is {value}; 0 to {slots} is wanted.")


def open_slots(
    people: int,
    count: int,
    slots: int,
    rng: np.random.Generator,
    weights: FloatArray | None = None,
) -> BoolArray:
    """Return ``count`` random slots for each of some people, ``(people, slots)``.

    ``weights``, ``(slots,)``, say how popular each slot is; all are alike unless given.
    """
    result = np.zeros((people, slots), dtype=np.bool_)
    chances = None if weights is None else weights / weights.sum()
    for row in result:
        row[rng.choice(slots, count, replace=False, p=chances)] = True
    return result
