"""``sequoia plan`` for an environment that is no problem of arms: what to do in a state."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import typer

from sequoia.cli.common import print_json
from sequoia.defaults import planning_policy
from sequoia.errors import FileError
from sequoia.evaluation.evaluation import number
from sequoia.io import write_text
from sequoia.models.folder import load_model
from sequoia.policies import make_policy
from sequoia.policies.registry import policy_called
from sequoia.problem import Decision, Environment, capabilities_of, space_at
from sequoia.problem.capabilities import component_names
from sequoia.problem.environment import States
from sequoia.problem.names import count, index_of
from sequoia.problem.spreadsheet import csv_text, read_spreadsheet
from sequoia.rng import stream

# As far as solvers prove anything.
_PROVEN = 1e-6


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
    name = policy or planning_policy(environment, has_model=q is not None, has_prices=False)
    first = environment.draw_start(np.random.default_rng(0), 1)[0]
    state = first if sheet is None else read_state(sheet, environment, first)
    began = time.perf_counter()
    acting = make_policy(name, environment, q, seconds=seconds)
    acting.reset(1)
    made = acting.act(state[None], 0, [stream(0, f"policy:{name}:plan")])
    decision = space_at(environment, state, 0).certify(made.actions[0])
    objective = policy_called(name).objective
    gap = float(made.gaps[0]) if objective is not None else float("nan")
    limit = "clock" if made.is_late[0] else "work"
    is_asked = objective is not None and np.isfinite(gap)
    stopped_by = (limit if made.is_at_limit[0] else "optimum") if is_asked else None
    content = {
        "problem": environment.name,
        "fingerprint": environment.fingerprint,
        "policy": name,
        "action": environment.space.chosen(decision.action),
        "words": environment.space.describe(decision),
        "gap": {"of": objective, "at_most": number(gap)},
        "is_at_limit": bool(made.is_at_limit[0]),
        "stopped_by": stopped_by,
        "seconds": time.perf_counter() - began,
    }
    if output is not None:
        _write(output, content)
    if as_json:
        print_json(content)
        return
    _print(environment, decision, content)
    if output is not None:
        typer.echo(f"Wrote {output}.")


def read_state(sheet: Path, environment: Environment, first: States) -> States:
    """Read values from the columns ``component`` and ``value``; the others stay as at first."""
    table = read_spreadsheet(sheet, heads=("component", "value"))
    for column in ("component", "value"):
        if column not in table.columns:
            found = ", ".join(table.columns) or "none"
            raise FileError(f"{sheet} has the columns {found}; component and value are wanted.")
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


def _print(environment: Environment, decision: Decision, content: dict[str, Any]) -> None:
    chosen = environment.space.chosen(decision.action)
    typer.echo(f"{environment.name}: {content['policy']} plan")
    for name in chosen:
        typer.echo(f"  {name}")
    typer.echo(f"{count(len(chosen), 'action')} of {environment.space.n_actions}.")
    gap = content["gap"]["at_most"]
    if gap is None:
        typer.echo(f"Nothing is proven about {content['policy']} plans.")
    elif gap <= _PROVEN:
        typer.echo(f"Proven: no plan is better {content['gap']['of']}.")
    else:
        typer.echo(f"No plan is better {content['gap']['of']} by more than {100 * gap:.2g} %.")
