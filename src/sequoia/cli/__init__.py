"""The command: the only place that prints."""

import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from sequoia.cli.bound import bound
from sequoia.cli.demo import demo
from sequoia.cli.errors import run
from sequoia.cli.evaluate import evaluate_command
from sequoia.cli.gallery import gallery
from sequoia.cli.make import app as make
from sequoia.cli.plan import plan
from sequoia.cli.problem import check, exact, show
from sequoia.cli.report import report
from sequoia.cli.reproduce import reproduce
from sequoia.cli.solvers import solvers
from sequoia.cli.sweep import app as sweep
from sequoia.cli.train import train
from sequoia.version import __version__

app = typer.Typer(
    name="sequoia",
    help="Plan a sequence of combinatorial decisions under uncertainty.",
    add_completion=False,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(make)
app.command()(show)
app.command()(check)
app.command()(exact)
app.command()(bound)
app.command()(train)
app.command()(demo)
app.command()(gallery)
app.command()(solvers)
app.command("evaluate")(evaluate_command)
app.command()(plan)
app.command()(report)
app.add_typer(sweep)
app.command()(reproduce)


@app.callback()
def _sequoia(
    ctx: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"sequoia {__version__}")
    elif ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command on ``arguments``, those of the process unless given, and exit."""
    sys.exit(run(app, arguments))


__all__ = ["app", "main"]
