"""The commands, each imported when it is called, so that ``sequoia --help`` starts at once.

Other packages add theirs by entry points of the group ``sequoia.commands``: each names a `Late`.
"""

from importlib import import_module
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from sequoia.cli.interrupts import ending_at_once
from sequoia.cli.late import Late
from sequoia.plugins import Parts
from sequoia.version import __version__

_LIBRARY = {
    "make": Late("sequoia.cli.make", "app", "Make a problem of one of the families."),
    "show": Late("sequoia.cli.show", "show", "Say what a problem is, and draw it."),
    "check": Late("sequoia.cli.check", "check", "Say whether a problem can be planned."),
    "train": Late("sequoia.cli.train", "train", "Learn a policy for a problem."),
    "evaluate": Late("sequoia.cli.evaluate", "evaluate_command", "Compare policies fairly."),
    "plan": Late("sequoia.cli.plan", "plan", "Plan today: who does what, when and where."),
    "travel": Late("sequoia.cli.travel", "travel", "Write minutes from place to place."),
    "fit": Late("sequoia.cli.fit", "fit_command", "Estimate transitions from a log."),
    "regret": Late(
        "sequoia.cli.regret", "regret", "Simulate programmes that learn from their own log."
    ),
    "bound": Late("sequoia.cli.bound", "bound", "Bound what any policy can earn."),
    "verify": Late("sequoia.cli.verify", "verify", "Say whether what certificates claim holds."),
    "exact": Late("sequoia.cli.exact", "exact", "Solve a tiny problem exactly."),
    "report": Late(
        "sequoia.cli.report", "report", "Make one page with pictures from an evaluation."
    ),
    "sweep": Late("sequoia.cli.sweep", "app", "Compute a plan of problems, seeds and policies."),
    "demo": Late(
        "sequoia.cli.demo",
        "demo",
        "Learn whom to visit while illness spreads, compare policies, write a page.",
    ),
    "gallery": Late("sequoia.cli.gallery", "gallery", "Play and draw a problem of each family."),
    "solvers": Late(
        "sequoia.cli.solvers", "solvers", "List the solvers, and which of them are here."
    ),
}
# In the order of `sequoia --help`: the library's, then those of other packages.
COMMANDS = Parts("sequoia.commands", _LIBRARY)


class _LateGroup(typer.core.TyperGroup):
    """Knows its commands by name and a line of words, and imports the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is called."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load_command(name), rest


def load_command(name: str) -> Any:
    """Import a command."""
    late = COMMANDS[name]
    with ending_at_once():
        command = getattr(import_module(late.module), late.name)
    if not isinstance(command, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name)(command)
        command = alone
    return typer.main.get_command(command)


app = typer.Typer(
    name="sequoia",
    help="Plan a sequence of combinatorial decisions under uncertainty.",
    cls=_LateGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for _name, _late in COMMANDS.items():
    app.command(_name, help=_late.words)(lambda: None)


@app.callback()
def _sequoia(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"sequoia {__version__}")
    elif ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())
