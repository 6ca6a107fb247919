"""``sequoia bound``: a number that no policy can beat."""

import json
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from sequoia.bounds import bound as find_bound
from sequoia.bounds import solve_exactly
from sequoia.bounds.bound import resolve_kind
from sequoia.bounds.certificate import Bound
from sequoia.bounds.lagrangian.relax import relax
from sequoia.certificates import bound_certificate
from sequoia.cli.common import AsJson, Force, Solver, print_json, print_pairs
from sequoia.cli.environments import AnyFile, Instance, load_environment
from sequoia.defaults import BOUND_SCENARIOS, BOUND_SECONDS
from sequoia.errors import ProblemError, TooLarge
from sequoia.evaluation.evaluation import bound_to_json
from sequoia.io import refuse_to_replace, write_text
from sequoia.problem import Environment, capabilities_of
from sequoia.problem.names import count
from sequoia.solvers.registry import DEFAULT

_WORDS = {
    "lp": "rules hold on average and in fractions",
    "hull": "rules hold on average, over whole actions",
    "factored": "clusters of arms agree with each other and with the rules on average",
    "clairvoyant": "of one who knows the luck and pays for it; an estimate, ± is 95 %",
}
# What each kind understands beside the horizon.
_TAKES = {
    "lp": ("seconds",),
    "hull": ("seconds", "rounds"),
    "factored": ("seconds", "table", "rounds"),
    "clairvoyant": ("seconds", "table", "rounds", "scenarios"),
}
# Where there are no arms: what a search understands, and what it is. Nothing is known that could
# make the clairvoyant pay.
_OF_SEARCH = ("scenarios",)
_WORDS_OF_SEARCH = "of one who knows the luck; an estimate, ± is 95 %"


def bound(
    file: AnyFile,
    instance: Instance = None,
    kind: Annotated[
        Literal["auto", "lp", "hull", "factored", "clairvoyant"],
        typer.Option(
            help="lp is fast; hull is tighter and slower; factored and clairvoyant are for arms "
            "that interact. auto is lp, or factored where they do."
        ),
    ] = "auto",
    horizon: Annotated[
        int | None, typer.Option(help="Steps to look at; the problem's unless given.", min=1)
    ] = None,
    discounted: Annotated[
        bool, typer.Option("--discounted", help="Discount, over an infinite horizon.")
    ] = False,
    seconds: Annotated[
        float,
        typer.Option(
            help="A last resort: stop improving after so long. The bound stays valid, and says "
            "that the clock stopped it.",
            min=0,
        ),
    ] = BOUND_SECONDS,
    table: Annotated[
        int | None,
        typer.Option(
            help="Most local configurations of a cluster of arms that interact; more is tighter "
            "and slower. 10000, or less where that takes long, unless given.",
            min=1,
        ),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            help="How often prices are improved at most: 200 times for hull, 400 for factored.",
            min=1,
        ),
    ] = None,
    scenarios: Annotated[
        int | None,
        typer.Option(
            help=f"Scenarios of a clairvoyant bound; {BOUND_SCENARIOS} unless given.", min=2
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE.json",
            help="Where to write a proof of an lp or hull bound, for sequoia verify.",
        ),
    ] = None,
    force: Force = False,
    solver: Solver = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Bound what any policy can earn.

    No policy, however clever, earns more in expectation. Tiny problems show the optimum beside it.
    """
    problem = load_environment(file, instance)
    resolved = resolve_kind(problem, kind)
    arms = capabilities_of(problem).problem
    is_search = arms is None
    takes = _OF_SEARCH if is_search else (*_TAKES[resolved], "horizon", "discounted")
    asked = {
        "seconds": None if is_search and seconds == BOUND_SECONDS else seconds,
        "table": table,
        "rounds": rounds,
        "scenarios": scenarios,
        "horizon": horizon,
        "discounted": discounted or None,
    }
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    for name in given.keys() - takes:
        raise ProblemError(f"{resolved} has no --{name}.")
    if certificate is None:
        computed, proof = find_bound(problem, resolved, **given), None
    else:
        if arms is None or resolved not in ("lp", "hull"):
            raise ProblemError(f"{resolved} bounds have no certificate; lp and hull bounds do.")
        refuse_to_replace([certificate], force)
        relaxation = relax(arms, resolved, **given)
        computed = relaxation.bound
        content, shown = bound_certificate(arms, relaxation)
        write_text(certificate, json.dumps(content, ensure_ascii=False))
        proof = {"file": str(certificate), "shows": shown}
    if as_json:
        more = {} if proof is None else {"certificate": proof}
        print_json(bound_to_json(computed) | {"solver": solver} | more)
        return
    typer.echo(problem.name)
    steps_said = count(horizon or problem.horizon, "step")
    over = "discounted, for ever" if discounted else f"over {steps_said}"
    pairs = [("no policy earns more than", f"{_numbers(computed)} {over}")]
    words = _WORDS_OF_SEARCH if is_search else _WORDS[resolved]
    pairs.append(("kind", f"{resolved}: {words}"))
    if computed.detail:
        pairs.append(("how", computed.detail))
    if 0 < computed.gap < float("inf"):
        pairs.append(("gap", f"the best of its kind is at most {100 * computed.gap:.2g} % lower"))
    if computed.stopped_by == "clock":
        pairs.append(("stopped by", "the clock: another machine may find another number"))
    pairs.append(("time", f"{computed.seconds:.2f} s"))
    if proof is not None:
        pairs.append(("certificate", f"{certificate}, a proof of {proof['shows']:.6g}"))
    if horizon is None:
        pairs += _optimum(problem, discounted)
    print_pairs(pairs)


def _numbers(computed: Bound) -> str:
    if not computed.margin:
        return f"{computed.per_step:.6g} per step; {computed.total:.6g}"
    per_step = f"{computed.per_step:.5g} ± {computed.margin_per_step:.2g} per step"
    return f"{per_step}; {computed.total:.5g} ± {computed.margin:.2g}"


def _optimum(problem: Environment, discounted: bool) -> list[tuple[str, str]]:
    """Return the exact optimum of a tiny problem, or nothing."""
    knowing = capabilities_of(problem).chances
    if knowing is None:
        return []
    try:
        best = solve_exactly(knowing, discounted)
    except (TooLarge, ProblemError):
        return []
    per_step = best.value * (1 - problem.discount) if discounted else best.value / problem.horizon
    return [("the best policy earns", f"{per_step:.6g} per step; {best.value:.6g} in all")]
