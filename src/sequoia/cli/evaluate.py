"""``sequoia evaluate``: compare policies under the same luck."""

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from sequoia.cli.common import AsJson, Force, Solver
from sequoia.cli.environments import AnyFile, Instance, is_named, is_own, load_environment
from sequoia.cli.progress import showing
from sequoia.defaults import COMPARED, COMPARED_WITHOUT_ARMS, EPISODES, ROLLOUTS, compared_policies
from sequoia.errors import FileError, ProblemError
from sequoia.evaluation import Evaluation, Progress, evaluate, save_evaluation
from sequoia.evaluation.blocks import BlockCache
from sequoia.evaluation.evaluate import BoundKind
from sequoia.evaluation.evaluation import per_step
from sequoia.evaluation.verdict import cut_off, verdict
from sequoia.io import clear_unfinished, refuse_to_replace
from sequoia.models.folder import load_model
from sequoia.policies import POLICIES, Policy, QFunction, make_policy
from sequoia.problem import Environment, Problem, capabilities_of, space_at
from sequoia.problem.names import count, duration
from sequoia.problem.perturbed import perturbed
from sequoia.solvers.registry import DEFAULT

_WIDTH = 100
# Beside misled policies, one that knows the world.
_TOLD = "price-told"

Model = Annotated[
    Path | None, typer.Option(metavar="DIR", help="A trained model, for those that need one.")
]


def evaluate_command(
    file: AnyFile,
    instance: Instance = None,
    policies: Annotated[
        str | None,
        typer.Option(
            metavar="NAMES",
            help=f"Some of {', '.join(POLICIES)}; {','.join(COMPARED)} unless given, "
            f"{','.join(COMPARED_WITHOUT_ARMS)} where there are no arms.",
            show_default=False,
        ),
    ] = None,
    model: Model = None,
    episodes: Annotated[int, typer.Option(help="Number of episodes.")] = EPISODES,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    jobs: Annotated[int, typer.Option(help="Number of processes.")] = 1,
    rollouts: Annotated[
        int, typer.Option(min=1, help="Rollouts of one decision, for lookahead.")
    ] = ROLLOUTS,
    bound: Annotated[
        BoundKind, typer.Option(help="Which upper bound to print beside it.")
    ] = "auto",
    perturb: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            min=0,
            max=1,
            help="Play in a world whose transitions differ from the file by up to this share of "
            "all chance, which policies do not know; price-told does.",
        ),
    ] = None,
    solver: Solver = DEFAULT,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write: FILE.json.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Compare policies fairly.

    Same starts and same luck for all. Interrupted, the same command goes on where it stopped.
    """
    problem = load_environment(file, instance)
    if jobs > 1 and is_own(file):
        raise ProblemError("an environment of your own is evaluated in one process, not in --jobs.")
    trained = None if model is None else load_model(model, problem)
    if policies is None:
        names = _usual_policies(problem, trained is not None)
    else:
        names = [name.strip() for name in policies.split(",") if name.strip()]
    _check_output(output, force)
    world: Environment = problem
    makers: Sequence[str] | dict[str, Callable[[Any], Policy]] = names
    if perturb is not None:
        world = perturbed(_with_arms(problem), perturb, seed)
        makers = misled(names, problem, trained, rollouts) | {_TOLD: partial(make_policy, "price")}
    question = [world.fingerprint, names, episodes, seed, rollouts, str(model), solver]
    cache = BlockCache(_work_folder(output, question))
    is_path = output is not None and not is_named(file)
    source = os.path.relpath(file, output.parent) if output and is_path else str(file)
    with cache.locked(), _watching(cache) as on_event:
        evaluation = evaluate(
            world,
            makers,
            episodes,
            seed,
            model=trained,
            jobs=jobs,
            bound=bound,
            rollouts=rollouts,
            work=cache.folder,
            source=source,
            on_event=on_event,
            progress=False,
        )
        if output is not None:
            save_evaluation(evaluation, output)
        cache.clear()
    if as_json:
        typer.echo(json.dumps(evaluation.to_json(), indent=2, ensure_ascii=False))
        return
    print_evaluation(evaluation)
    if output is not None:
        pictures = f"; for pictures: sequoia report {output} -o report.html"
        typer.echo(f"Wrote {output}{'.' if capabilities_of(problem).problem is None else pictures}")


def _with_arms(environment: Environment) -> Problem:
    """Return a problem of arms, or say that only those have transitions to perturb."""
    arms = capabilities_of(environment).problem
    if arms is None:
        raise ProblemError(f"--perturb needs a problem of arms; {environment.name} has none.")
    return arms


def misled(
    names: Sequence[str], problem: Environment, model: QFunction | None, rollouts: int
) -> dict[str, Callable[[Any], Policy]]:
    """Return policies that plan for ``problem``, whatever world they are played in."""
    return {name: partial(_for, problem, name, model, rollouts) for name in names}


def _for(
    problem: Environment, name: str, model: QFunction | None, rollouts: int, world: Environment
) -> Policy:  # the world is what they do not know
    del world
    return make_policy(name, problem, model, rollouts=rollouts)


def _usual_policies(problem: Environment, has_model: bool) -> list[str]:
    """Return the policies that apply; say which usual one does not."""
    names = compared_policies(problem, has_model=has_model)
    first = space_at(problem, problem.draw_start(np.random.default_rng(0), 1)[0], 0)
    if first.system.violations(first.idle):
        names.remove("idle")
        typer.echo("idle is left out: doing nothing is not allowed.", err=True)
    return names


def _check_output(output: Path | None, force: bool) -> None:
    """Say early what would be said after the work."""
    if output is None:
        return
    if output.suffix != ".json":
        raise FileError(f"{output} ends in {output.suffix!r}; .json is wanted.")
    if not output.parent.is_dir():
        raise FileError(f"{output.parent} is not a folder; make it first.")
    refuse_to_replace([output], force)
    clear_unfinished(output.parent)


def _work_folder(output: Path | None, question: Sequence[object]) -> Path:
    """Return where finished pieces are kept: beside the output, else among the user's caches."""
    if output is not None:
        return output.with_name(f"{output.name}.parts")
    caches = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    here = hashlib.sha256(json.dumps([str(Path.cwd()), *question]).encode()).hexdigest()[:16]
    return caches / "sequoia" / f"{here}.parts"


