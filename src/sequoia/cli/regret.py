"""``sequoia regret``: what it costs to learn the transitions on the job."""

import csv
import io
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from sequoia.cli.common import AsJson, File, Force, print_json
from sequoia.evaluation.intervals import Estimate
from sequoia.io import refuse_to_replace, write_text
from sequoia.problem import load
from sequoia.problem.names import count
from sequoia.records import Regret, Seen, Structure
from sequoia.records import regret as find_regret
from sequoia.records.learners import LEARNERS

_SEEN = {"always": Seen(1.0), "visits": Seen()}
_CHECKPOINTS = (50, 200)


def regret(
    file: File,
    steps: Annotated[int, typer.Option(help="Steps of a programme.", min=1)] = 50,
    episodes: Annotated[int, typer.Option(help="Programmes to play.", min=1)] = 10,
    learner: Annotated[
        list[str] | None,
        typer.Option(help=f"One of {', '.join(LEARNERS)}; all that apply unless given."),
    ] = None,
    seen: Annotated[
        Literal["always", "visits"],
        typer.Option(help="Whether states are seen in every step, or at visits only."),
    ] = "always",
    every: Annotated[int, typer.Option(help="Steps between two looks at the log.", min=1)] = 5,
    never_hurts: Annotated[
        bool, typer.Option("--never-hurts", help="Learners know that a larger dose never hurts.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    table: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Where to write regret by step.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(metavar="FILE.png", help="Where to draw it.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Simulate programmes that learn from their own log.

    Each is compared with one that knows the transitions of FILE, under the same luck.
    """
    refuse_to_replace([path for path in (table, picture) if path is not None], force)
    problem = load(file)
    result = find_regret(
        problem,
        learner,
        steps=steps,
        episodes=episodes,
        seen=_SEEN[seen],
        every=every,
        structure=Structure(never_hurts=never_hurts),
        seed=seed,
    )
    if table is not None:
        write_text(table, _csv(result))
    if picture is not None:
        # Pictures cost half a second of imports, which nobody else should pay.
        from sequoia.plots import plot_regret, save_plot

        save_plot(plot_regret(result), picture)
    points = sorted({step for step in _CHECKPOINTS if step < steps} | {steps})
    if as_json:
        print_json(_content(result, points))
        return
    typer.echo(f"{problem.name}: {count(episodes, 'programme')} of {count(steps, 'step')}")
    shown = Table("learner", *(f"regret after {step}" for step in points), "of what truth earns")
    for name in result.names:
        cells = [str(result.at(name, step)) for step in points]
        shown.add_row(name, *cells, _percent(result.share(name, steps)))
    Console().print(shown)
    typer.echo("± is 95 %.")


def _percent(share: Estimate) -> str:
    return f"{Estimate(100 * share.mean, 100 * share.low, 100 * share.high)} %"


def _content(result: Regret, points: list[int]) -> dict[str, object]:
    return {
        "problem": result.problem,
        "steps": result.truth.shape[1],
        "episodes": result.truth.shape[0],
        "truth_per_step": float(result.truth.mean()),
        "regret": {
            name: {
                str(step): {"mean": share.mean, "low": share.low, "high": share.high}
                for step in points
                if (share := result.at(name, step))
            }
            for name in result.names
        },
    }


def _csv(result: Regret) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["learner", "episode", "step", "regret"])
    for name, lost in zip(result.names, result.cumulative, strict=True):
        for episode, curve in enumerate(lost):
            for step, value in enumerate(curve, start=1):
                writer.writerow([name, episode, step, f"{value:.6g}"])
    return text.getvalue()
