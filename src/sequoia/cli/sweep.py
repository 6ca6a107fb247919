"""``sequoia sweep``: problems × seeds × policies, on one machine or on a cluster."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core
from rich.console import Console
from rich.table import Table

from sequoia.cli.common import Force
from sequoia.cli.progress import showing
from sequoia.errors import ProblemError
from sequoia.evaluation.blocks import Progress
from sequoia.problem.names import count, roughly
from sequoia.sweep import Plan, Swept, read_plan, run_locally
from sequoia.sweep import status as find_status
from sequoia.sweep import sweep as compute
from sequoia.sweep.executor import Executor
from sequoia.sweep.folder import NUMBERS, TIMES

SOME_FAILED = 1


class _RunUnlessTold(typer.core.TyperGroup):
    """Take a first word that is no sub-command for the plan of ``run``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put ``run`` in front where it is left out."""
        is_said = not args or args[0] in (*self.commands, "-h", "--help")
        return super().parse_args(ctx, args if is_said else ["run", *args])


app = typer.Typer(
    name="sweep",
    help="Compute a plan of problems, seeds and policies: sequoia sweep PLAN.toml -o FOLDER.",
    cls=_RunUnlessTold,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Output = Annotated[Path, typer.Option("--output", "-o", help="The results folder.")]
Jobs = Annotated[
    int | None, typer.Option(help="Number of processes; all cores unless given.", min=1)
]
OnRay = Annotated[
    str | None,
    typer.Option(
        "--ray", metavar="WHERE", help="Compute on Ray: auto, the ADDRESS of a cluster, or local."
    ),
]


@app.command()
def run(
    plan: Annotated[Path, typer.Argument(metavar="PLAN.toml", help="What to compute.")],
    output: Output,
    jobs: Jobs = None,
    ray: OnRay = None,
    force: Force = False,
) -> None:
    """Compute a plan; the word run can be left out.

    Interrupted, the same command goes on where it stopped. What is done is not done again.
    """
    swept = sweep_to(read_plan(plan), output, jobs, ray, force)
    typer.echo(f"Wrote {output / NUMBERS} and {output / TIMES}: {count(swept.done, 'cell')}.")
    if swept.failed:
        raise typer.Exit(SOME_FAILED)


@app.command()
def status(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The results folder.")],
) -> None:
    """Say how far a sweep is."""
    progress = find_status(folder)
    table = Table("cells", "", box=None)
    table.columns[0].justify = "right"
    for number, what in (
        (progress.done, "done"),
        (len(progress.running), "running"),
        (len(progress.failed), "failed"),
        (progress.left, "left"),
    ):
        table.add_row(str(number), what)
    console = Console(highlight=False)
    console.print(table)
    for key, seconds in progress.running.items():
        console.print(f"running  {key}: since {roughly(seconds)}", soft_wrap=True)
    for key, error in progress.failed.items():
        console.print(f"failed   {key}: {error}", soft_wrap=True, markup=False)
    if progress.seconds_left is None:
        console.print("Time left: not known before the first cell is done.")
    elif progress.left or progress.running:
        state = "" if progress.running else ", once it is started again"
        console.print(f"Time left: {roughly(progress.seconds_left)}{state}.")


def sweep_to(
    plan: Plan, output: Path, jobs: int | None, ray: str | None, force: bool = False
) -> Swept:
    """Compute a plan, show how far it is, and say what failed."""
    if ray is not None and jobs is not None and ray != "local":
        raise ProblemError("--jobs goes with this machine or --ray local; a cluster has its own.")
    cores = jobs or os.cpu_count() or 1
    with _executor(ray, cores) as (executor, width), _watching(output) as on_event:
        swept = compute(plan, output, executor, width, on_event, force)
    for key, error in swept.failed.items():
        typer.echo(f"Failed: {key}: {error.strip().splitlines()[-1]}", err=True)
    if swept.failed:
        typer.echo(
            f"{count(len(swept.failed), 'cell')} failed; the errors are in "
            f"{output}/cells/*/error.txt. The same command tries them again.",
            err=True,
        )
    return swept


@contextmanager
def _executor(ray: str | None, jobs: int) -> Iterator[tuple[Executor, int]]:
    """Yield where cells are computed, and how many at once."""
    if ray is None:
        yield partial(run_locally, jobs=jobs), jobs
        return
    from sequoia.sweep.ray import connected, run_on_ray

    with connected(ray, jobs) as width:
        yield run_on_ray, width


@contextmanager
def _watching(output: Path) -> Iterator[Callable[[Progress], None]]:
    """Show how far it is; when it is interrupted, say what is kept."""
    try:
        with showing("Sweeping", "cells") as show:
            yield show
    except KeyboardInterrupt:
        typer.echo(
            f"Stopped. What is done is kept in {output}; the same command goes on from there.",
            err=True,
        )
        raise
