"""Upper bounds where arms interact, and the value function that proves them."""

import time
from dataclasses import dataclass

from numpy.typing import ArrayLike

from sequoia.bounds.certificate import Bound
from sequoia.bounds.factored.basis import Cluster, grow_clusters
from sequoia.bounds.factored.dual import Dual, minimise
from sequoia.bounds.factored.links import Links
from sequoia.bounds.factored.local_table import DoseCombinations, LocalTable, table_size
from sequoia.bounds.factored.value import FactoredValue
from sequoia.bounds.horizon import Horizon
from sequoia.bounds.lagrangian.arm_classes import start_of
from sequoia.errors import ProblemError, TooLarge
from sequoia.optimize.encoding import ActionEncoding
from sequoia.problem import Problem
from sequoia.problem.names import count
from sequoia.proof import StoppedBy
from sequoia.validation import FloatArray

# Holds all of an epidemic of 8 nodes, which makes the bound exact there, and villages of 5 beyond.
TABLE = 10_000
# Twice as many gain less than 0.1 % in epidemics of 20 nodes.
ROUNDS = 400
# Configurations that are gone through in all rounds and steps together, unless a table is asked
# for: about 40 s, at some 10 ns each.
_MAX_VISITS = 4e9
# Numbers in the transition tables of all clusters together, and in the prices of all steps: 1.6 GB.
_MAX_NUMBERS = 2e8


@dataclass(frozen=True, eq=False)
class FactoredRelaxation:
    """An upper bound, the value function that proves it, and the prices behind that.

    Attributes
    ----------
    prices
        Of the rows of ``dual.links``, by block, ``(B, R)``.
    start
        Distribution of each arm's first state, ``(J, S)``.
    """

    bound: Bound
    value: FactoredValue
    dual: Dual
    prices: FloatArray
    start: FloatArray


def relax_factored(
    problem: Problem,
    *,
    table: int | None = None,
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
        both slower. 1 takes arms one by one. Unless given, 10,000, halved until the work is less
        than about a minute's.
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
        if number is not None and number < 1:
            raise ProblemError(f"{name} is {number}; at least 1 is wanted.")
    encoding = ActionEncoding.of_problem(problem)
    encoding.require_feasible()
    span = Horizon.of(problem, horizon, discounted)
    tables = tabulate(problem, encoding, span, table, rounds)
    links = Links.of(problem, encoding, tables)
    first = start_of(problem, start)
    dual = Dual(tables, links, span, [cluster_table.start(first) for cluster_table in tables])
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
    return FactoredRelaxation(bound, value, dual, prices, first)


def tabulate(
    problem: Problem, encoding: ActionEncoding, span: Horizon, most: int | None, rounds: int
) -> list[LocalTable]:
    """Return a table for every cluster, or say how large they would be."""
    doses = DoseCombinations(problem, encoding)
    sizes = [TABLE >> times for times in range(TABLE.bit_length())] if most is None else [most]
    for size in sizes:
        plan = _Plan.of(problem, doses, size)
        if plan.numbers(span) <= _MAX_NUMBERS and plan.visits(span, rounds) <= _MAX_VISITS:
            break
    if plan.numbers(span) > _MAX_NUMBERS:
        raise plan.too_large(span)
    return [LocalTable.of(problem, doses, arms, members) for arms, members in plan.clusters]


@dataclass(frozen=True)
class _Plan:
    """Clusters before they are tabulated.

    Attributes
    ----------
    most
        Most configurations of each.
    clusters
        Arms, and how many of them are at home.
    sizes
        Configurations and joint states of each.
    """

    most: int
    clusters: list[tuple[Cluster, int]]
    sizes: list[tuple[float, float]]

    @classmethod
    def of(cls, problem: Problem, doses: DoseCombinations, most: int) -> "_Plan":
        grown = grow_clusters(problem, doses, most)
        clusters = [((*members, *borrowed), len(members)) for members, borrowed in grown]
        states = float(problem.arms.n_states)
        sizes = [(table_size(problem, doses, arms), states ** len(arms)) for arms, _ in clusters]
        return cls(most, clusters, sizes)

    def visits(self, span: Horizon, rounds: int) -> float:
        """Return how many configurations all rounds go through."""
        return float(rounds) * span.n_blocks * sum(rows for rows, _ in self.sizes)

    def numbers(self, span: Horizon) -> float:
        """Return how many numbers tables and prices hold, at most."""
        return sum(rows * (joint + span.n_blocks) for rows, joint in self.sizes)

    def too_large(self, span: Horizon) -> TooLarge:
        """Say how large the tables would be."""
        arms = count(max(len(arms) for arms, _ in self.clusters), "arm")
        return TooLarge(
            f"tables of {count(len(self.clusters), 'cluster')} of up to {arms} need "
            f"{self.numbers(span):.1e} numbers; at most {_MAX_NUMBERS:.0e} are held, so ask for a "
            f"table of fewer than {self.most} configurations."
        )


def _detail(tables: list[LocalTable], done: int, rounds: int) -> str:
    arms, rows = max(len(table.arms) for table in tables), max(map(len, tables))
    size = f"up to {count(arms, 'arm')} and {count(rows, 'configuration')}"
    text = f"{count(len(tables), 'cluster')} of {size}"
    return text if done == rounds else f"{text}; stopped by the clock after {count(done, 'round')}"
