"""The days to come, played from how a programme stands, by several policies under the same luck."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from sequoia.defaults import FEW_EPISODES, PLAYED_SECONDS
from sequoia.evaluation.intervals import Estimate, estimate
from sequoia.policies import make_policy
from sequoia.simulate import Scenarios, rollout
from sequoia.simulate.rollout import Trajectory
from sequoia.validation import FloatArray, IntArray
from sequoia_programme.situation import Situation

# Policies that are compared: the plan's own, the one that looks a step ahead, and none.
PLAN, MYOPIC, RANDOM = "price", "myopic", "random"
POLICIES = (PLAN, MYOPIC, RANDOM)


@dataclass(frozen=True, eq=False)
class PlayedDays:
    """What happened to each arm, by policy.

    Attributes
    ----------
    rewards
        Expected reward of the next state, by policy, ``(E, H, J)``.
    doses
        The level of the dose, by policy, ``(E, H, J)``.
    """

    situation: Situation
    rewards: Mapping[str, FloatArray]
    doses: Mapping[str, IntArray]

    def mean(self, policy: str, arms: Sequence[int] | None = None) -> Estimate:
        """Return what a step is worth, of all arms or some, with its 95 % interval."""
        own = self.rewards[policy] if arms is None else self.rewards[policy][:, :, list(arms)]
        return estimate(own.sum(axis=2).mean(axis=1))

    def next_visits(self) -> dict[str, date | None]:
        """Return the date by which at least half of the runs of the plan visit each arm.

        ``None`` where that is not before the horizon.
        """
        calendar = self.situation.programme.calendar
        now = calendar.step_of(self.situation.day)
        is_visited = np.maximum.accumulate(self.doses[PLAN] > 0, axis=1)
        half = is_visited.mean(axis=0) >= 0.5
        return {
            arm.name: calendar.date_of(now + int(due.argmax())) if due.any() else None
            for arm, due in zip(self.situation.arms, half.T, strict=True)
        }


def play_days(situation: Situation, progress: Callable[[float], None]) -> PlayedDays:
    """Play every policy through the same episodes; ``progress`` is told the share that is done."""
    problem = situation.problem
    here = replace(problem, start=np.eye(problem.arms.n_states)[situation.state])
    scenarios = Scenarios.sample(here, FEW_EPISODES, 0)
    rewards, doses = {}, {}
    for number, name in enumerate(POLICIES):
        progress(number / len(POLICIES))
        played = rollout(here, make_policy(name, here, None, PLAYED_SECONDS), scenarios)
        doses[name] = here.levels(played.actions)
        rewards[name] = _by_arm(situation, played, doses[name])
    return PlayedDays(situation, rewards, doses)


def _by_arm(situation: Situation, played: Trajectory, doses: IntArray) -> FloatArray:
    """Return what each arm is expected to earn in each step, ``(E, H, J)``."""
    arms = situation.problem.arms
    rewards: FloatArray = arms.next_rewards[arms.model, doses, played.states[:, :-1]]
    return rewards
