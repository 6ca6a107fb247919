"""What a programme is: the settings in ``programme.toml``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, time
from pathlib import Path
from typing import Any

from sequoia.errors import FileError
from sequoia.io import read_toml
from sequoia.problem.names import closest, composed_options, flaw_of, say
from sequoia.problem.tables import TableSet
from sequoia.sizes import MOST_STEPS
from sequoia_programme.calendar import EARLIEST, LAST, ORDERS, STEPS, WEEKDAYS, Calendar
from sequoia_programme.store import Store

FILE = "programme.toml"
FORMAT = 1
_SECTIONS = ("calendar", "states", "rewards", "doses", "space", "seen", "known", "promises")
_DAY_BEGINS = time(8, 30)


@dataclass(frozen=True)
class Programme:
    """The settings of a programme.

    Attributes
    ----------
    rewards
        What a step in each state is worth, by the name of the state, in their order.
    group_rewards
        The same for the groups that differ, by group.
    doses
        The doses that can be given, by name, ascending; doing nothing is not among them.
    seen
        The probabilities that a state is known before the decision of a step (``before``) and that
        a visit shows it (``at_visit``).
    space
        The options of the action space, as in ``problem.toml``.
    begins
        When a working day begins.
    known
        What is known of transitions beforehand, as options.
    promises
        How often groups are visited, as options; see `frequencies`.
    promises
        How often groups are visited, as options; see `frequencies`.
    unit
        What rewards count, such as ``"weeks in good health"``; empty where nobody said.
    actor
        Whose account acts; nothing where it is the command.
    """

    folder: Path
    name: str
    horizon: int
    discount: float
    database: str
    calendar: Calendar
    rewards: Mapping[str, float]
    group_rewards: Mapping[str, Mapping[str, float]]
    doses: Mapping[str, float]
    seen: Mapping[str, float]
    space: Mapping[str, Any]
    begins: time
    known: Mapping[str, Any]
    promises: Mapping[str, Any]
    unit: str = ""
    actor: str = ""

    @property
    def states(self) -> list[str]:
        """The names of the states."""
        return list(self.rewards)

    @property
    def where(self) -> str:
        """The settings' file, for messages."""
        return str(self.folder / FILE)

    @property
    def store(self) -> Store:
        """Its database."""
        return Store.of_folder(self.folder, self.database, self.actor)

    def rewards_of(self, group: str) -> list[float]:
        """What a step in each state is worth in a group."""
        own = self.group_rewards.get(group, {})
        return [own.get(state, usual) for state, usual in self.rewards.items()]


def read_programme(folder: Path) -> Programme:
    """Read the settings of the programme in ``folder``.

    Raises
    ------
    FileError
        One line for each thing that is wrong.
    """
    if not (folder / FILE).is_file():
        raise FileError(
            f"{folder} holds no programme ({FILE} is missing); sequoia programme init makes one."
        )
    content = TableSet(composed_options(read_toml(folder / FILE)), where=str(folder / FILE))
    content.known({"format", "name", "horizon", "discount", "database", "unit", *_SECTIONS})
    found = content.option("format", int)
    if found != FORMAT and not content.found:
        raise FileError(f"{content.where} has format {found}; this version reads {FORMAT}.")
    rewards = _numbers(content.section("states"), "a reward")
    if len(rewards) < 2:
        content.found.append(f"{content.where} [states] names {len(rewards)}; two are wanted.")
    dated = content.section("calendar")
    calendar = content.attempt(lambda: _read_calendar(dated))
    programme = Programme(
        folder=folder,
        name=content.option("name", str),
        horizon=content.option("horizon", int, 20, least=1, most=MOST_STEPS),
        discount=content.option("discount", float, 0.99, least=1e-9, most=1),
        database=content.option("database", str, ""),
        calendar=calendar or Calendar(date.min),
        rewards=rewards,
        group_rewards=_read_group_rewards(content, rewards),
        doses=_read_doses(content),
        seen=_read_seen(content),
        space=content.option("space", dict),
        begins=_time(dated),
        known=content.option("known", dict, {}),
        promises=content.option("promises", dict, {}),
        unit=content.option("unit", str, ""),
    )
    content.settle()
    return programme


