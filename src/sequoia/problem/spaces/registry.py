"""Every kind of space by name, for reading and writing.

Packages add theirs by entry points of ``sequoia.spaces``.
"""

from typing import ClassVar, Protocol

from sequoia.errors import FileError, ProblemError
from sequoia.plugins import Parts
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


class Readable(Protocol):
    """A kind of space that is read from what its ``to_tables`` returns."""

    kind: ClassVar[str]

    @classmethod
    def from_tables(cls, content: TableSet) -> ActionSpace:
        """Build the space."""
        ...


_LIBRARY: tuple[type[Readable], ...] = (
    Assignment,
    Budget,
    Custom,
    Rota,
    Team,
    Walk,
    Schedule,
)
SPACES = Parts("sequoia.spaces", {space.kind: space for space in _LIBRARY})


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
    if kind not in SPACES:
        content.settle()
        raise FileError(
            f"{content.where}, option 'kind' is {kind!r}; known: "
            f"{', '.join(SPACES)}{closest(kind, list(SPACES))}."
        )
    options = {key: value for key, value in content.options.items() if key != "rules"}
    try:
        space = SPACES[kind].from_tables(content.part(options))
    except ProblemError as error:
        raise FileError(f"{content.where}: {error}") from None
    if "rules" not in content.options:
        return space
    rules = Rules.from_options(
        content.section("rules"), space.names, space.worker_names, space.slot_names
    )
    content.settle()
    return with_rules(space, rules)
