"""Upper bounds where arms interact, and the value function that proves them."""

import time
from dataclasses import dataclass

from numpy.typing import ArrayLike

from sequoia.bounds.certificate import Bound, StoppedBy
from sequoia.bounds.factored.basis import grow_clusters
from sequoia.bounds.factored.doses import DoseCombinations
from sequoia.bounds.factored.dual import Dual, minimise
from sequoia.bounds.factored.links import Links
from sequoia.bounds.factored.local_table import LocalTable, table_size
from sequoia.bounds.factored.value import FactoredValue
from sequoia.bounds.horizon import Horizon
from sequoia.bounds.lagrangian.arm_classes import start_of
from sequoia.errors import ProblemError, TooLarge
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Problem
from sequoia.validation import FloatArray

TABLE = 10_000
ROUNDS = 400
# Numbers in the transition tables of all clusters together, and in the prices of all steps.
_MAX_NUMBERS = 2e8


@dataclass(frozen=True, eq=False)
class FactoredRelaxation:
    """An upper bound, the value function that proves it, and the prices behind that.

    Attributes
    ----------
    prices
        Of the rows of ``dual.links``, by block, ``(B, R)``.
    """

    bound: Bound
    value: FactoredValue
    dual: Dual
    prices: FloatArray


def relax_factored(
    problem: Problem,
    *,
    table: int = TABLE,
    rounds: int = ROUNDS,
    horizon: int | None = None,
    discounted: bool = False,
    start: ArrayLike | None = None,
    seconds: float = float("inf"),
) -> FactoredRelaxation:
    """Bound what any policy can earn where arms interact.

    Clusters of arms are Markov decision processes of their own. What ties them together, the
    pressure on each other's arms and the rules, holds on average and has prices. Whatever prices
    are found, the bound is computed from them by one dynamic program per cluster and one best
    action per step, so it is always valid.

    Parameters
    ----------
    table
        Most local configurations of a cluster; more make clusters larger, the bound tighter, and
        both slower. 1 takes arms one by one.
    rounds
        How often prices are improved.
    horizon, discounted, start
        As in `relax`.
    seconds
        Stop improving after so long; the bound then depends on the machine.

    Raises
    ------
    TooLarge
        With the size that the tables would need.
    """
    began = time.perf_counter()
    for name, number in (("table", table), ("rounds", rounds)):
        if number < 1:
            raise ProblemError(f"{name} is {number}; at least 1 is wanted.")
    encoding = ActionEncoding.of_problem(problem)
    encoding.require_feasible()
    span = Horizon.of(problem, horizon, discounted)
    tables = tabulate(problem, encoding, table, span)
    links = Links.of(problem, encoding, tables)
    first = start_of(problem, start)
    dual = Dual(tables, links, span, [one.start(first) for one in tables])
    prices, done = minimise(dual, rounds, seconds)
    support = links.proven_support(prices)
    value = FactoredValue(problem, tables, dual.values(prices), support, span)
    earned = [mass @ values[0] for mass, values in zip(dual.starts, value.values, strict=True)]
    total = float(sum(earned) + span.weights @ support)
    per_step = total / float(span.weights.sum())
    spent = time.perf_counter() - began
    stopped_by: StoppedBy = "work" if done == rounds else "clock"
    detail = _detail(tables, done, rounds)
    bound = Bound(total, per_step, "factored", spent, detail=detail, stopped_by=stopped_by)
    return FactoredRelaxation(bound, value, dual, prices)


def tabulate(
    problem: Problem, encoding: ActionEncoding, most: int, span: Horizon
) -> list[LocalTable]:
    """Return a table for every cluster, or say how large they would be."""
    doses = DoseCombinations(problem, encoding)
    clusters = [
        ((*own, *borrowed), len(own)) for own, borrowed in grow_clusters(problem, doses, most)
    ]
    numbers = sum(
        table_size(problem, doses, arms) * (problem.arms.n_states ** len(arms) + span.n_blocks)
        for arms, _ in clusters
    )
    if numbers > _MAX_NUMBERS:
        largest = max(len(arms) for arms, _ in clusters)
        raise TooLarge(
            f"{len(clusters)} clusters of up to {largest} arms need {numbers:.1e} numbers; at most "
            f"{_MAX_NUMBERS:.0e} are held, so ask for a table of fewer than {most} configurations."
        )
    return [LocalTable.of(problem, doses, arms, own) for arms, own in clusters]


def _detail(tables: list[LocalTable], done: int, rounds: int) -> str:
    arms, rows = max(len(one.arms) for one in tables), max(map(len, tables))
    text = f"{len(tables)} clusters of up to {arms} arms and {rows} configurations"
    return text if done == rounds else f"{text}; stopped by the clock after {done} rounds"