@contextmanager
def _watching(cache: BlockCache) -> Iterator[Callable[[Progress], None]]:
    """Show how far it is; when it is interrupted, say what is kept."""
    last: Progress | None = None
    try:
        with showing("Evaluating", "blocks of episodes") as show:

            def watch(progress: Progress) -> None:
                nonlocal last
                if progress.kept and last is None:
                    typer.echo(f"Picked up {count(progress.kept, 'finished block')}.", err=True)
                last = progress
                show(progress)

            yield watch
    except KeyboardInterrupt:
        if last is not None:
            typer.echo(
                f"Stopped. {last.done} of {last.total} blocks are kept in {cache.folder}; the "
                "same command goes on from there.",
                err=True,
            )
        raise


def print_evaluation(evaluation: Evaluation) -> None:
    """Print the table of an evaluation, and what it says."""
    console = Console(highlight=False)
    console.width = max(console.width, _WIDTH)
    console.print(_table(evaluation))
    if evaluation.bound is not None:
        late = ", stopped by the clock" if evaluation.bound.stopped_by == "clock" else ""
        _say(
            console,
            f"No policy earns more than {per_step(evaluation.bound, 4)} per step on average "
            f"({evaluation.bound.kind} bound{late}).",
        )
    _say(
        console,
        f"{count(evaluation.n_episodes, 'episode')}, the same luck for all; ± is a 95 % confidence "
        "interval.",
    )
    if evaluation.is_at_limit.any():
        _say(
            console,
            "Cut off: decisions that a limit ended; the gap, on average and at most, is how far "
            "they may be from the best by what the policy maximises."
            + (
                " Those by the clock may differ on another machine."
                if evaluation.is_late.any()
                else ""
            ),
        )
    words = verdict(evaluation)
    if words.use:
        _say(console, " ".join(filter(None, (words.use, words.others, words.learning))))


def _table(evaluation: Evaluation) -> Table:
    """Return a row per policy; decisions that were cut off have a column where there are any."""
    heads = [
        "policy",
        "reward per step",
        "× random",
        "% of bound",
        "time",
        f"minus {evaluation.best}",
    ]
    has_cut_off = bool(evaluation.is_at_limit.any())
    heads += ["cut off"] if has_cut_off else []
    table = Table(*heads, box=None, title=evaluation.problem, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    for name in evaluation.names:
        relative, percent = evaluation.relative_to_random(name), evaluation.percent_of_bound(name)
        table.add_row(
            name,
            str(evaluation.mean(name)),
            "–" if relative is None else f"{relative:.2f}",
            "–" if percent is None else f"{percent:.1f}",
            duration(evaluation.ms_per_decision(name) / 1000),
            "" if name == evaluation.best else str(evaluation.paired(name, evaluation.best)),
            *([cut_off(evaluation, name)] if has_cut_off else []),
        )
    return table


def _say(console: Console, text: str) -> None:
    console.print(text, soft_wrap=True, markup=False)
