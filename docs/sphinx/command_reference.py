"""``{command-reference}``: every command with its options, as ``--help`` says them."""

from collections.abc import Iterator
from typing import Any

import typer.main
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

from sequoia.cli.app import COMMANDS, app, load_command


class CommandReference(Directive):
    """Describe all commands."""

    def run(self) -> list[Any]:
        """Write the section of each command."""
        root = typer.main.get_command(app)
        lines = list(_commands(typer.Context(root, info_name="sequoia", **root.context_settings)))
        self.state_machine.insert_input(StringList(lines), "command reference")
        return []


def _commands(context: Any) -> Iterator[str]:
    for name in COMMANDS:
        yield from _command(load_command(name), name, context, "-")


def _command(command: Any, name: str, parent: Any, line: str) -> Iterator[str]:
    context = typer.Context(command, info_name=name, parent=parent)
    title = f"{parent.command_path} {name}"
    yield from (title, line * len(title), "")
    yield from (*(command.help or "").splitlines(), "")
    pieces = " ".join(command.collect_usage_pieces(context))
    yield from (".. code-block:: text", "", f"   {title} {pieces}", "")
    records = [parameter.get_help_record(context) for parameter in command.get_params(context)]
    records = [record for record in records if record is not None]
    if records:
        yield from (".. list-table::", "   :widths: 35 65", "")
        for option, words in records:
            yield from (f"   * - ``{option}``", f"     - {_escaped(words)}")
        yield ""
    for inner in getattr(command, "commands", {}).values():
        yield from _command(inner, inner.name, context, "~")


def _escaped(text: str) -> str:
    for sign in "\\*`|_":
        text = text.replace(sign, f"\\{sign}")
    return text


def setup(app: Any) -> dict[str, bool]:
    """Register this extension."""
    app.add_directive("command-reference", CommandReference)
    return {"parallel_read_safe": True}
