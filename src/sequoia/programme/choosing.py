"""Which policy is best for a problem as it is now: each plays the days to come, in simulation."""

from dataclasses import dataclass, replace

import numpy as np

from sequoia.errors import ProblemError, TooLarge
from sequoia.evaluation import Evaluation, evaluate
from sequoia.policies import QFunction, make_policy
from sequoia.problem import Problem
from sequoia.validation import IntArray

# In the order of preference: of those that are as good as the best, the first is used.
CANDIDATES = ("sequoia", "price", "whittle", "myopic")
# Differences between policies that matter show in a few paired episodes.
_EPISODES = 10
_SECONDS = 1.0


@dataclass(frozen=True)
class Choice:
    """A policy, and why it is the one."""

    policy: str
    reason: str


def choose(problem: Problem, state: IntArray, q: QFunction | None = None) -> Choice:
    """Let the policies that apply play from ``state``, under the same luck, and take the best."""
    here = replace(problem, start=np.eye(problem.arms.n_states)[state])
    names = [name for name in CANDIDATES if _applies(name, here, q)]
    if len(names) == 1:
        return Choice(names[0], f"{names[0]} is the only policy that applies")
    found = evaluate(here, names, _EPISODES, q=q, bound="none", seconds=_SECONDS)
    best = next(name for name in names if name in found.as_good_as_best)
    return Choice(best, _reason(found, best))


def _applies(name: str, problem: Problem, q: QFunction | None) -> bool:
    try:
        make_policy(name, problem, q, _SECONDS)
    except (ProblemError, TooLarge):
        return False
    return True


def _reason(found: Evaluation, best: str) -> str:
    others = [name for name in found.names if name != best]
    compared = ", ".join(_against(found, best, name) for name in others)
    return (
        f"{best} earns {found.mean(best)} per step in {found.n_episodes} simulated runs from "
        f"today; {compared}"
    )


def _against(found: Evaluation, best: str, name: str) -> str:
    behind = found.paired(name, best)
    if behind.includes_zero:
        return f"{name} is as good"
    return f"{name} earns {abs(behind.mean):.2g} less"
