"""A space with extra rules on top."""

from collections.abc import Iterable, Mapping

from sequoia.problem.rules import Rules
from sequoia.problem.spaces.base import ActionSpace
from sequoia.problem.spaces.locked import with_locks, with_preferences
from sequoia.problem.spaces.with_rows import WithRows


class Ruled(WithRows):
    """``base`` with the rows of ``rules`` added; made by `with_rules`."""

    kind = "ruled"

    def __init__(self, base: ActionSpace, rules: Rules) -> None:
        # An unknown name is reported when the space is made, not when it is first used.
        self._staffed = base.absent(rules.absent).with_hours(rules.hours)
        below = with_locks(with_preferences(self._staffed, rules), rules)
        super().__init__(below, rules.rows(base.names))
        self._base = base
        self._rules = rules

    @property
    def base(self) -> ActionSpace:
        """The space without extra rules, with every worker present."""
        return self._base

    @property
    def rules(self) -> Rules:
        """The extra rules on top of `base`."""
        return self._rules

    @property
    def today(self) -> ActionSpace:
        """The space without extra rules, with the staff of today."""
        return self._staffed

    def summary(self) -> str:
        """Say it as the base does; the rules are said beside it."""
        return self.base.summary()

    def absent(self, workers: Iterable[str]) -> "Ruled":
        """Add to the workers who are off."""
        return Ruled(self.base, self.rules.and_also(Rules(absent=tuple(workers))))

    def with_hours(self, hours: Mapping[str, float]) -> "Ruled":
        """Add to the workers who have other hours."""
        return Ruled(self.base, self.rules.and_also(Rules(hours=hours)))


def with_rules(space: ActionSpace, rules: Rules) -> Ruled:
    """Return ``space`` with ``rules`` on top; rules on rules are merged."""
    return Ruled(space.base, space.rules.and_also(rules))
