"""``sequoia plan`` for an environment that is no problem of arms: what to do in a state."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import typer

from sequoia.cli.common import print_json
from sequoia.errors import FileError
from sequoia.evaluation.evaluation import number
from sequoia.io import write_text
from sequoia.models.folder import load_model
from sequoia.planning.plan import Plan, plan_state
from sequoia.policies.registry import policy_called
from sequoia.problem import Environment, capabilities_of
from sequoia.problem.capabilities import component_names
from sequoia.problem.environment import States
from sequoia.problem.names import count, index_of
from sequoia.problem.spreadsheet import csv_text, read_spreadsheet


def plan_any(
    environment: Environment,
    sheet: Path | None,
    policy: str | None,
    model: Path | None,
    seconds: float,
    output: Path | None,
    as_json: bool,
) -> None:
    """Say what to do in the state of a sheet, or in the first state."""
    q = None if model is None else load_model(model, environment)
    first = environment.draw_start(np.random.default_rng(0), 1)[0]
    state = first if sheet is None else read_state(sheet, environment, first)
    made = plan_state(environment, state, policy, model=q, seconds=seconds)
    objective, proof = policy_called(made.policy).objective, made.proof
    content = {
        "problem": environment.name,
        "fingerprint": environment.fingerprint,
        "policy": made.policy,
        "action": environment.space.chosen(made.decision.action),
        "words": environment.space.describe(made.decision),
        "gap": {"of": objective, "at_most": None if proof is None else number(proof.gap)},
        "is_at_limit": proof is not None and proof.is_at_limit,
        "stopped_by": None if proof is None else proof.stopped_by,
        "seconds": made.seconds,
    }
    if output is not None:
        _write(output, content)
    if as_json:
        print_json(content)
        return
    _print(made)
    if output is not None:
        typer.echo(f"Wrote {output}.")


def read_state(sheet: Path, environment: Environment, first: States) -> States:
    """Read values from the columns ``component`` and ``value``; the others stay as at first."""
    table = read_spreadsheet(sheet, heads=("component", "value"))
    for column in ("component", "value"):
        if column not in table.columns:
            columns = ", ".join(table.columns) or "none"
            raise FileError(f"{sheet} has the columns {columns}; component and value are wanted.")
    names, reading = component_names(environment), capabilities_of(environment).values
    components, values = table.names("component"), table.strings("value")
    if table.found:
        raise FileError(*table.found)
    state = np.array(first)
    for name, text in zip(components, values, strict=True):
        try:
            state[index_of(str(sheet), names, name)] = (
                float(text) if reading is None else reading.read_value(name, text)
            )
        except ValueError:
            raise FileError(f"{sheet}: {name} is {text!r}; a value is wanted.") from None
    return state


def _write(output: Path, content: dict[str, Any]) -> None:
    if output.suffix == ".csv":
        write_text(output, csv_text([("action",), *((name,) for name in content["action"])]))
    else:
        write_text(output, json.dumps(content, indent=2, ensure_ascii=False))


def _print(made: Plan) -> None:
    space = made.problem.space
    chosen = space.chosen(made.decision.action)
    typer.echo(f"{made.problem.name}: {made.policy} plan")
    for name in chosen:
        typer.echo(f"  {name}")
    typer.echo(f"{count(len(chosen), 'action')} of {space.n_actions}.")
    typer.echo(made.proof_in_words)
