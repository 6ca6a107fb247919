"""``sequoia demo``: the main job on a problem that comes with the package."""

from pathlib import Path
from typing import Annotated

import typer

from sequoia.cli.common import Force
from sequoia.cli.evaluate import print_evaluation
from sequoia.cli.progress import showing
from sequoia.cli.train import watching
from sequoia.defaults import EPISODES, PRESET
from sequoia.errors import FileError
from sequoia.evaluation import evaluate, save_evaluation
from sequoia.io import make_folder, refuse_to_replace, write_text
from sequoia.models.folder import load_model
from sequoia.models.model import QFunction
from sequoia.problem import Problem, save
from sequoia.problem.families import capacity
from sequoia.problem.files import holds
from sequoia.problem.summary import lines

_ARMS = 20
_ROUNDS = 12
_FILES = ("problem.npz", "evaluation.json", "report.html")
_POLICIES = (
    "random",
    "sampling",
    "iterative-myopic",
    "myopic",
    "iterative-dqn",
    "price",
    "sequoia",
)


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder.")] = Path("out/demo"),
    force: Force = False,
) -> None:
    """Train on a built-in problem, compare policies, write a report.

    Five workers of limited capacity, twenty patients, twenty days. A second call uses the trained
    model of the first.
    """
    problem = capacity(arms=_ARMS)
    if not holds(output / "problem.npz", problem):
        refuse_to_replace([output / name for name in _FILES], force)
    make_folder(output)
    save(problem, output / "problem.npz", overwrite=True)
    typer.echo(f"{problem.name}: learning whom to visit, then comparing policies.")
    q = _trained(problem, output / "model")
    with showing("Evaluating", "blocks of episodes") as show:
        found = evaluate(
            problem, _POLICIES, EPISODES, model=q, bound="hull", source="problem.npz", on_event=show
        )
    save_evaluation(found, output / "evaluation.json")
    print_evaluation(found)
    from sequoia.report.report import report

    write_text(output / "report.html", report(found, problem, lines(problem)))
    typer.echo(
        f"Open {output}/report.html. The same by hand:\n"
        f"  sequoia make capacity --arms {_ARMS} -o cap{_ARMS}.npz\n"
        f"  sequoia train cap{_ARMS}.npz -o model\n"
        f"  sequoia evaluate cap{_ARMS}.npz --policies {','.join(_POLICIES)} --model model\n"
        "The planner's page, with a programme that is ready: sequoia serve --demo"
    )


def _trained(problem: Problem, folder: Path) -> QFunction:
    """Return the model in ``folder``, or train one."""
    try:
        return load_model(folder, problem)
    except FileError:
        pass
    from sequoia.learn import make_config, train

    config = make_config(PRESET, rounds=_ROUNDS)
    with watching(folder) as show:
        return train(problem, config, folder=folder, resume=True, on_event=show).model
