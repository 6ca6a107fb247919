"""The verb: bound what any policy can earn."""

from typing import Any, Literal

from sequoia.bounds.certificate import Bound, Kind
from sequoia.bounds.clairvoyant import clairvoyant_bound
from sequoia.bounds.factored.relax import relax_factored
from sequoia.bounds.lagrangian.relax import relax, why_no_prices
from sequoia.errors import ProblemError
from sequoia.problem import Problem

_CLAIRVOYANT_OPTIONS = ("scenarios", "seed")


def bound(problem: Problem, kind: Kind | Literal["auto"] = "auto", **options: Any) -> Bound:
    """Return a number that no policy can beat.

    Parameters
    ----------
    kind
        ``"auto"`` is ``"lp"``, and ``"factored"`` where arms interact.
    options
        Those of `relax`, of `relax_factored`, or of both `relax_factored` and `clairvoyant_bound`.
    """
    kind = resolve_kind(problem, kind)
    if kind == "factored":
        return relax_factored(problem, **options).bound
    if kind == "clairvoyant":
        last = {key: options.pop(key) for key in _CLAIRVOYANT_OPTIONS if key in options}
        return clairvoyant_bound(problem, relax_factored(problem, **options), **last)
    return relax(problem, kind, **options).bound


def resolve_kind(problem: Problem, kind: Kind | Literal["auto"]) -> Kind:
    """Return the kind that ``"auto"`` stands for, or say that a kind does not apply."""
    if kind == "auto":
        return "lp" if problem.is_decoupled else "factored"
    if kind in ("lp", "hull"):
        reason = why_no_prices(problem)
        if reason is not None:
            raise ProblemError(f"{kind} {reason} Ask for factored or clairvoyant.")
    return kind
