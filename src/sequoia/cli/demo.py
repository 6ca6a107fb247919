"""``sequoia demo``: the main job on a problem that comes with the package."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from sequoia.cli.common import Force
from sequoia.cli.evaluate import print_evaluation
from sequoia.cli.progress import showing
from sequoia.cli.train import watching
from sequoia.defaults import PRESET
from sequoia.errors import FileError
from sequoia.evaluation import evaluate, save_evaluation
from sequoia.io import make_folder, refuse_to_replace, write_text
from sequoia.models.folder import load_model
from sequoia.models.model import QFunction
from sequoia.policies import Lrie, Policy, make_policy
from sequoia.problem import Problem, save
from sequoia.problem.families import epidemic
from sequoia.problem.files import holds
from sequoia.problem.summary import lines

# As many rounds as learn most of what there is in a quarter of a minute, and as many episodes as
# tell what is learned from prices.
_ROUNDS, _EPISODES = 7, 100
_SEED = 1
_PEOPLE = (
    *("Ada", "Ben", "Cleo", "Dev", "Elif", "Femi", "Grace", "Hugo", "Ines", "Jun"),
    *("Kofi", "Lena", "Mira", "Noah", "Olga", "Paul", "Quinn", "Rosa", "Sami", "Tara"),
)
_FILES = ("problem.npz", "evaluation.json", "report.html", "demo.html", "comparison.png")
_POLICIES = ("random", "myopic", "lrie", "price", "sequoia")


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder.")] = Path("out/demo"),
    force: Force = False,
) -> None:
    """Learn whom to visit while illness spreads, compare policies, write a page.

    Twenty people in households, five visits a day. A second call uses the trained model of the
    first.
    """
    problem = demo_problem()
    if not holds(output / "problem.npz", problem):
        refuse_to_replace([output / name for name in _FILES], force)
    make_folder(output)
    save(problem, output / "problem.npz", overwrite=True)
    typer.echo(f"{problem.name}: learning whom to visit, then comparing policies.")
    model = _trained(problem, output / "model")
    makers: dict[str, Callable[[Problem], Policy]] = {
        name: Lrie if name == Lrie.name else partial(make_policy, name, model=model)
        for name in _POLICIES
    }
    with showing("Evaluating", "blocks of episodes") as show:
        evaluation = evaluate(
            problem,
            makers,
            _EPISODES,
            bound="factored",
            source="problem.npz",
            on_event=show,
            progress=False,
        )
    save_evaluation(evaluation, output / "evaluation.json")
    print_evaluation(evaluation)
    from sequoia.plots import plot_comparison, save_plot
    from sequoia.report.demo_page import demo_page
    from sequoia.report.report import report

    save_plot(plot_comparison(evaluation), output / "comparison.png")
    write_text(output / "report.html", report(evaluation, problem, lines(problem)))
    learned, ahead = makers["sequoia"](problem), makers["price"](problem)
    write_text(output / "demo.html", demo_page(evaluation, problem, learned, ahead))
    typer.echo(
        f"Open {output}/demo.html: what happened, in three pictures, and what to do next. All "
        f"numbers are in {output}/report.html."
    )


def demo_problem() -> Problem:
    """Return an epidemic among people with names, who live in households of four."""
    nodes = epidemic(arms=len(_PEOPLE), seed=_SEED)
    arms = replace(
        nodes.arms, names=_PEOPLE, state_names=["ill", "well"], dose_names={1.0: "a visit"}
    )
    return replace(nodes, name="twenty people", arms=arms, space=nodes.space.named(_PEOPLE))


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
