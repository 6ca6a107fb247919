"""Sums over groups of arms of what their doses are worth together."""

from collections.abc import Sequence
from dataclasses import dataclass

from sequoia.validation import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class DoseGroup:
    """Arms whose dose levels count together.

    Attributes
    ----------
    arms
        ``(n,)``; an arm may be in several groups.
    doses
        Combinations of their levels, ``(D, n)``; others are not possible.
    """

    arms: IntArray
    doses: IntArray


@dataclass(frozen=True, eq=False)
class DoseTables:
    """B functions of actions: for each group a table of its combinations, all added up.

    Attributes
    ----------
    groups
        The same for all states.
    values
        For each group, ``(B, D)``.
    """

    groups: Sequence[DoseGroup]
    values: Sequence[FloatArray]

    def only(self, states: Sequence[int] | IntArray | slice) -> "DoseTables":
        """Return the functions of some of the states."""
        return DoseTables(self.groups, [table[states] for table in self.values])
