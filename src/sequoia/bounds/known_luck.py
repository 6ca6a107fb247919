"""What one who knows the luck earns at best, in any environment small enough to search."""

import time

import numpy as np
from scipy.special import stdtrit

from sequoia.bounds.certificate import Bound
from sequoia.errors import ProblemError, TooLarge
from sequoia.problem import Environment, limits_of
from sequoia.problem.environment import States
from sequoia.problem.iis import no_decision
from sequoia.simulate import Scenarios
from sequoia.validation import ActionArray, FloatArray, IntArray

# Every one is tried in every state that can be reached, so more would end at the next limit.
_MAX_ACTIONS = 10_000
# Pairs of a state and an action that are tried in one step of a scenario: a second or so.
_MAX_TRIED = 1_000_000


def clairvoyant_search(environment: Environment, *, scenarios: int = 40, seed: int = 0) -> Bound:
    """Estimate a bound by going through all that can happen once the luck is known.

    A step is a function of state, action and luck, so in a scenario the states that can be reached
    are listed forward and the best plan is found backward. Nothing is charged for knowing the luck
    (Brown, Smith & Sun 2010, with no penalty), so the bound can be loose where luck matters.

    Raises
    ------
    TooLarge
        With the number of states and actions that a step would need.
    """
    began = time.perf_counter()
    if scenarios < 2:
        raise ProblemError(f"scenarios is {scenarios}; at least 2 is wanted.")
    actions = environment.space.enumerate(_MAX_ACTIONS)
    if not len(actions):
        raise no_decision(environment.space.compact)
    drawn = Scenarios.sample(environment, scenarios, seed)
    totals = np.array(
        [
            _best_total(environment, actions, start, noise)
            for start, noise in zip(drawn.start, drawn.noise, strict=True)
        ]
    )
    total = float(totals.mean())
    margin = stdtrit(scenarios - 1, 0.975) * totals.std(ddof=1) / np.sqrt(scenarios)
    return Bound(
        total,
        total / environment.horizon,
        "clairvoyant",
        time.perf_counter() - began,
        margin=float(margin),
        detail=f"{scenarios} scenarios, nothing charged for knowing the luck",
    )


def _best_total(
    environment: Environment, actions: ActionArray, start: States, noise: FloatArray
) -> float:
    """Return the largest sum of rewards in one scenario."""
    reached: States = start[None]
    steps: list[tuple[FloatArray, IntArray]] = []
    count = len(actions)
    for step, luck in enumerate(noise):
        tried = len(reached) * count
        if tried > _MAX_TRIED:
            raise TooLarge(
                f"step {step} can begin in {len(reached)} states, and {count} actions are allowed: "
                f"{tried} pairs; a clairvoyant search is for at most {_MAX_TRIED}."
            )
        limits = limits_of(environment, reached, np.full(len(reached), step))
        shape = (len(reached), count)
        allowed = np.ones(shape, np.bool_) if limits is None else limits.allowed(actions)
        state, action = np.nonzero(allowed)
        rewards, place = np.full(shape, -np.inf), np.zeros(shape, dtype=np.int64)
        earned, following = environment.step(
            reached[state], actions[action], np.broadcast_to(luck, (len(state), len(luck)))
        )
        reached, where = np.unique(following, axis=0, return_inverse=True)
        rewards[allowed], place[allowed] = earned, where.reshape(-1)
        steps.append((rewards, place))
    values = np.zeros(len(reached))
    for rewards, place in reversed(steps):
        values = (rewards + values[place]).max(axis=1)
    return float(values[0])
