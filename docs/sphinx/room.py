"""``.. room:: sequoia.problem``: everything in a package, module by module, from its docstrings."""

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from typing import Any, ClassVar

from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList
from sphinx.ext.autodoc.mock import mock

import sequoia

_LINES = '-~^"'


class Room(Directive):
    """Describe a package and all that is in it, except what has a page of its own."""

    required_arguments = 1
    option_spec: ClassVar[dict[str, Any]] = {
        "without": directives.unchanged,
        "without-rooms": directives.flag,
    }

    def run(self) -> list[Any]:
        """Write a section for each module."""
        name, without = self.arguments[0], set(self.options.get("without", "").split())
        if "without-rooms" in self.options:
            path = import_module(name).__path__
            without |= {f"{name}.{one.name}" for one in pkgutil.iter_modules(path) if one.ispkg}
        lines = list(_described(name, without, 0))
        self.state_machine.insert_input(StringList(lines), "room")
        return []


def _described(name: str, without: set[str], depth: int) -> Iterator[str]:
    yield from (f".. automodule:: {name}", "")
    package = import_module(name)
    for found in pkgutil.iter_modules(getattr(package, "__path__", [])):
        inner = f"{name}.{found.name}"
        if found.name.startswith("_") or inner in without:
            continue
        title = inner.removeprefix("sequoia.")
        yield from (title, _LINES[depth] * len(title), "")
        yield from _described(inner, without, depth + 1)


def setup(app: Any) -> dict[str, bool]:
    """Register this extension."""
    # Before autodoc describes the first class: it changes annotations of the bases of a class, and
    # settings that are defined after that cannot read theirs.
    with mock(app.config.autodoc_mock_imports):
        for found in pkgutil.walk_packages(sequoia.__path__, "sequoia."):
            import_module(found.name)
    app.add_directive("room", Room)
    return {"parallel_read_safe": True}
