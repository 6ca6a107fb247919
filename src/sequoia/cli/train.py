"""``sequoia train``: learn a policy."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sequoia.cli.common import AsJson, Force, Solver
from sequoia.cli.environments import AnyFile, Instance, load_environment
from sequoia.cli.interrupts import ending_at_once
from sequoia.defaults import PRESET, model_rivals
from sequoia.errors import ConfigError
from sequoia.models.folder import ABOUT, read_about
from sequoia.problem.names import count
from sequoia.progress import is_watched
from sequoia.solvers.registry import DEFAULT

Watch = Callable[[Any], None]

_SUMMARY = ("problem", "start", "reward", "bound", "rounds", "seconds", "gain")


def train(
    file: AnyFile,
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder for the model.")],
    instance: Instance = None,
    preset: Annotated[
        str,
        typer.Option(
            help="default learns in any environment; paper is the paper's algorithm with the "
            "hyper-parameters of its table; or the name of a learner that another package adds.",
        ),
    ] = PRESET,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change one setting of the preset."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    seconds: Annotated[
        float | None,
        typer.Option(help="Processor seconds; no round begins later.", show_default=False),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            help="A policy that the result must not be worse than, such as lookahead.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with what is in the folder.")
    ] = False,
    solver: Solver = DEFAULT,
    force: Force = False,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Write curves for TensorBoard, too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Learn a policy for a problem.

    Interrupted, the same command with --resume goes on and ends with the same weights.
    """
    # Here, because torch takes seconds to import and help does without it.
    with ending_at_once():
        from sequoia.learn import make_config
        from sequoia.learn import train as learn
        from sequoia.learn.checkpoint import NAME as CHECKPOINT
        from sequoia.learn.checkpoint import identity, require_same
        from sequoia.learn.train import Board, refuse_other_work

    problem = load_environment(file, instance)
    config = make_config(preset, **read_settings(settings or ()))
    refuse_other_work(output, resume, force)
    if seconds is not None:
        config = config.of({**config.flat(), "seconds": seconds})
    if resume and (output / ABOUT).exists() and not (output / CHECKPOINT).exists():
        about = read_about(output)
        known = about | about.get("config", {})
        require_same(output / ABOUT, known, identity(problem, config, seed))
        typer.echo(f"{output} is trained already.", err=True)
    else:
        boards: list[Watch] = [Board(output / "tensorboard")] if tensorboard else []
        with watching(output) as show:

            def watch(progress: Any) -> None:
                for watcher in [show, *boards]:
                    watcher(progress)

            options: dict[str, Any] = {"folder": output, "resume": resume, "base": base}
            learn(problem, config, seed, **options, on_event=watch)
    about = read_about(output)
    if as_json:
        summary = {name: about[name] for name in _SUMMARY} | {"solver": solver}
        summary["bound_stopped_by"] = about.get("bound_stopped_by")
        typer.echo(json.dumps(summary, indent=2, ensure_ascii=False))
    else:
        others = ",".join(model_rivals(problem))
        _print(about, file, output, f"{others},{about.get('played_by', 'sequoia')}")


def read_settings(texts: Sequence[str]) -> dict[str, Any]:
    """Return settings written as NAME=VALUE; a value is JSON, such as [32, 32], or a word."""
    values: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise ConfigError(f"--set {text!r} is not NAME=VALUE.")
        try:
            values[name.strip()] = json.loads(value)
        except (ValueError, RecursionError):
            values[name.strip()] = value
    return values


def _print(about: Mapping[str, Any], file: Path, output: Path, policies: str) -> None:
    bound = (
        ""
        if about["bound"] is None
        else f"; no policy earns more than {about['bound']:.4g} on average"
    )
    lines = [
        f"Trained {about['problem']} in {count(about['rounds'], 'round')}, "
        f"{about['seconds']:.0f} s.",
        f"Reward per step in held-out episodes: {about['start']:.4g} at the start, "
        f"{about['reward']:.4g} now{bound}.",
        *([about["structure"]] if about.get("structure") else []),
        f"Wrote {output}; next: sequoia evaluate {file} --policies {policies} --model {output}",
        *_gain_in_words(about),
    ]
    typer.echo("\n".join(lines))
    if about["bound_stopped_by"] == "clock":
        typer.echo("The clock stopped the search for prices, so another machine may learn another.")


def _gain_in_words(about: Mapping[str, Any]) -> list[str]:
    """Say what learning gained over the base policy, or that it gained nothing."""
    if about["gain"] is None:
        return []
    mean, low, high = about["gain"]
    base = about.get("base") or "where it started"
    if low > 0:
        return [f"Gain over {base}: {mean:.3g} ± {high - mean:.2g} per step."]
    return [f"Learning gained nothing that is more than luck over {base}; that policy is kept."]


@contextmanager
def watching(output: Path) -> Iterator[Watch]:
    """Show rounds in lines where there is no bar; when interrupted, say what is kept."""
    last: Any = None
    is_line = not is_watched()

    def show(progress: Any) -> None:
        nonlocal last
        last = progress
        if is_line and progress.round.reward is not None:
            number = f"round {progress.done} of {progress.total}"
            typer.echo(f"Training: {number}: {progress.in_words()}", err=True)

    try:
        yield show
    except KeyboardInterrupt:
        from sequoia.learn.checkpoint import NAME

        if (output / NAME).exists():
            kept = "A checkpoint" if last is None else f"Everything up to round {last.kept}"
            typer.echo(
                f"Stopped. {kept} is kept in {output}; the same command with --resume goes on "
                "from there.",
                err=True,
            )
        raise
