"""``sequoia plan``: what to do today."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from sequoia.certificates import action_certificate
from sequoia.cli.common import AsJson, Force, Hours, Locks, Orders, Solver
from sequoia.cli.environments import AnyFile, Instance, load_environment
from sequoia.cli.evaluate import Model
from sequoia.cli.plan_any import plan_any
from sequoia.defaults import PLANNING_SECONDS
from sequoia.errors import FileError, ProblemError
from sequoia.evaluation.evaluation import number
from sequoia.io import refuse_to_replace, write_text
from sequoia.models.folder import load_model
from sequoia.models.model import QFunction
from sequoia.optimize import ActionEncoding
from sequoia.optimize.relu_net import ReluNet
from sequoia.planning.overrides import (
    OVERRIDES,
    read_offer,
    read_preferences,
    same_as_last_time,
    todays_wishes,
    together,
    with_spent,
)
from sequoia.planning.planner import DayPlan, Planner, Why, Worth
from sequoia.planning.state_file import read_today
from sequoia.planning.wish_costs import (
    OfferedOvertime,
    WishCost,
    plan_with_overtime,
    wish_costs,
)
from sequoia.policies import POLICIES
from sequoia.policies.learned import Sequoia
from sequoia.problem import Arms, capabilities_of
from sequoia.problem.names import count
from sequoia.problem.spaces.base import Task
from sequoia.problem.spreadsheet import csv_text
from sequoia.proof import PROOF_GAP
from sequoia.solvers.registry import DEFAULT

_ENDINGS = (".csv", ".json")
_MOST_ARMS = 15
# As far as solvers prove anything.


def plan(
    file: AnyFile,
    instance: Instance = None,
    state: Annotated[
        Path | None,
        typer.Option(
            metavar="SHEET",
            help="Today's states: the columns arm and state. Where there are no arms, component "
            "and value; the first state unless given.",
            show_default=False,
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help=f"One of {', '.join(POLICIES)}; unless given, sequoia with a model, price without "
            "one, myopic where arms infect each other, and lookahead where there are no arms.",
            show_default=False,
        ),
    ] = None,
    model: Model = None,
    absent: Annotated[
        list[str] | None, typer.Option(metavar="WORKER", help="Who is off, such as worker:3.")
    ] = None,
    must: Annotated[
        list[str] | None, typer.Option(metavar="ARM", help="What to act on, such as arm:7.")
    ] = None,
    never: Annotated[
        list[str] | None, typer.Option(metavar="ARM", help="What not to act on, such as arm:2.")
    ] = None,
    lock: Locks = None,
    order: Orders = None,
    hours: Hours = None,
    last: Annotated[
        Path | None,
        typer.Option(metavar="SHEET", help="Who came last time: the columns arm and worker."),
    ] = None,
    continuity: Annotated[
        float, typer.Option(help="What the same worker as last time is worth, for each visit.")
    ] = 0.0,
    spent: Annotated[
        list[str] | None,
        typer.Option(
            metavar="BUDGET=VISITS@STEPS",
            help="What is spent of a budget over several steps, and how many of them are over.",
        ),
    ] = None,
    overtime: Annotated[
        list[str] | None,
        typer.Option(
            metavar="WORKER=HOURS@PRICE",
            help="Hours that a worker could add, taken if they gain more than their price.",
        ),
    ] = None,
    why: Annotated[
        list[str] | None,
        typer.Option(metavar="ARM", help="Say what dropping or including it would cost."),
    ] = None,
    seconds: Annotated[float, typer.Option(help="Seconds for one decision.")] = PLANNING_SECONDS,
    solver: Solver = DEFAULT,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write: FILE.csv or FILE.json.")
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json", help="Where to write a proof of the plan, for sequoia verify."
        ),
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Plan today: who does what, when and where.

    What it is worth, how far it can be from the best, and what else could be done.
    """
    if output is not None and output.suffix not in _ENDINGS:
        raise FileError(f"{output} ends in {output.suffix!r}; .csv or .json is wanted.")
    refuse_to_replace([path for path in (output, certificate) if path is not None], force)
    if not seconds > 0:
        raise ProblemError(f"seconds is {seconds:g}; more than 0 seconds are wanted.")
    environment = load_environment(file, instance)
    problem = capabilities_of(environment).problem
    if problem is None:
        if any((absent, must, never, lock, order, hours, overtime, why)):
            raise ProblemError("wishes such as --must, and --why, need a problem of arms.")
        if certificate is not None:
            raise ProblemError("a certificate needs a problem of arms.")
        plan_any(environment, state, policy, model, seconds, output, as_json)
        return
    if state is None:
        raise ProblemError("today's states are missing; give them with --state SHEET.")
    q = None if model is None else load_model(model, problem)
    problem, states = read_today(state, with_spent(problem, spent or ()))
    given = (absent, must, never, lock, order, hours)
    asked = {key: texts or () for key, texts in zip(OVERRIDES, given, strict=True)}
    wishes = todays_wishes(problem, asked)
    offers = [read_offer(problem, text) for text in overtime or ()]
    planner = Planner(problem, states, seconds)
    usual = problem
    if last is not None:
        usual = problem.with_rules(read_preferences(last, problem, continuity))
    rules = together(wishes)
    try:
        with _waiting(seconds):
            day_plan, extra = plan_with_overtime(planner, usual, rules, offers, policy, q)
    except KeyboardInterrupt:
        typer.echo("Stopped; this is the best that was found until then.", err=True)
        planner.hurry()
        day_plan, extra = plan_with_overtime(planner, usual, rules, offers, policy, q)
    reasons = [planner.why(day_plan, text) for text in why or ()]
    taken = [entry.offer for entry in extra if entry.is_taken]
    costs = wish_costs(planner, usual, day_plan, wishes, taken)
    same, known = same_as_last_time(day_plan.problem, day_plan.tasks)
    content = to_json(planner, day_plan, reasons) | {"solver": solver}
    content |= {
        "continuity": {"same": same, "of": known, "worth": same * continuity},
        "wishes": [cost_to_json(entry) for entry in costs],
        "overtime": [overtime_to_json(entry) for entry in extra],
    }
    if output is not None:
        write_text(output, _csv(day_plan) if output.suffix == ".csv" else _dumps(content))
    if certificate is not None:
        write_text(certificate, json.dumps(proof_of(planner, day_plan, q), ensure_ascii=False))
    if as_json:
        typer.echo(_dumps(content))
        return
    _print(planner, day_plan, reasons)
    if last is not None:
        typer.echo(
            f"{same} of {count(known, 'visit')} by the same worker as last time, worth "
            f"{same * continuity:.4g} on top."
        )
    for line in (*map(cost_in_words, costs), *map(overtime_in_words, extra)):
        typer.echo(line)
    for path in (output, certificate):
        if path is not None:
            typer.echo(f"Wrote {path}.")


