"""Every kind of space by name, for reading and writing."""

from collections.abc import Callable

from sequoia.errors import FileError, ProblemError
from sequoia.problem.names import closest
from sequoia.problem.rules import Rules
from sequoia.problem.spaces.assignment import Assignment
from sequoia.problem.spaces.base import ActionSpace
from sequoia.problem.spaces.budget import Budget
from sequoia.problem.spaces.custom import Custom
from sequoia.problem.spaces.rota import Rota
from sequoia.problem.spaces.ruled import with_rules
from sequoia.problem.spaces.schedule import Schedule
from sequoia.problem.spaces.team import Team
from sequoia.problem.spaces.walk import Walk
from sequoia.problem.tables import TableSet

_READERS: dict[str, Callable[[TableSet], ActionSpace]] = {
    space.kind: space.from_tables
    for space in (
        Assignment,
        Budget,
        Custom,
        Rota,
        Team,
        Walk,
        Schedule,
    )
}


def write_space(space: ActionSpace) -> TableSet:
    """Return the options and tables of ``space``, its kind and its rules among the options."""
    content = space.base.to_tables()
    options = {"kind": space.base.kind, **content.options}
    if space.rules != Rules():
        options["rules"] = space.rules.to_options()
    return TableSet(options, content.tables)


def read_space(content: TableSet) -> ActionSpace:
    """Build a space from what `write_space` returns."""
    kind = content.option("kind", str)
    if kind not in _READERS:
        content.settle()
        raise FileError(
            f"{content.where}, option 'kind' is {kind!r}; known: "
            f"{', '.join(_READERS)}{closest(kind, list(_READERS))}."
        )
    own = {key: value for key, value in content.options.items() if key != "rules"}
    try:
        space = _READERS[kind](content.part(own))
    except ProblemError as error:
        raise FileError(f"{content.where}: {error}") from None
    if "rules" not in content.options:
        return space
    rules = Rules.from_options(
        content.section("rules"), space.names, space.worker_names, space.slot_names
    )
    content.settle()
    return with_rules(space, rules)
