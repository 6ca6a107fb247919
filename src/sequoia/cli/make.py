"""``sequoia make``: one sub-command per family, its options read off the family's signature."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from sequoia.cli.common import Force
from sequoia.problem import Assortment, Problem, save
from sequoia.problem.families import EVERY
from sequoia.problem.families.networks import read_graph
from sequoia.problem.families.routing import route_on, routing

app = typer.Typer(
    name="make",
    help="Make a problem of one of the families.",
    invoke_without_command=True,
    add_completion=False,
    rich_markup_mode=None,
)

Output = Annotated[
    Path, typer.Option("--output", "-o", help="Where to write: FILE.npz, or the name of a folder.")
]
Edges = Annotated[
    Path | None,
    typer.Option(help="A graph of your own: CSV with the columns from, to and maybe length."),
]
Source = Annotated[
    str | None, typer.Option(help="Where walks on your own graph begin and end; its first node.")
]


@app.callback()
def _make(ctx: typer.Context) -> None:
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


Made = Problem | Assortment


def _write(problem: Made, output: Path, force: bool) -> None:
    save(problem, output, overwrite=force)
    typer.echo(f"Wrote {output}: {problem.name} (fingerprint {problem.fingerprint}).")


def _knobs(family: Callable[..., Made]) -> list[inspect.Parameter]:
    """Return the family's arguments as options; its annotations hold the help texts."""
    knobs = []
    for knob in inspect.signature(family).parameters.values():
        kind, words = get_args(knob.annotation)
        option = typer.Option(help=f"{words[0].upper()}{words[1:]}.")
        annotation: Any = Annotated[kind, option]
        knobs.append(
            knob.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation),
        )
    return knobs


def _command(family: Callable[..., Made]) -> Callable[..., None]:
    def make(*, output: Path, force: bool, **knobs: Any) -> None:
        _write(family(**knobs), output, force)

    return _with_options(make, family)


def _routing_command() -> Callable[..., None]:
    def make(
        *,
        ctx: typer.Context,
        edges: Path | None,
        source: str | None,
        output: Path,
        force: bool,
        **knobs: Any,
    ) -> None:
        if edges is None:
            if source is not None:
                raise typer.BadParameter("--source goes with --edges.")
            return _write(routing(**knobs), output, force)
        for knob in ("arms", "longest_edge"):
            given = ctx.get_parameter_source(knob)
            if given is not None and given.name == "COMMANDLINE":
                flag = f"--{knob.replace('_', '-')}"
                raise typer.BadParameter(f"{flag} does not go with --edges; the graph decides.")
            del knobs[knob]
        graph = read_graph(edges, "length")
        start = source if source is not None else next(iter(graph.nodes))
        return _write(route_on(graph, start, **knobs), output, force)

    return _with_options(
        make,
        routing,
        inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context),
        _keyword("edges", Edges, None),
        _keyword("source", Source, None),
    )


def _with_options(
    make: Callable[..., None], family: Callable[..., Made], *more: inspect.Parameter
) -> Callable[..., None]:
    """Give ``make`` the signature of ``family``, for Typer to read."""
    where = inspect.Parameter("output", inspect.Parameter.KEYWORD_ONLY, annotation=Output)
    signature = inspect.Signature([*more, *_knobs(family), where, _keyword("force", Force, False)])
    make.__signature__ = signature  # type: ignore[attr-defined]
    make.__annotations__ = {name: knob.annotation for name, knob in signature.parameters.items()}
    return make


def _keyword(name: str, annotation: Any, default: object) -> inspect.Parameter:
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
    )


for _name, _family in EVERY.items():
    _words = (_family.__doc__ or "").partition("\n")[0]
    app.command(_name, help=_words, short_help=_words.partition(":")[0])(
        _routing_command() if _family is routing else _command(_family)
    )
