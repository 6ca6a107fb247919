"""``sequoia check``: whether a problem can be planned."""

import typer
from rich.console import Console
from rich.text import Text

from sequoia.cli.environments import AnyFile, Instance, load_environment
from sequoia.cli.errors import MENDABLE
from sequoia.problem import Environment, capabilities_of
from sequoia.problem.diagnose import Mark, diagnose

_COLOURS = {Mark.OK: "green", Mark.NOTE: "yellow", Mark.PROBLEM: "bold red"}


def check(file: AnyFile, instance: Instance = None) -> None:
    """Say whether a problem can be planned.

    One line per finding: ok, a note, or a problem. The exit code is 2 when it cannot be planned;
    otherwise its optional abilities follow, and what each adds.
    """
    console = Console(highlight=False)
    problem = load_environment(file, instance)
    findings = []
    for finding in diagnose(problem, file):
        findings.append(finding)
        mark = Text(f"{finding.mark.value:<8}", style=_COLOURS[finding.mark])
        console.print(mark + finding.text, soft_wrap=True)
    if any(finding.mark is Mark.PROBLEM for finding in findings):
        raise typer.Exit(MENDABLE)
    _print_abilities(console, problem)


def _print_abilities(console: Console, environment: Environment) -> None:
    """Print the optional abilities of an environment: found or missing, and what each adds."""
    table = capabilities_of(environment).table()
    width = max(len(ability.name) for ability in table)
    console.print(f"\n{'ability':<{width}}  found  adds")
    for name, is_offered, adds in table:
        answer = "yes" if is_offered else "no"
        console.print(f"{name:<{width}}  {answer:<5}  {adds}", soft_wrap=True)