def proof_of(planner: Planner, day_plan: DayPlan, q: QFunction | None) -> dict[str, Any]:
    """Return the claim that no plan is better by what the plan is about, with its proof."""
    problem, columns = day_plan.problem, ActionEncoding.of_problem(day_plan.problem)
    if q is not None and day_plan.policy == Sequoia.name:
        net = q.fold(day_plan.state[None], np.zeros(1, dtype=np.int64))
        if net.n_inputs != columns.n_inputs:
            columns = ActionEncoding.of_space(problem.space)
    else:
        table = planner.long_run if day_plan.objective == "long run" else planner.next_step
        net = ReluNet.of_linear(*columns.objective(table[None]))
    return action_certificate(problem, columns, net, day_plan.decision)


@contextmanager
def _waiting(seconds: float) -> Iterator[None]:
    """Say on a terminal what is going on."""
    console = Console(stderr=True, highlight=False)
    if not console.is_terminal:
        yield
        return
    words = f"Planning, at most {seconds:g} s for a decision; Ctrl-C takes the best until then."
    with console.status(words):
        yield


def to_json(planner: Planner, day_plan: DayPlan, reasons: Sequence[Why]) -> dict[str, Any]:
    """Return a plan as ``--json`` prints it."""
    return {
        "problem": day_plan.problem.name,
        "fingerprint": planner.problem.fingerprint,
        "policy": day_plan.policy,
        "errands": [why._asdict() for why in day_plan.tasks],
        "words": day_plan.problem.space.describe(day_plan.decision),
        "action": day_plan.problem.space.chosen(day_plan.decision.action),
        "value": _worth(day_plan.worth),
        "doing_nothing": _worth(day_plan.idle),
        "gain": _worth(day_plan.worth - day_plan.idle),
        "gap": {"of": day_plan.objective, "at_most": number(day_plan.gap)},
        "no_policy_earns_more": day_plan.ceiling,
        "proof": None
        if day_plan.proof is None
        else {
            "no_plan_is_better": day_plan.proof.objective,
            "by_more_than": number(day_plan.proof.gap),
            "is_at_limit": day_plan.proof.is_at_limit,
            "stopped_by": day_plan.proof.stopped_by,
        },
        "arms": _arms(planner, day_plan),
        "why": [
            {
                "name": why.name,
                "is_chosen": why.is_chosen,
                "cost": None if why.cost is None else _worth(why.cost),
                "instead": [task._asdict() for task in why.instead],
                "reason": why.reason,
            }
            for why in reasons
        ],
        "prices_stopped_by": planner.relaxation.bound.stopped_by if planner.has_prices else None,
        "seconds": day_plan.seconds,
    }


