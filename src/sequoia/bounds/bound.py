"""The verb: bound what any policy can earn."""

from collections.abc import Iterable
from typing import Any, Literal

from numpy.typing import ArrayLike

from sequoia.bounds.certificate import Bound, Kind
from sequoia.bounds.clairvoyant import clairvoyant_bound, clairvoyant_search
from sequoia.bounds.factored.relax import relax_factored
from sequoia.bounds.lagrangian.relax import relax, why_no_prices
from sequoia.defaults import bound_kind
from sequoia.errors import ProblemError
from sequoia.problem import Environment, capabilities_of

_OF_LUCK = ("scenarios", "seed")
# Of `best_bound`: about twice the work of the factored bound, and a margin of 0.3 % at 20 nodes.
_SCENARIOS, _ROUNDS = 20, 40
# An estimate replaces a certified bound only where it is lower by more than rounding.
_ROUNDING = 1e-6


def bound(
    environment: Environment,
    kind: Kind | Literal["auto"] = "auto",
    *,
    horizon: int | None = None,
    discounted: bool | None = None,
    start: ArrayLike | None = None,
    rounds: int | None = None,
    gap: float | None = None,
    table: int | None = None,
    scenarios: int | None = None,
    seed: int | None = None,
    seconds: float | None = None,
) -> Bound:
    """Return a number that no policy can beat.

    Each kind has a function of its own, `relax`, `relax_factored`, `clairvoyant_bound` and
    `clairvoyant_search`, which says more about its options; what is not given is as usual there.

    Parameters
    ----------
    kind
        ``"auto"`` is ``"lp"``, ``"factored"`` where arms interact, and ``"clairvoyant"`` for an
        environment that is no problem of arms.
    horizon, discounted
        Steps to look at, and whether there is no end and steps are discounted. Not for an
        environment that is no problem of arms.
    start
        Today's states, ``(J,)``; the problem's usual start unless given.
    rounds
        How often prices are improved at most.
    gap
        How near to the best of its kind, relatively, is near enough; for ``"lp"`` and ``"hull"``.
    table
        Most local configurations of a cluster; for ``"factored"`` and ``"clairvoyant"``.
    scenarios, seed
        Of a clairvoyant bound.
    seconds
        Longest time; a last resort.

    Raises
    ------
    ProblemError
        When a kind does not apply, or has no such option.

    Examples
    --------
    >>> import sequoia
    >>> round(sequoia.bound(sequoia.make('trap')).per_step, 3)
    9.605
    """
    kind = resolve_kind(environment, kind)
    problem = capabilities_of(environment).problem
    asked: dict[str, Any] = {
        "horizon": horizon,
        "discounted": discounted,
        "start": start,
        "rounds": rounds,
        "gap": gap,
        "table": table,
        "scenarios": scenarios,
        "seed": seed,
        "seconds": seconds,
    }
    options = {name: value for name, value in asked.items() if value is not None}
    of_luck = {name: options.pop(name) for name in _OF_LUCK if name in options}
    if problem is None:
        _refuse(kind, options)
        return clairvoyant_search(environment, **of_luck)
    clusters = kind in ("factored", "clairvoyant")
    _refuse(kind, {name for name in options if name == ("gap" if clusters else "table")})
    _refuse(kind, of_luck if kind != "clairvoyant" else ())
    if kind == "factored":
        return relax_factored(problem, **options).bound
    if kind == "clairvoyant":
        return clairvoyant_bound(problem, relax_factored(problem, **options), **of_luck)
    return relax(problem, kind, **options).bound


def _refuse(kind: Kind, options: Iterable[str]) -> None:
    """Raise a `ProblemError` that names an option that a kind does not have, if there is one."""
    for name in sorted(options):
        raise ProblemError(f"{kind} bounds have no option {name}.")


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
