"""The verb: bound what any policy can earn."""

from typing import Any, Literal

from sequoia.bounds.certificate import Bound, Kind
from sequoia.bounds.clairvoyant import clairvoyant_bound, clairvoyant_search
from sequoia.bounds.factored.relax import relax_factored
from sequoia.bounds.lagrangian.relax import relax, why_no_prices
from sequoia.defaults import bound_kind
from sequoia.errors import ProblemError
from sequoia.problem import Environment, capabilities_of

_CLAIRVOYANT_OPTIONS = ("scenarios", "seed")
# Of `best_bound`: about twice the work of the factored bound, and a margin of 0.3 % at 20 nodes.
_SCENARIOS, _ROUNDS = 20, 40
# An estimate replaces a certified bound only where it is lower by more than rounding.
_ROUNDING = 1e-6


def bound(environment: Environment, kind: Kind | Literal["auto"] = "auto", **options: Any) -> Bound:
    """Return a number that no policy can beat.

    Parameters
    ----------
    kind
        ``"auto"`` is ``"lp"``, ``"factored"`` where arms interact, and ``"clairvoyant"`` for an
        environment that is no problem of arms.
    options
        Those of `relax`, of `relax_factored`, of both `relax_factored` and `clairvoyant_bound`, or
        of `clairvoyant_search`.

    Examples
    --------
    >>> import sequoia
    >>> round(sequoia.bound(sequoia.make('trap')).per_step, 3)
    9.605
    """
    kind = resolve_kind(environment, kind)
    problem = capabilities_of(environment).problem
    if problem is None:
        return clairvoyant_search(environment, **options)
    if kind == "factored":
        return relax_factored(problem, **options).bound
    if kind == "clairvoyant":
        last = {key: options.pop(key) for key in _CLAIRVOYANT_OPTIONS if key in options}
        return clairvoyant_bound(problem, relax_factored(problem, **options), **last)
    return relax(problem, kind, **options).bound


def best_bound(environment: Environment) -> Bound:
    """Return the lowest bound that a usual amount of work finds.

    Where arms interact, that is ``"factored"`` or ``"clairvoyant"``, whichever is lower with its
    margin; else what ``"auto"`` stands for.
    """
    problem = capabilities_of(environment).problem
    if problem is None or problem.is_decoupled:
        return bound(environment)
    relaxation = relax_factored(problem)
    sure = relaxation.bound
    guess = clairvoyant_bound(problem, relaxation, scenarios=_SCENARIOS, rounds=_ROUNDS)
    is_lower = guess.total + guess.margin < sure.total - _ROUNDING * abs(sure.total)
    return guess if is_lower else sure


def resolve_kind(environment: Environment, kind: Kind | Literal["auto"]) -> Kind:
    """Return the kind that ``"auto"`` stands for, or say that a kind does not apply."""
    problem = capabilities_of(environment).problem
    if problem is None:
        if kind not in ("auto", "clairvoyant"):
            raise ProblemError(
                f"{kind} bounds need a problem of arms; {environment.name} is another environment. "
                "Ask for clairvoyant."
            )
        return bound_kind(environment)
    if kind == "auto":
        return bound_kind(environment)
    if kind in ("lp", "hull"):
        reason = why_no_prices(problem)
        if reason is not None:
            raise ProblemError(f"{kind} {reason} Ask for factored or clairvoyant.")
    return kind
