"""Every kind of space by name, for reading and writing."""

from collections.abc import Callable

from sequoia.errors import FileError
from sequoia.problem.rules import Rules
from sequoia.problem.sheets import Sheets
from sequoia.problem.spaces.assignment import Assignment
from sequoia.problem.spaces.budget import Budget
from sequoia.problem.spaces.custom import Custom
from sequoia.problem.spaces.path import Path
from sequoia.problem.spaces.ruled import with_rules
from sequoia.problem.spaces.schedule import Schedule
from sequoia.problem.spaces.space import ActionSpace

_READERS: dict[str, Callable[[Sheets], ActionSpace]] = {
    space.kind: space.from_sheets for space in (Assignment, Budget, Custom, Path, Schedule)
}


def write_space(space: ActionSpace) -> Sheets:
    """Return the options and tables of ``space``, its kind and its rules among the options."""
    sheets = space.base.to_sheets()
    options = {"kind": space.base.kind, **sheets.options}
    if space.rules != Rules():
        options["rules"] = space.rules.to_options()
    return Sheets(options, sheets.tables)


def read_space(sheets: Sheets) -> ActionSpace:
    """Build a space from what `write_space` returns."""
    kind = sheets.option("kind", str)
    if kind not in _READERS:
        raise FileError(f"{sheets.where}, option 'kind' is {kind!r}; known: {', '.join(_READERS)}.")
    own = {key: value for key, value in sheets.options.items() if key != "rules"}
    space = _READERS[kind](Sheets(own, sheets.tables, sheets.where))
    if "rules" in sheets.options:
        return with_rules(space, Rules.from_options(sheets.section("rules")))
    return space