def cost_to_json(cost_of: WishCost) -> dict[str, Any]:
    """Return what a wish costs, as ``--json`` prints it."""
    cost = None if cost_of.cost is None else _worth(cost_of.cost)
    return {"wish": cost_of.wish.words, "cost": cost, "reason": cost_of.reason}


def overtime_to_json(overtime: OfferedOvertime) -> dict[str, Any]:
    """Return overtime that was offered, as ``--json`` prints it."""
    gain = _worth(overtime.gain)
    return {
        **vars(overtime.offer),
        "cost": overtime.offer.cost,
        "gain": gain,
        "is_taken": overtime.is_taken,
    }


def _arms(planner: Planner, day_plan: DayPlan) -> list[dict[str, Any]]:
    """Return the arms that the plan reaches and what it gains from each, the most first."""
    level = day_plan.problem.levels(day_plan.decision.action[None])[0]
    reached = np.flatnonzero(level)
    doses = day_plan.problem.arms.doses[day_plan.problem.arms.model, level]
    sights = {"next_step": planner.next_step}
    if planner.has_prices:
        sights["long_run"] = planner.long_run
    rows = [
        {
            "arm": day_plan.problem.arms.names[arm],
            "state": int(day_plan.state[arm]),
            **_called(day_plan.problem.arms, int(day_plan.state[arm]), float(doses[arm])),
            **{what: float(by[arm, level[arm]] - by[arm, 0]) for what, by in sights.items()},
        }
        for arm in reached.tolist()
    ]
    return sorted(rows, key=lambda row: -row[list(sights)[-1]])


def _called(arms: Arms, state: int, dose: float) -> dict[str, str]:
    """Return the names of a state and a dose, if they have any."""
    called = {}
    if arms.say_state(state) != str(state):
        called["state_name"] = arms.say_state(state)
    if arms.dose_names:
        called["dose_name"] = arms.dose_names.get(dose, f"{dose:g}")
    return called


def _print(planner: Planner, day_plan: DayPlan, reasons: Sequence[Why]) -> None:
    console = Console(highlight=False)
    console.print(Text(f"{day_plan.problem.name}: {day_plan.policy} plan"), soft_wrap=True)
    console.print(_task_table(day_plan.tasks))
    gain = day_plan.worth - day_plan.idle
    console.print(
        f"Next step: {day_plan.worth.next_step:.4g} expected reward, {gain.next_step:+.4g} against "
        "doing nothing.",
        soft_wrap=True,
    )
    if gain.long_run is not None:
        console.print(
            f"Long run: {day_plan.worth.long_run:.4g} over "
            f"{count(planner.problem.horizon, 'step')} by prices, {gain.long_run:+.4g} against "
            "doing nothing today. This is from today's states on; sequoia bound is about the "
            "usual start, so it may be lower.",
            soft_wrap=True,
        )
        if planner.relaxation.bound.stopped_by == "clock":
            console.print(
                "The clock stopped the search for prices: another machine may find others.",
                soft_wrap=True,
            )
    if day_plan.ceiling is not None:
        console.print(
            f"Long run: no policy earns more than {day_plan.ceiling:.4g} over "
            f"{count(planner.problem.horizon, 'step')} from today's states on, whatever it does "
            "today: a certified bound, not an estimate.",
            soft_wrap=True,
        )
    for line in proof_in_words(day_plan):
        console.print(line, soft_wrap=True)
    _print_arms(console, _arms(planner, day_plan))
    for reason in reasons:
        console.print(Text(why_in_words(reason)), soft_wrap=True)