def _read_calendar(content: TableSet) -> Calendar:
    content.known({"step", "start", "days", "holidays", "dates", "begins"})
    step = _one_of(content, "step", STEPS, "day")
    days = content.option("days", list, list(WEEKDAYS))
    for day in days:
        if day not in WEEKDAYS:
            content.found.append(
                f"{content.where}, option 'days' has {day!r}; some of {say(WEEKDAYS)} are wanted."
            )
    if not days:
        content.found.append(f"{content.where}, option 'days' is empty; a day is wanted.")
    holidays = content.option("holidays", list, [])
    start = content.options.get("start")
    for name, day in (("start", start), *(("holidays", day) for day in holidays)):
        if type(day) is not date:
            content.found.append(
                f"{content.where}, option {name!r} has {day!r}; a date such as 2026-11-02, without "
                "quotes, is wanted."
            )
        elif name == "start" and not EARLIEST <= day <= LAST:
            content.found.append(
                f"{content.where}, option 'start' is {day}; a date from {EARLIEST} to {LAST} is "
                "wanted."
            )
    order = _one_of(content, "dates", ORDERS, "")
    if content.found:
        raise FileError(*content.found)
    assert type(start) is date
    return Calendar(start, step, tuple(days), tuple(holidays), order)


def _one_of(content: TableSet, name: str, known: Sequence[str], usual: str) -> str:
    value: str = content.option(name, str, usual)
    if value not in known:
        said = " or ".join(repr(one) for one in known if one)
        content.found.append(
            f"{content.where}, option {name!r} is {value!r}; {said} is "
            f"wanted{closest(value, known)}."
        )
    return value


def _time(content: TableSet) -> time:
    value = content.options.get("begins", _DAY_BEGINS)
    if type(value) is not time:
        content.found.append(
            f"{content.where}, option 'begins' is {value!r}; a time such as 08:30:00, without "
            "quotes, is wanted."
        )
        return _DAY_BEGINS
    return value


def _numbers(content: TableSet, what: str) -> dict[str, float]:
    """Return named numbers."""
    numbers = {}
    for name, value in content.options.items():
        flaw = flaw_of(name)
        if flaw:
            content.found.append(f"{content.where} names {name!r}; {flaw}.")
        elif type(value) not in (int, float) or abs(value) > 1e12:
            content.found.append(f"{content.where}: {name} is {value!r}; {what} is wanted.")
        else:
            numbers[name] = float(value)
    return numbers


def _read_group_rewards(
    content: TableSet, rewards: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    groups = {}
    for group, own in content.option("rewards", dict, {}).items():
        part = content.part(own if type(own) is dict else {}, f"{content.where} [rewards.{group}]")
        part.known(set(rewards))
        groups[group] = _numbers(part, "a reward")
    return groups


def _read_doses(content: TableSet) -> dict[str, float]:
    part = content.part(content.option("doses", dict, {"visit": 1.0}), f"{content.where} [doses]")
    doses = _numbers(part, "a dose")
    for name, dose in doses.items():
        if dose <= 0:
            content.found.append(
                f"{part.where}: {name} is {dose:g}; more than 0 is wanted, which is doing nothing."
            )
    if not doses or len(set(doses.values())) != len(doses):
        content.found.append(f"{part.where}: one or more different doses are wanted.")
    return dict(sorted(doses.items(), key=lambda pair: pair[1]))


def _read_seen(content: TableSet) -> dict[str, float]:
    part = content.part(content.option("seen", dict, {}), f"{content.where} [seen]")
    usual = {"before": 0.0, "at_visit": 1.0}
    part.known(set(usual))
    return {name: part.option(name, float, value, least=0, most=1) for name, value in usual.items()}
