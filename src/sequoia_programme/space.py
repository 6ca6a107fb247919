"""What may be done on a day: the action space of those who are there.

Sheets that are neither roster nor staff stand beside the settings, as ``edges``, ``travel``,
``places`` or ``visitors``, CSV or XLSX, and name people of all times; of a day, only those who are
there are kept.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sequoia.errors import FileError
from sequoia.problem import ActionSpace, Rules, with_rules
from sequoia.problem.names import unknown
from sequoia.problem.spaces import read_space
from sequoia.problem.spreadsheet import CSV, XLSX, read_spreadsheet
from sequoia.problem.tables import Table, TableSet
from sequoia_programme.columns import Columns
from sequoia_programme.members import Member
from sequoia_programme.needs import BREAK, MOST, NEEDS, NOT_BY, OFFERS, visiting_rules
from sequoia_programme.schema import ARM, WORKER
from sequoia_programme.settings import Programme

# The columns of each sheet that hold names.
_NAMES = {
    "edges": ("from", "to"),
    "travel": ("from", "to"),
    "places": ("name",),
    "visitors": ("name",),
}
_HEADS = ("length", "minutes", "x", "y", "lat", "lon")
# The sheets that each kind of space reads; ways lead to arms, so that an action has to be an arm.
_OF_KIND = {"walk": ("edges",), "team": ("travel", "places"), "rota": ("visitors",)}
_BY_ARM = ("walk", "team")
# The tables of a space that hold arms and workers.
TABLES = {ARM: "actions", WORKER: "workers"}
_LISTS = ("must", "never", "absent")
# Columns of the roster that say what is promised, in days; see `frequencies`.
PROMISED = ("every", "apart", "once in")


def read_own_sheets(
    programme: Programme, columns: Columns, gone: Iterable[str], workers: Sequence[str] = ()
) -> dict[str, Table]:
    """Return the sheets that the space of a day reads, by the names it has for them.

    Parameters
    ----------
    gone
        Who was or will be on the roster, but is not there on the day.
    workers
        Who visits, for names of columns.
    """
    kind = str(programme.space.get("kind"))
    if kind in _BY_ARM and len(columns.doses) > 1:
        raise FileError(
            f"{programme.where} [doses] names {len(columns.doses)}; a {kind} has one: whoever is "
            "reached is visited."
        )
    away = set(gone)
    tables: dict[str, Table] = {}
    for name in _OF_KIND.get(kind, ()):
        path = _find(programme.folder, name)
        if path is not None:
            heads = (*_NAMES[name], *_HEADS, *workers)
            tables[name] = read_spreadsheet(path, name, heads)
    if "travel" in tables:
        # A way past somebody who is not there is still a way.
        tables |= _with_places(tables, away)
    return {
        name: _by_action(_table_without(table, _NAMES[name], away), columns)
        if name == "visitors"
        else _table_without(table, _NAMES[name], away if name == "edges" else set())
        for name, table in tables.items()
    }


def _find(folder: Path, name: str) -> Path | None:
    found = [folder / f"{name}{end}" for end in (CSV, XLSX) if (folder / f"{name}{end}").exists()]
    if len(found) > 1:
        raise FileError(f"{folder} has both {found[0].name} and {found[1].name}; one is wanted.")
    return found[0] if found else None


def _with_places(tables: dict[str, Table], away: set[str]) -> dict[str, Table]:
    """Return the places, among them those who are away and have ways."""
    ways = tables["travel"]
    named = {name for end in _NAMES["travel"] if end in ways.columns for name in ways.strings(end)}
    more = sorted(named & away)
    if not more:
        return {}
    there = tables.get("places")
    names = [] if there is None else there.strings("name")
    where = "places" if there is None else there.where
    return {"places": Table(where, {"name": [*names, *(one for one in more if one not in names)]})}


def _table_without(table: Table, ends: Sequence[str], away: set[str]) -> Table:
    """Return the rows that name nobody who is away."""
    kept = [
        row
        for row in range(len(table))
        if not any(table.columns[end][row] in away for end in ends if end in table.columns)
    ]
    return table.only(kept)


def _by_action(table: Table, columns: Columns) -> Table:
    """Return a row for each action that reaches an arm."""
    names = table.strings("name")
    several = [columns.of(name) if name in columns.arms else [name] for name in names]
    wide = table.only([row for row, own in enumerate(several) for _ in own])
    return replace(wide, columns={**wide.columns, "name": [one for own in several for one in own]})


class _Roster(Table):
    """Members as a table, whose rows are called by name."""

    def place(self, row: int) -> str:
        """Say whose row it is."""
        return f"{self.where}, {self.columns['name'][row]}"


def as_table(people: Sequence[Member], where: str) -> Table:
    """Return members with all that is known of them, as a space reads it."""
    facts = list(dict.fromkeys(key for one in people for key in one.facts))
    columns = {key: [one.facts.get(key, "") for one in people] for key in facts}
    return _Roster(where, {"name": [one.name for one in people], **columns})


def _setting_out(programme: Programme, staff: Table) -> Table:
    """Return the staff of a team with the time at which everybody sets out."""
    if programme.space.get("kind") != "team":
        return staff
    usual = f"{programme.begins:%H:%M}"
    said = staff.columns.get("begins", [""] * len(staff))
    return replace(staff, columns={**staff.columns, "begins": [str(at) or usual for at in said]})


def heads(programme: Programme, role: str) -> list[str]:
    """Return the columns that a sheet of the roster may have a use for."""
    slots = [str(slot) for slot in programme.space.get("slots", ()) if isinstance(slot, str)]
    if role == ARM:
        own = ["group", "cost", "visits", "earliest", "latest", NEEDS, NOT_BY, *PROMISED]
    else:
        own = ["capacity", "depot", "begins", OFFERS, BREAK, MOST]
    own += [f"{name} {dose}" for dose in programme.doses for name in ("cost", "minutes")]
    return ["name", "joined", "left", "minutes", "x", "y", "lat", "lon", *own, *slots]


def check_sheets(programme: Programme, tables: Mapping[str, Table]) -> list[str]:
    """Return what a space finds wrong with its tables, by the names they have in files."""
    options = {key: value for key, value in programme.space.items() if key != "rules"}
    content = TableSet(options, dict(tables), f"{programme.where} [space]")
    places = _find(programme.folder, "places") if options.get("kind") == "team" else None
    if places is not None:
        content = replace(
            content,
            tables={**tables, "places": read_spreadsheet(places, "places", ("name", *_HEADS))},
        )
    content.attempt(lambda: read_space(content))
    return content.found


def build_space(
    programme: Programme,
    columns: Columns,
    arms: Sequence[Member],
    workers: Sequence[Member],
    everyone: Sequence[Member],
) -> tuple[ActionSpace, list[str]]:
    """Return the space of those who are there, and remarks on its rules.

    Parameters
    ----------
    everyone
        All who are or were on the roster: a rule that names one of them is no mistake.
    """
    remarks = list[str]()
    staff = [one.name for one in workers]
    gone = {one.name for one in everyone} - {one.name for one in (*arms, *workers)}
    content = TableSet(
        {key: value for key, value in programme.space.items() if key != "rules"},
        {
            TABLES[ARM]: as_table(columns.rows(arms), "the roster"),
            TABLES[WORKER]: _setting_out(programme, as_table(workers, "the staff")),
            **read_own_sheets(programme, columns, gone, staff),
        },
        f"{programme.where} [space]",
    )
    rules = Rules()
    if "rules" in programme.space:
        given = content.part(programme.space).section("rules")
        today = given.part(_rules_today(given, arms, everyone, gone, remarks))
        rules = Rules.from_options(today, list(columns.arms), staff)
    content.settle()
    space = read_space(content)
    content.settle()
    more, said = visiting_rules(columns, space, arms, workers, content.found)
    content.settle()
    remarks += said
    rules = columns.rules(rules).and_also(columns.exclusive).and_also(more)
    return space if rules == Rules() else with_rules(space, rules), remarks


def _rules_today(
    content: TableSet,
    arms: Sequence[Member],
    everyone: Iterable[Member],
    gone: set[str],
    remarks: list[str],
) -> dict[str, Any]:
    """Return rules about those who are there; every group of the roster is a group of the rules."""
    rules = dict(content.options)
    groups = {one.group: [o.name for o in arms if o.group == one.group] for one in arms}
    groups |= {
        name: _members(wanted, arms) for name, wanted in content.option("groups", dict, {}).items()
    }
    rules["groups"] = {name: _without(group, gone) for name, group in groups.items()}
    for key in _LISTS:
        if key in rules:
            rules[key] = _without(rules[key], gone)
    if "at_most_one" in rules:
        several = content.option("at_most_one", list)
        rules["at_most_one"] = [_without(names, gone) for names in several]
    floors = [floor for floor in content.option("floors", list, []) if type(floor) is dict]
    known = {*groups, *(one.group for one in everyone)}
    for floor in list(floors):
        name = floor.get("group")
        if name not in known:
            content.found.append(unknown(f"{content.where} floors", sorted(known), str(name)))
        elif not rules["groups"].get(name):
            remarks.append(f"Nobody of {name} is there, so its floor is left out.")
            floors.remove(floor)
    if floors or "floors" in rules:
        rules["floors"] = floors
    return rules


def _members(wanted: Any, arms: Sequence[Member]) -> Any:
    """Return the names of a group that is said by facts, such as ``{ area = "north" }``."""
    if not isinstance(wanted, dict):
        return wanted
    return [
        one.name
        for one in arms
        if all({**one.facts, "group": one.group}.get(key) == str(v) for key, v in wanted.items())
    ]


def _without(names: Any, gone: set[str]) -> Any:
    return [name for name in names if name not in gone] if isinstance(names, list) else names
