"""The extra rules of a programme, one by one: read, added to and removed from its settings."""

import tomllib
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from sequoia.errors import FileError, ProblemError
from sequoia.io import write_text
from sequoia.problem.names import composed, say
from sequoia_programme.columns import Columns
from sequoia_programme.members import members
from sequoia_programme.rules_text import write_rules
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import FILE, Programme, read_programme
from sequoia_programme.space import build_space
from sequoia_programme.store import note

MUST, NEVER, AT_MOST_ONE, FLOORS = "must", "never", "at_most_one", "floors"
KINDS = (MUST, NEVER, AT_MOST_ONE, FLOORS)


@dataclass(frozen=True)
class WrittenRule:
    """One of the rules in ``[space.rules]``.

    Attributes
    ----------
    names
        Of people; of a floor, its group.
    count, share
        Of a floor: at least so many, or at least this part, from 0 to 1.
    """

    kind: str
    names: tuple[str, ...]
    count: int = 0
    share: float = 0.0

    def __post_init__(self) -> None:
        fewest = 2 if self.kind == AT_MOST_ONE else 1
        if self.kind not in KINDS:
            raise ProblemError(f"a rule is {self.kind!r}; one of {', '.join(KINDS)} is wanted.")
        if len(self.names) < fewest or not all(self.names):
            raise ProblemError(f"a rule of the kind {self.kind} needs {fewest} or more names.")
        if not 0 <= self.share <= 1:
            raise ProblemError(f"a floor is {100 * self.share:g} %; 0 to 100 % are wanted.")
        if self.kind == FLOORS and (self.count <= 0) is (self.share <= 0):
            raise ProblemError("a floor needs a number of people or a share, one of them.")

    @property
    def words(self) -> str:
        """The rule in words."""
        if self.kind == AT_MOST_ONE:
            return f"at most one of {say(self.names)} on a day"
        if self.kind != FLOORS:
            return f"{self.names[0]} {'must' if self.kind == MUST else 'must not'} be visited"
        if self.count:
            return f"at least {self.count} of {self.names[0]} on every day"
        return f"at least {100 * self.share:g} % of the visits go to {self.names[0]}"


def written_rules(programme: Programme) -> list[WrittenRule]:
    """Return the rules of the settings that can be told one by one."""
    rules = programme.space.get("rules", {})
    found = [WrittenRule(kind, (name,)) for kind in (MUST, NEVER) for name in rules.get(kind, ())]
    found += [WrittenRule(AT_MOST_ONE, tuple(names)) for names in rules.get(AT_MOST_ONE, ())]
    for floor in rules.get(FLOORS, ()):
        count, share = int(floor.get("count", 0)), float(floor.get("share", 0.0))
        if count:
            found.append(WrittenRule(FLOORS, (floor["group"],), count=count))
        if share:
            found.append(WrittenRule(FLOORS, (floor["group"],), share=share))
    return found


def read_number(text: str) -> tuple[int, float]:
    """Return the count and the share of a floor from a text such as ``3`` or ``30 %``."""
    number = text.removesuffix("%").strip()
    if number.isdecimal() and text == number:
        return int(number), 0.0
    try:
        return 0, float(number.replace(",", ".")) / 100
    except ValueError:
        raise ProblemError(f"a floor is {text!r}; such as 3 or 30 % is wanted.") from None


def without_rule(programme: Programme, rule: WrittenRule) -> Programme:
    """Return the settings as if a rule were not there."""
    left = [one for one in written_rules(programme) if one != rule]
    return _with_rules(programme, left)


def add_rule(programme: Programme, rule: WrittenRule, day: date) -> None:
    """Add a rule to the settings, if everybody it names is on the roster."""
    rule = replace(rule, names=tuple(composed(name).strip() for name in rule.names))
    _change(programme, rule, day, is_wanted=True)


def remove_rule(programme: Programme, rule: WrittenRule, day: date) -> None:
    """Remove a rule from the settings."""
    _change(programme, rule, day, is_wanted=False)


def _change(programme: Programme, rule: WrittenRule, day: date, *, is_wanted: bool) -> None:
    """Write the settings anew; whoever writes the database writes alone."""
    with programme.store.open().writing() as connection:
        now = read_programme(programme.folder)
        rules = written_rules(now)
        if (rule in rules) is is_wanted:
            there = "already" if is_wanted else "not"
            raise ProblemError(f"the rule is {there} there: {rule.words}.")
        changed = without_rule(now, rule) if not is_wanted else _with_rules(now, [*rules, rule])
        everyone, staff = members(connection, ARM), members(connection, WORKER)
        arms = [one for one in everyone if one.is_member(day)]
        columns = Columns([one.name for one in arms], now.doses)
        workers = [one for one in staff if one.is_member(day)]
        build_space(changed, columns, arms, workers, (*everyone, *staff))
        _write(changed)
        note(connection, f"{'Added' if is_wanted else 'Removed'} a rule: {rule.words}.")


def _with_rules(programme: Programme, rules: list[WrittenRule]) -> Programme:
    """Return the settings with other rules; what cannot be told one by one stays."""
    kept = {k: v for k, v in programme.space.get("rules", {}).items() if k not in KINDS}
    told: dict[str, list[Any]] = {}
    for rule in rules:
        told.setdefault(rule.kind, []).append(_as_option(rule))
    space = {key: value for key, value in programme.space.items() if key != "rules"}
    return replace(programme, space={**space, **({"rules": kept | told} if kept | told else {})})


def _as_option(rule: WrittenRule) -> Any:
    if rule.kind == FLOORS:
        numbers = {"count": rule.count} if rule.count else {"share": rule.share}
        return {"group": rule.names[0], **numbers}
    return list(rule.names) if rule.kind == AT_MOST_ONE else rule.names[0]


def _write(programme: Programme) -> None:
    """Write the rules; all else stays as somebody wrote it."""
    path = programme.folder / FILE
    old = path.read_text(encoding="utf-8")
    wanted = tomllib.loads(old)
    wanted["space"] = {"rules": {}, **programme.space}
    text = write_rules(old, wanted["space"]["rules"])
    try:
        now = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        now = {}
    now["space"] = {"rules": {}, **now.get("space", {})}
    if now != wanted:
        raise FileError(f"{path} writes its rules in a way that only an editor can change.")
    write_text(path, text)
