"""Actions of a programme: whom to give which dose.

With one dose an action is an arm. With several, such as a call and a visit, there is an action for
each arm and dose, of which at most one is taken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from sequoia.problem import Floor, Rules
from sequoia.problem.arms import attainable_doses
from sequoia.validation import FloatArray, IntArray
from sequoia_programme.members import Member


@dataclass(frozen=True, eq=False)
class Columns:
    """The actions of some arms.

    Attributes
    ----------
    arms
        Their names, J of them.
    doses
        What each dose is, by name, ascending.
    """

    arms: Sequence[str]
    doses: Mapping[str, float]

    @cached_property
    def names(self) -> list[str]:
        """The names of the actions, arm by arm."""
        return [name for arm in self.arms for name in self.of(arm)]

    def of(self, arm: str) -> list[str]:
        """Return the actions that reach an arm."""
        if len(self.doses) == 1:
            return [arm]
        return [f"{arm}: {dose}" for dose in self.doses]

    def arm_of(self, action: str) -> int:
        """Return the arm that an action reaches."""
        return self._arm_of[action]

    @cached_property
    def _arm_of(self) -> dict[str, int]:
        return {name: place // len(self.doses) for place, name in enumerate(self.names)}

    @cached_property
    def influence(self) -> csr_array:
        """The dose that each action gives to each arm, ``(J, N)``."""
        values = np.array(list(self.doses.values()))
        size, each = len(self.arms), len(values)
        rows, columns = np.repeat(np.arange(size), each), np.arange(size * each)
        return csr_array((np.tile(values, size), (rows, columns)), shape=(size, size * each))

    @cached_property
    def values(self) -> FloatArray:
        """The doses of the problem: 0, those there are, and what their actions add up to."""
        own = np.array(list(self.doses.values()))
        sums = attainable_doses(own, 2 ** len(own))
        assert sums is not None
        return np.unique(np.concatenate([[0.0], own, sums]))

    @cached_property
    def sources(self) -> IntArray:
        """Which dose stands for each of `values`: for sums, which the rules forbid, the last."""
        known = [0.0, *self.doses.values()]
        near = np.abs(self.values[:, None] - known)
        last = len(known) - 1
        return np.where(near.min(axis=1) < 1e-9, near.argmin(axis=1), last)

    def expand(self, kernels: FloatArray) -> FloatArray:
        """Return transitions by `values` from those by dose, ``(..., L, S, S)``."""
        expanded: FloatArray = np.take(kernels, self.sources, axis=-3)
        return expanded

    @cached_property
    def levels(self) -> IntArray:
        """The place among `values` of no dose and of each dose."""
        known = np.array([0.0, *self.doses.values()])
        levels: IntArray = np.abs(known[:, None] - self.values).argmin(axis=1)
        return levels

    def dose_at(self, level: int) -> str:
        """Return the name of the dose at a level of `values`."""
        return list(self.doses)[int(self.sources[level]) - 1]

    def rows(self, people: Sequence[Member]) -> list[Member]:
        """Return a member for each action; a fact such as ``cost call`` is the call's cost."""
        found = []
        for one in people:
            for action, dose in zip(self.of(one.name), self.doses, strict=True):
                end = f" {dose}"
                own = {k.removesuffix(end): v for k, v in one.facts.items() if k.endswith(end)}
                found.append(replace(one, name=action, facts={**one.facts, **own}))
        return found

    def rules(self, rules: Rules) -> Rules:
        """Return rules about arms as rules about actions."""
        if len(self.doses) == 1:
            return rules
        groups = {name: self._all(group) for name, group in rules.groups.items()}
        floors = list(rules.floors)
        for arm in rules.must:
            groups[f"what reaches {arm}"] = self.of(arm)
            floors.append(Floor(f"what reaches {arm}", count=1))
        return Rules(
            groups,
            floors,
            (),
            self._all(rules.never),
            [self._all(several) for several in rules.at_most_one],
            rules.absent,
        )

    @property
    def exclusive(self) -> Rules:
        """At most one dose for each arm."""
        return Rules(at_most_one=[self.of(arm) for arm in self.arms if len(self.doses) > 1])

    def _all(self, arms: Sequence[str]) -> list[str]:
        return [action for arm in arms for action in self.of(arm)]
