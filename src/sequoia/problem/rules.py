"""Extra rules by name, which compose with any space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from sequoia.errors import ProblemError
from sequoia.problem.names import index_of, say, unknown
from sequoia.problem.system import Rows
from sequoia.problem.tables import TableSet
from sequoia.validation import real, whole


@dataclass(frozen=True)
class Floor:
    """A fairness floor for one group.

    Attributes
    ----------
    share
        At least this part of what is acted on belongs to the group, from 0 to 1.
    count
        At least so many of the group are acted on.

    Examples
    --------
    >>> from sequoia import Budget, Floor, Rules
    >>> from sequoia.problem import with_rules
    >>> rules = Rules(groups={'north': ['Ada', 'Ben']}, floors=[Floor('north', count=1)])
    >>> space = with_rules(Budget([1] * 3, 1, ['Ada', 'Ben', 'Cleo']), rules)
    >>> space.contains([[1, 0, 0], [0, 0, 1]]).tolist()
    [True, False]
    """

    group: str
    share: float = 0.0
    count: int = 0

    def __post_init__(self) -> None:
        where = f"rules.floors[{self.group}]"
        object.__setattr__(self, "share", real(f"{where}.share", self.share, 0, 1))
        object.__setattr__(self, "count", whole(f"{where}.count", self.count, 0))


@dataclass(frozen=True)
class Lock:
    """A visit that is settled: to an arm, by a worker, in a slot; ``None`` for any.

    Examples
    --------
    >>> from sequoia import Lock
    >>> print(Lock('Ada', worker='Olga'))
    Olga visits Ada
    """

    arm: str
    worker: str | None = None
    slot: str | None = None

    def __str__(self) -> str:
        when = "" if self.slot is None else f" in {self.slot}"
        if self.worker is None:
            return f"{self.arm} is visited{when}"
        return f"{self.worker} visits {self.arm}{when}"


@dataclass(frozen=True)
class Preference:
    """A visit to an arm by a worker is worth so much more, in the unit of rewards."""

    arm: str
    worker: str
    bonus: float

    def __post_init__(self) -> None:
        where = f"rules.preferences[{self.arm}].bonus"
        object.__setattr__(self, "bonus", real(where, self.bonus, 0))


@dataclass(frozen=True)
class Bar:
    """Visits to an arm that some workers do not make, and why, in words."""

    arm: str
    workers: Sequence[str]
    why: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "workers", tuple(self.workers))


@dataclass(frozen=True)
class Rules:
    """Rows to add to a space, by the names of its action columns and workers.

    Attributes
    ----------
    groups
        Members of each group.
    floors
        Fairness floors over those groups.
    must, never
        What has to be acted on, and what must not be.
    at_most_one
        Lists of which at most one may be acted on.
    absent
        Workers who are off.
    hours
        What some workers have instead of their usual hours; see `ActionSpace.with_hours`.
    locks
        Visits that are settled: one of those to the arm is by this worker, in this slot.
    orders
        Arms that are served on one route, straight one after the other.
    preferences
        Who should rather come to whom, and what that is worth: the worker of last time.
    bars
        Who does not visit whom.
    most
        How many visits some workers make at most.

    Examples
    --------
    >>> from sequoia import Budget, Rules
    >>> from sequoia.problem import with_rules
    >>> space = with_rules(Budget([1] * 3, 2), Rules(must=['arm 0'], never=['arm 2']))
    >>> space.enumerate(10).tolist()
    [[1, 0, 0], [1, 1, 0]]
    """

    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    floors: Sequence[Floor] = ()
    must: Sequence[str] = ()
    never: Sequence[str] = ()
    at_most_one: Sequence[Sequence[str]] = ()
    absent: Sequence[str] = ()
    hours: Mapping[str, float] = field(default_factory=dict)
    locks: Sequence[Lock] = ()
    orders: Sequence[Sequence[str]] = ()
    preferences: Sequence[Preference] = ()
    bars: Sequence[Bar] = ()
    most: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        groups = {name: tuple(members) for name, members in self.groups.items()}
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "at_most_one", tuple(map(tuple, self.at_most_one)))
        hours = {name: real(f"rules.hours[{name}]", given, 0) for name, given in self.hours.items()}
        object.__setattr__(self, "hours", hours)
        most = {name: whole(f"rules.most[{name}]", given, 0) for name, given in self.most.items()}
        object.__setattr__(self, "most", most)
        object.__setattr__(self, "orders", tuple(map(tuple, self.orders)))
        for name in ("floors", "must", "never", "absent", "locks", "preferences", "bars"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    def rows(self, names: Sequence[str]) -> Rows:
        """Return the rows of these rules over action columns called ``names``."""
        listed: list[tuple[np.ndarray[Any, np.dtype[np.float64]], float, float, str]] = []

        def members(where: str, wanted: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float64]]:
            row = np.zeros(len(names))
            for name in wanted:
                row[index_of(where, names, name)] = 1.0
            return row

        for floor in self.floors:
            if floor.group not in self.groups:
                raise ProblemError(
                    f"rules.floors names the group {floor.group!r}; known: {say(self.groups)}."
                )
            inside = members(f"rules.groups[{floor.group}]", self.groups[floor.group])
            if floor.share > 0:
                text = f"at least {100 * floor.share:g}% from {floor.group}"
                listed.append((inside - floor.share, 0.0, np.inf, text))
            if floor.count > 0:
                text = f"at least {floor.count} of {floor.group}"
                listed.append((inside, float(floor.count), np.inf, text))
        for name in self.must:
            listed.append((members("rules.must", [name]), 1.0, np.inf, f"must act on {name}"))
        for name in self.never:
            listed.append((members("rules.never", [name]), -np.inf, 0.0, f"never act on {name}"))
        for lock in self.locks:
            listed.append((members("rules.locks", [lock.arm]), 1.0, np.inf, f"locked: {lock}"))
        for name in (arm for order in self.orders for arm in order):
            listed.append((members("rules.orders", [name]), 1.0, np.inf, f"locked: {name} served"))
        for several in self.at_most_one:
            text = f"at most one of {say(several)}"
            listed.append((members("rules.at_most_one", several), -np.inf, 1.0, text))
        return Rows(
            matrix=csr_array(
                np.array([row for row, *_ in listed]).reshape(len(listed), len(names))
            ),
            lower=np.array([low for _, low, _, _ in listed]),
            upper=np.array([high for _, _, high, _ in listed]),
            names=[text for *_, text in listed],
        )

    def and_also(self, other: "Rules") -> "Rules":
        """Return both sets of rules together; a group means the same in both.

        Hours are those of ``other`` where both have some: today's take the place of the usual ones.
        """
        for name in self.groups.keys() & other.groups.keys():
            if set(self.groups[name]) != set(other.groups[name]):
                raise ProblemError(
                    f"rules.groups[{name}] is {say(other.groups[name])}, but was "
                    f"{say(self.groups[name])} before; give one of the groups another name."
                )
        return Rules(
            {**self.groups, **other.groups},
            (*self.floors, *other.floors),
            (*self.must, *other.must),
            (*self.never, *other.never),
            (*self.at_most_one, *other.at_most_one),
            (*self.absent, *other.absent),
            {**self.hours, **other.hours},
            (*self.locks, *other.locks),
            (*self.orders, *other.orders),
            (*self.preferences, *other.preferences),
            (*self.bars, *other.bars),
            {**self.most, **other.most},
        )

    def to_options(self) -> dict[str, Any]:
        """Return these rules as options for TOML; those about staff only where there are any."""
        staff: dict[str, Any] = {
            "hours": dict(self.hours),
            "locks": [
                {key: value for key, value in vars(lock).items() if value is not None}
                for lock in self.locks
            ],
            "orders": [list(order) for order in self.orders],
            "preferences": [dict(vars(preference)) for preference in self.preferences],
            "bars": [{**vars(bar), "workers": list(bar.workers)} for bar in self.bars],
            "most": dict(self.most),
        }
        return {key: value for key, value in staff.items() if value} | {
            "groups": {name: list(group) for name, group in self.groups.items()},
            "floors": [
                {"group": f.group, "share": float(f.share), "count": int(f.count)}
                for f in self.floors
            ],
            "must": list(self.must),
            "never": list(self.never),
            "at_most_one": [list(several) for several in self.at_most_one],
            "absent": list(self.absent),
        }

    @classmethod
    def from_options(
        cls,
        content: TableSet,
        names: Sequence[str],
        workers: Sequence[str],
        slots: Sequence[str] = (),
    ) -> "Rules":
        """Build from the options of TOML, about action columns, workers and slots so called."""
        content.known(
            {"groups", "floors", "must", "never", "at_most_one", "absent"}
            | {"hours", "locks", "orders", "preferences", "bars", "most"}
        )
        groups = content.option("groups", dict, {})
        several = content.option("at_most_one", list, [])
        floors = []
        for index, entry in enumerate(content.option("floors", list, [])):
            floor = content.part(
                entry if type(entry) is dict else {}, f"{content.where} floors[{index}]"
            )
            floor.known({"group", "share", "count"})
            group = floor.option("group", str)
            if group and group not in groups:
                content.found.append(unknown(floor.where, list(groups), group))
            share = floor.option("share", float, 0.0, least=0, most=1)
            floors.append(Floor(group, share, floor.option("count", int, 0, least=0)))

        def listed(key: str, values: Any, known: Sequence[str] = names) -> tuple[str, ...]:
            return _names(content, key, values, known)

        return cls(
            {name: listed(f"groups.{name}", group) for name, group in groups.items()},
            tuple(floors),
            listed("must", content.option("must", list, [])),
            listed("never", content.option("never", list, [])),
            tuple(listed("at_most_one", group) for group in several),
            listed("absent", content.option("absent", list, []), workers),
            _hours(content, workers),
            _locks(content, names, workers, slots),
            tuple(listed("orders", order) for order in content.option("orders", list, [])),
            _preferences(content, names, workers),
            _bars(content, names, workers),
            _most(content, workers),
        )


def _names(content: TableSet, key: str, values: Any, known: Sequence[str]) -> tuple[str, ...]:
    """Return names from an option, and note which of them are not ``known``."""
    where = f"{content.where}, option {key!r}"
    if type(values) is not list or any(type(value) is not str for value in values):
        content.found.append(f"{where} is {values!r}; names are wanted.")
        return ()
    index = set(known)
    content.found.extend(unknown(where, known, name) for name in values if name not in index)
    return tuple(values)


def _hours(content: TableSet, workers: Sequence[str]) -> dict[str, float]:
    """Return hours by worker, and note what is wrong with them."""
    given = content.part(content.option("hours", dict, {}), f"{content.where} hours")
    given.known(set(workers))
    return {name: given.option(name, float, least=0) for name in given.options if name in workers}


def _locks(
    content: TableSet, names: Sequence[str], workers: Sequence[str], slots: Sequence[str]
) -> tuple[Lock, ...]:
    """Return locks, and note which of them name something that is not known."""
    locks = []
    for index, entry in enumerate(content.option("locks", list, [])):
        part = content.part(entry if type(entry) is dict else {}, f"{content.where} locks[{index}]")
        known = {"arm": names, "worker": workers, "slot": slots}
        part.known(set(known))
        given = {key: part.option(key, str) for key in known if key in part.options}
        for key, name in given.items():
            if name and name not in known[key]:
                content.found.append(unknown(f"{part.where}, option {key!r}", known[key], name))
        locks.append(Lock(part.option("arm", str), given.get("worker"), given.get("slot")))
    return tuple(locks)


def _preferences(
    content: TableSet, names: Sequence[str], workers: Sequence[str]
) -> tuple[Preference, ...]:
    """Return preferences, and note which of them name somebody who is not known."""
    preferences = []
    for index, entry in enumerate(content.option("preferences", list, [])):
        where = f"{content.where} preferences[{index}]"
        part = content.part(entry if type(entry) is dict else {}, where)
        part.known({"arm", "worker", "bonus"})
        given = {"arm": part.option("arm", str), "worker": part.option("worker", str)}
        for key, known in (("arm", names), ("worker", workers)):
            if given[key] and given[key] not in known:
                content.found.append(unknown(f"{where}, option {key!r}", known, given[key]))
        bonus = part.option("bonus", float, least=0)
        preferences.append(Preference(given["arm"] or "", given["worker"] or "", bonus or 0.0))
    return tuple(preferences)


def _bars(content: TableSet, names: Sequence[str], workers: Sequence[str]) -> tuple[Bar, ...]:
    """Return who does not visit whom, and note who of them is not known."""
    found = []
    for index, entry in enumerate(content.option("bars", list, [])):
        where = f"{content.where} bars[{index}]"
        own = content.part(entry if type(entry) is dict else {}, where)
        own.known({"arm", "workers", "why"})
        arm = own.option("arm", str)
        if arm and arm not in names:
            content.found.append(unknown(f"{where}, option 'arm'", names, arm))
        who = _names(own, "workers", own.option("workers", list, []), workers)
        found.append(Bar(arm or "", who, own.option("why", str, "barred")))
    return tuple(found)


def _most(content: TableSet, workers: Sequence[str]) -> dict[str, int]:
    """Return the most visits by worker, and note what is wrong with them."""
    given = content.part(content.option("most", dict, {}), f"{content.where} most")
    given.known(set(workers))
    return {name: given.option(name, int, least=0) for name in given.options if name in workers}
