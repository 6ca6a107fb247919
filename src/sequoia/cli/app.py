"""The commands, each imported when it is called, so that ``sequoia --help`` starts at once."""

from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
import typer.core
import typer.main

from sequoia.cli.interrupts import ending_at_once
from sequoia.version import __version__


class Late(NamedTuple):
    """Where a command is, and what it does in a line: the first of its own help."""

    module: str
    name: str
    words: str


COMMANDS = {
    "make": Late("make", "app", "Make a problem of one of the families."),
    "show": Late("show", "show", "Say what a problem is, and draw it."),
    "check": Late("check", "check", "Say whether a problem can be planned."),
    "train": Late("train", "train", "Learn a policy for a problem."),
    "evaluate": Late("evaluate", "evaluate_command", "Compare policies fairly."),
    "plan": Late("plan", "plan", "Plan today: who does what, when and where."),
    "programme": Late("programme", "app", "Keep a programme: roster, log and plans, day by day."),
    "serve": Late("serve", "serve", "Open a programme as a page in the browser, until Ctrl-C."),
    "fit": Late("fit", "fit_command", "Estimate transitions from a log."),
    "regret": Late("regret", "regret", "Simulate programmes that learn from their own log."),
    "bound": Late("bound", "bound", "Bound what any policy can earn."),
    "exact": Late("exact", "exact", "Solve a tiny problem exactly."),
    "report": Late("report", "report", "Make one page with pictures from an evaluation."),
    "sweep": Late("sweep", "app", "Compute a plan of problems, seeds and policies."),
    "reproduce": Late(
        "reproduce", "reproduce", "Run the paper's experiment and draw its figures and tables."
    ),
    "demo": Late("demo", "demo", "Train on a built-in problem, compare policies, write a report."),
    "gallery": Late("gallery", "gallery", "Play and draw a problem of each family."),
    "solvers": Late("solvers", "solvers", "List the solvers, and which of them are here."),
}


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
        found = getattr(import_module(f"sequoia.cli.{late.module}"), late.name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(name)(found)
        found = alone
    return typer.main.get_command(found)


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
