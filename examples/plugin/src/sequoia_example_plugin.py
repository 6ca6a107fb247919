"""A policy and a space that join sequoia by being installed: ``pip install examples/plugin``."""

from collections.abc import Sequence

import numpy as np

from sequoia import Custom, Decision, Problem
from sequoia.policies import LinearPolicy
from sequoia.policies.policy import Options, require_problem
from sequoia.problem.tables import TableSet, table


class Neediest(LinearPolicy):
    """Treats the arms whose state pays least, as many as are allowed."""

    name = "neediest"
    words = "the arms whose state pays least"

    @classmethod
    def make(cls, environment: Problem, options: Options) -> "Neediest":
        """Make it by name, for the command line, too."""
        return cls(require_problem(environment, cls.name), seconds=options.seconds)

    def table(self, state: np.ndarray, step: int, episode: int) -> np.ndarray:
        """Return what each dose is worth to every arm, ``(J, L)``."""
        arms = self._problem.arms
        paid = arms.rewards[arms.model, state]
        return np.where(arms.doses[arms.model] > 0, paid.max() - paid[:, None] + 1.0, 0.0)


class Pairs(Custom):
    """At most so many arms, and those of a pair only together."""

    kind = "pairs"

    def __init__(self, names: Sequence[str], pairs: Sequence[tuple[int, int]], limit: int) -> None:
        together = np.zeros((len(pairs), len(names)))
        for row, (first, second) in enumerate(pairs):
            together[row, [first, second]] = 1, -1
        self.__dict__["pairs"], self.__dict__["limit"] = tuple(pairs), limit
        rows = np.vstack([together, np.ones(len(names))])
        none = np.zeros(len(pairs))
        super().__init__(rows, [*none, 0], [*none, limit], names)

    def to_tables(self) -> TableSet:
        """Return what `from_tables` reads."""
        first, second = np.array(self.pairs).reshape(-1, 2).T
        tables = table("actions", name=self.names) | table("rows", first=first, second=second)
        return TableSet({"limit": self.limit}, tables)

    @classmethod
    def from_tables(cls, content: TableSet) -> "Pairs":
        """Read a space from a problem's file."""
        rows, names = content.table("rows"), content.table("actions").names("name")
        pairs = np.column_stack([rows.integers("first", 0), rows.integers("second", 0)])
        return cls(names, [tuple(pair) for pair in pairs.tolist()], content.option("limit", int))

    def describe(self, decision: Decision) -> list[str]:
        """Say whom a decision treats."""
        return [f"treat {name}" for name in self.chosen(decision.action)] or ["treat nobody"]