def _task_table(tasks: Sequence[Task]) -> Table:
    """Show the columns that say something."""
    if not tasks:
        return Table("nothing to do today", box=None)
    used = [field for field in Task._fields if any(getattr(task, field) for task in tasks)]
    table = Table(*used, box=None)
    for task in tasks:
        table.add_row(*(Text(getattr(task, field)) for field in used))
    return table


def _print_arms(console: Console, rows: Sequence[dict[str, Any]]) -> None:
    if not rows:
        return
    sights = [what for what in ("next_step", "long_run") if what in rows[0]]
    has_doses = "dose_name" in rows[0]
    heads = ("reached", "state", *(("dose",) if has_doses else ()))
    table = Table(*heads, *(what.replace("_", " ") for what in sights), box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows[:_MOST_ARMS]:
        gains = (f"{row[what]:+.3f}" for what in sights)
        state = Text(row.get("state_name", str(row["state"])))
        dose = (Text(row["dose_name"]),) if has_doses else ()
        table.add_row(Text(row["arm"]), state, *dose, *gains)
    console.print(table)
    if len(rows) > _MOST_ARMS:
        console.print(f"and {count(len(rows) - _MOST_ARMS, 'more arm')}")


def proof_in_words(day_plan: DayPlan) -> list[str]:
    """Say what is proven: by what the policy maximises and, if that is another thing, by ours."""
    lines, proof = [day_plan.proof_in_words], day_plan.proof
    if proof is None or day_plan.objective not in proof.objective:
        sight = "as prices see it" if day_plan.objective == "long run" else "for the next step"
        if day_plan.gap <= PROOF_GAP:
            lines.append(f"It is also the best plan {sight}.")
        else:
            lines.append(f"The best plan {sight} is better by at most {100 * day_plan.gap:.2g} %.")
    return lines


def why_in_words(why: Why) -> str:
    """Say what it would cost to decide otherwise."""
    verb = "Dropping" if why.is_chosen else "Including"
    if why.cost is None:
        return f"{verb} {why.name} is impossible: {why.reason}"
    words = f"{verb} {why.name} changes the next step by {_signed(-why.cost.next_step)}"
    if why.cost.long_run is None:
        return f"{words}."
    return f"{words} and the long run by {_signed(-why.cost.long_run)}."


def cost_in_words(wish_cost: WishCost) -> str:
    """Say what a wish costs."""
    if wish_cost.cost is None:
        return f"Without the wish that {wish_cost.wish.words} there is no plan: {wish_cost.reason}"
    return f"That {wish_cost.wish.words} costs {_losses(wish_cost.cost)}."


def overtime_in_words(overtime: OfferedOvertime) -> str:
    """Say what overtime gains, what it costs, and whether it is worth it."""
    offer = overtime.offer
    verdict = "so it is worked" if overtime.is_taken else "so it is left"
    return (
        f"{count(1, 'hour') if offer.hours == 1 else f'{offer.hours:g} hours'} of overtime of "
        f"{offer.worker}: worth {_losses(overtime.gain)}, at a price of {offer.cost:.4g}, "
        f"{verdict}."
    )


def _losses(worth: Worth) -> str:
    soon = f"{_plain(worth.next_step)} in the next step"
    return soon if worth.long_run is None else f"{_plain(worth.long_run)} in the long run ({soon})"


def _plain(value: float) -> str:
    """Return two digits, which is as much as estimates tell; `--json` has them all."""
    return "0" if abs(value) < 5e-7 else f"{float(f'{value:.2g}'):g}"


def _signed(value: float) -> str:
    return f"{'+' if value >= 5e-7 else ''}{_plain(value)}"


def _worth(worth: Worth) -> dict[str, float | None]:
    return {"next_step": worth.next_step, "long_run": worth.long_run}


def _csv(day_plan: DayPlan) -> str:
    return csv_text([Task._fields, *day_plan.tasks])


def _dumps(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False)
