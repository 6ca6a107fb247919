"""The verb: bound what any policy can earn."""

from typing import Any

from sequoia.bounds.certificate import Bound, Kind
from sequoia.bounds.lagrangian.relax import relax
from sequoia.problem import Problem


def bound(problem: Problem, kind: Kind = "lp", **options: Any) -> Bound:
    """Return a number that no policy can beat; ``options`` are those of `relax`."""
    return relax(problem, kind, **options).bound
