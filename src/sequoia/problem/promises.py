"""Promises of visits: at least, at most, or exactly so often."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sequoia.errors import ProblemError
from sequoia.problem.names import Numbered, between, closest, count, index_of, say
from sequoia.problem.tables import Table, TableSet, table
from sequoia.sizes import MOST_STEPS
from sequoia.validation import BoolArray, IntArray, frozen, require, set_fields, whole

NEVER = 10**9
_COLUMNS = ("every", "apart", "once_in", "since", "into")


@dataclass(frozen=True)
class Promise:
    """A promise to each of some arms, in steps; ``None`` for nothing.

    Attributes
    ----------
    every
        A visit at least every so many steps: of two visits that follow each other, and from the
        last visit before the first step.
    apart
        Not more often than every so many steps.
    once_in
        Exactly one visit in each window of so many steps, the first of which begins at the first
        step.
    since
        How many steps before the first one the last visit was; unless given, as if the promise had
        been kept so far, evenly.
    into
        How many steps of the window are over before the first one.

    Examples
    --------
    >>> from sequoia import Arms, Budget, Problem
    >>> arms = Arms.ladder([[0, 1]] * 3, up=[[0.1, 0.9]] * 3, names=['Ada', 'Ben', 'Cleo'])
    >>> three = Problem('three people', arms, Budget([1] * 3, 1), [[1, 0]] * 3)
    >>> from sequoia import Promise, Promises
    >>> kept = Promises.of(arms.names, [Promise(['Ada'], every=7)])
    >>> three.with_promises(kept).keeper.promises.words()
    ['1 arm is visited at least every 7 steps']
    """

    arms: Sequence[str]
    every: int | None = None
    apart: int | None = None
    once_in: int | None = None
    since: int | None = None
    into: int | None = None


@dataclass(frozen=True, eq=False, init=False)
class Promises:
    """The promises to each arm, in steps; 0 for nothing.

    Attributes
    ----------
    every, apart, once_in
        As in `Promise`, ``(J,)``.
    since
        How long ago the last visit was, ``(J,)``; 0 where nobody says.
    into
        How much of the first window is over, ``(J,)``.
    reserve
        Visits are forced so many steps before they would have to be, so that a day with fewer staff
        than usual breaks no promise.

    Examples
    --------
    >>> from sequoia import Promise, Promises
    >>> Promises.of(['Ada', 'Ben'], [Promise(['Ada'], once_in=14)]).words()
    ['1 arm is visited exactly once in 14 steps']
    """

    every: IntArray
    apart: IntArray
    once_in: IntArray
    since: IntArray
    into: IntArray
    reserve: int

    def __init__(
        self,
        every: ArrayLike,
        apart: ArrayLike,
        once_in: ArrayLike,
        since: ArrayLike,
        into: ArrayLike,
        reserve: int = 0,
        names: Sequence[str] | None = None,
    ) -> None:
        """``names`` of the arms are for messages."""
        every = frozen("promises.every", every, np.int64, (None,))
        shape = (len(every),)
        apart = frozen("promises.apart", apart, np.int64, shape)
        once_in = frozen("promises.once_in", once_in, np.int64, shape)
        since = frozen("promises.since", since, np.int64, shape)
        into = frozen("promises.into", into, np.int64, shape)
        for name, values in zip(_COLUMNS, (every, apart, once_in, since, into), strict=True):
            fine = (values >= 0) & (values <= MOST_STEPS)
            require(f"promises.{name}", values, fine, f"0 to {MOST_STEPS} steps are wanted")
        called = Numbered("arm", len(every)) if names is None else names
        for arm in np.flatnonzero((once_in > 0) & ((every > 0) | (apart > 0))).tolist():
            raise ProblemError(
                f"promises: {called[arm]} has once_in beside every or apart; one kind is wanted."
            )
        for arm in np.flatnonzero((every > 0) & (apart > every)).tolist():
            raise ProblemError(
                f"promises: {called[arm]} is visited at least every {every[arm]} steps, but not "
                f"more often than every {apart[arm]}; that is a contradiction."
            )
        for arm in np.flatnonzero((every > 0) & (since > every)).tolist():
            raise ProblemError(
                f"promises: {called[arm]} was visited {since[arm]} steps ago, so that every "
                f"{every[arm]} steps is broken before the first one."
            )
        require(
            "promises.into", into, (into == 0) | (into < once_in), "less than once_in is wanted"
        )
        given = dict(zip(_COLUMNS, (every, apart, once_in, since, into), strict=True))
        set_fields(self, reserve=whole("promises.reserve", reserve, 0), **given)

    def beginning(self, since: IntArray, into: IntArray, names: Sequence[str]) -> "Promises":
        """Return the same promises where the last visits were ``since`` steps ago, ``(J,)``."""
        return Promises(self.every, self.apart, self.once_in, since, into, self.reserve, names)

    @property
    def is_done(self) -> BoolArray:
        """The arms that were visited in the window that the first step is in, ``(J,)``."""
        result: BoolArray = (self.since > 0) & (self.since <= self.into)
        return result

    @classmethod
    def of(cls, names: Sequence[str], promises: Iterable[Promise], reserve: int = 0) -> "Promises":
        """Return what is promised to arms called ``names``; each has at most one promise."""
        columns = {key: np.zeros(len(names), dtype=np.int64) for key in _COLUMNS}
        taken: set[int] = set()
        for promise in promises:
            for name in promise.arms:
                arm = index_of("promises", names, name)
                if arm in taken:
                    raise ProblemError(f"promises names {name!r} twice; one promise is wanted.")
                taken.add(arm)
                for key, column in columns.items():
                    column[arm] = getattr(promise, key) or 0
        return cls(**columns, reserve=reserve, names=names)

    @property
    def has_deadline(self) -> BoolArray:
        """The arms that have to be visited some time, ``(J,)``."""
        result: BoolArray = (self.every > 0) | (self.once_in > 0)
        return result

    @property
    def period(self) -> IntArray:
        """In what rhythm visits keep each promise, with the reserve, ``(J,)``; 0 for none."""
        steady = np.maximum(self.every - self.reserve, np.maximum(self.apart, 1))
        return np.where(self.once_in > 0, self.once_in, np.where(self.every > 0, steady, 0))

    def words(self) -> list[str]:
        """Say what is promised, one line for each kind."""
        lines = []
        for values, text in (
            (self.every, "at least every {} steps"),
            (self.apart, "not more often than every {} steps"),
            (self.once_in, "exactly once in {} steps"),
        ):
            given = values[values > 0]
            if len(given):
                verb = "is" if len(given) == 1 else "are"
                sentence = (
                    f"{count(len(given), 'arm')} {verb} visited {text.format(between(given))}"
                )
                lines.append(sentence)
        if self.reserve:
            lines.append(f"visits are forced {count(self.reserve, 'step')} before they have to be")
        return lines

    def to_tables(self, names: Sequence[str]) -> TableSet:
        """Return an option and a table: a row for each arm that is promised something."""
        kept = np.flatnonzero((self.every > 0) | (self.apart > 0) | (self.once_in > 0))
        columns = {key: getattr(self, key)[kept] for key in _COLUMNS}
        rows = table("promises", **{"name": [names[arm] for arm in kept.tolist()]} | columns)
        return TableSet({"reserve": self.reserve}, rows)

    @classmethod
    def from_tables(cls, content: TableSet, names: Sequence[str]) -> "Promises":
        """Build from ``promises.csv`` and, perhaps, the option ``reserve``."""
        content.known({"reserve"})
        reserve = content.option("reserve", int, 0, least=0)
        rows = content.table("promises")
        arms = rows.places("name", names)
        # Columns may be left out, so that one that is misspelt would silently promise nothing.
        known = ("name", *_COLUMNS)
        rows.found.extend(
            f"{rows.where} has a column {key!r}; known: {say(known)}{closest(key, known)}."
            for key in rows.columns
            if key not in known
        )
        columns = {key: np.zeros(len(names), dtype=np.int64) for key in _COLUMNS}
        for key, column in columns.items():
            if key in rows.columns:
                column[arms] = rows.integers(key, least=0)
        _require_once(rows, arms, names)
        content.settle()
        return cls(**columns, reserve=reserve, names=names)


def _require_once(rows: Table, arms: IntArray, names: Sequence[str]) -> None:
    taken: set[int] = set()
    for row, arm in enumerate(arms.tolist()):
        if arm in taken:
            rows.found.append(f"{rows.place(row)} names {names[arm]!r} again; once is wanted.")
        taken.add(arm)
