"""``sequoia gallery``: a problem of each family, played at random and drawn."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from sequoia.cli.common import Force
from sequoia.evaluation.intervals import estimate
from sequoia.io import make_folder, refuse_to_replace
from sequoia.policies import Idle, Random
from sequoia.problem import Problem, save
from sequoia.problem.families import FAMILIES
from sequoia.problem.files import holds
from sequoia.simulate import Scenarios, Trajectory, rollout
from sequoia.validation import FloatArray

_EPISODES = 20
_EXTRAS = ("interventions-links", "underground")
_COLUMNS = ("family", "arms", "columns", "rows", "doing nothing", "at random")


def gallery(
    output: Annotated[Path, typer.Option("--output", "-o", help="A folder.")] = Path("out/gallery"),
    force: Force = False,
) -> None:
    """Play and draw a problem of each family.

    Random actions against doing nothing; problems and pictures go to a folder.
    """
    _refuse_others(output, force)
    make_folder(output)
    console = Console(highlight=False)
    table = Table(*_COLUMNS, box=None, title="Reward per step", title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    with console.status("Playing and drawing …"):
        for name, family in FAMILIES.items():
            problem = family()
            save(problem, output / f"{name}.npz", overwrite=True)
            idle, random = _play(problem)
            system = problem.space.system
            sizes = (problem.arms.n_arms, system.n_columns, system.n_rows)
            table.add_row(name, *map(str, sizes), _mean(idle.rewards), _mean(random.rewards))
            _draw(name, problem, random, output)
        _draw_extras(output)
    console.print(table)
    console.print(
        f"{_EPISODES} episodes each, the same luck for both; ± is a 95 % confidence interval.\n"
        f"Columns and rows are those of the paper's form.",
    )
    console.print(
        f"Problems and pictures are in {output}; try:\n  sequoia show {output}/capacity.npz",
        soft_wrap=True,
    )


def _refuse_others(output: Path, force: bool) -> None:
    """Raise where files of others would be replaced; by its first problem a gallery is known."""
    first = next(iter(FAMILIES))
    if holds(output / f"{first}.npz", FAMILIES[first]()):
        return
    pictures = [*FAMILIES, *(f"{name}-episode" for name in FAMILIES), *_EXTRAS]
    problems = [output / f"{name}.npz" for name in FAMILIES]
    refuse_to_replace([*problems, *(output / f"{name}.png" for name in pictures)], force)


def _play(problem: Problem) -> tuple[Trajectory, Trajectory]:
    """Return what happens when nothing is done, and when random actions are taken."""
    scenarios = Scenarios.sample(problem, _EPISODES, seed=0)
    idle, random = (rollout(problem, policy(problem), scenarios) for policy in (Idle, Random))
    return idle, random


def _mean(rewards: FloatArray) -> str:
    """Say the mean over episodes with its 95 % confidence interval."""
    return str(estimate(rewards.mean(axis=1)))


def _draw(name: str, problem: Problem, played: Trajectory, output: Path) -> None:
    from sequoia.plots import plot_episode, plot_problem, save_plot

    save_plot(plot_problem(problem), output / f"{name}.png")
    save_plot(plot_episode(played.episode(0), problem), output / f"{name}-episode.png")


def _draw_extras(output: Path) -> None:
    """Draw the link curves and the map with its nested subsets."""
    from sequoia.plots import plot_sigmoid, plot_underground, save_plot
    from sequoia.problem.underground import underground

    links, whole = (output / f"{name}.png" for name in _EXTRAS)
    save_plot(plot_sigmoid(FAMILIES["interventions"]()), links)
    save_plot(plot_underground(underground()), whole)
