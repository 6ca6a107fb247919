"""A bound from one who knows the luck beforehand, and pays for knowing it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from scipy.sparse import csr_array
from scipy.special import stdtrit

from sequoia.bounds.certificate import Bound
from sequoia.bounds.factored.dual import Adam, first_move
from sequoia.bounds.factored.local_table import LocalTable
from sequoia.bounds.factored.relax import FactoredRelaxation, relax_factored
from sequoia.errors import ProblemError
from sequoia.problem import Problem
from sequoia.simulate import Scenarios
from sequoia.validation import FloatArray, IntArray

SCENARIOS = 40
ROUNDS = 100
# Numbers that scenarios of one batch hold at once.
_BATCH = 4e7
# Prices start close to their best, so the first move is shorter than that of `minimise`.
_SHORTER = 0.2


def clairvoyant_bound(
    problem: Problem,
    relaxation: FactoredRelaxation | None = None,
    *,
    scenarios: int = SCENARIOS,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Bound:
    """Estimate a bound by information relaxation (Brown, Smith & Sun 2010).

    In every scenario the luck of all steps is known, so the best plan of one who sees it is a
    deterministic problem. What seeing gains is charged: in each step a plan pays
    ``V(s') - E[V(s') | s, a]``, which costs nothing on average to those who do not see, with V from
    `relax_factored`. The plan itself is relaxed as there: clusters plan on their own, and prices
    of what ties them together are improved for every scenario anew. The mean over scenarios is an
    upper bound in expectation: the rules hold in each scenario, not only on average over luck.

    Parameters
    ----------
    relaxation
        Of the problem's own horizon and start; found with its defaults unless given.
    scenarios
        How many; more make the margin smaller, not the bound tighter.
    rounds
        How often prices are improved in each.
    """
    began = time.perf_counter()
    for name, value, least in (("scenarios", scenarios, 2), ("rounds", rounds, 1)):
        if value < least:
            raise ProblemError(f"{name} is {value}; at least {least} is wanted.")
    found = relax_factored(problem) if relaxation is None else relaxation
    if found.dual.horizon.is_endless:
        raise ProblemError("a clairvoyant bound needs an end; it is not for discounted rewards.")
    steps = found.dual.horizon.steps
    drawn = Scenarios.sample(problem, scenarios, seed)
    if steps > problem.horizon:
        raise ProblemError(
            f"a clairvoyant bound looks at most {problem.horizon} steps ahead; {steps} were asked."
        )
    per_scenario = problem.horizon * max(map(len, found.dual.tables)) * 4
    size = max(1, int(_BATCH / per_scenario))
    parts = [slice(first, first + size) for first in range(0, scenarios, size)]
    batches = (
        _Batch.of(problem, found, drawn.start[part], drawn.noise[part, :steps]) for part in parts
    )
    gain = np.concatenate([batch.gains(rounds) for batch in batches])
    total = found.bound.total - float(gain.mean())
    spread = float(gain.std(ddof=1)) / np.sqrt(scenarios)
    margin = float(stdtrit(scenarios - 1, 0.975)) * spread
    spent = time.perf_counter() - began + (found.bound.seconds if relaxation is not None else 0.0)
    detail = f"{scenarios} scenarios; {found.bound.detail}"
    bound = Bound(total, total / steps, "clairvoyant", spent, margin=margin, detail=detail)
    return replace(bound, stopped_by=found.bound.stopped_by)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Scenarios whose plans are looked for side by side.

    Attributes
    ----------
    first
        Joint state of each cluster at first, ``(E,)`` each.
    following
        Joint state after each configuration, by scenario and step, ``(E, H, K)`` each.
    worth
        What `relaxation` thinks each start is worth, ``(E,)``.
    """

    relaxation: FactoredRelaxation
    first: Sequence[IntArray]
    following: Sequence[IntArray]
    worth: FloatArray

    @classmethod
    def of(
        cls, problem: Problem, relaxation: FactoredRelaxation, start: IntArray, noise: FloatArray
    ) -> "_Batch":
        tables = relaxation.dual.tables
        return cls(
            relaxation,
            [table.joint(start, problem.arms.n_states) for table in tables],
            [_following(problem, table, noise) for table in tables],
            relaxation.value.worth(start, 0),
        )

    def gains(self, rounds: int) -> FloatArray:
        """Return by how much the best plan of each scenario stays below `worth`, ``(E,)``."""
        dual = self.relaxation.dual
        rows = dual.links.rows
        prices = np.repeat(self.relaxation.prices[None], len(self.worth), axis=0)
        move = _SHORTER * first_move(dual.tables, dual.horizon)
        adam = Adam(prices.shape, move, rounds)
        least = np.full(len(self.worth), np.inf)
        for _ in range(rounds):
            total, slope = self._evaluate(prices)
            least = np.minimum(least, total)
            prices = rows.project_sign(prices + adam.step(slope))
        gains: FloatArray = self.worth - least
        return gains

    @cached_property
    def _uses(self) -> list[csr_array]:
        """How much of each row every configuration of a cluster uses, ``(K, R)`` each."""
        links = self.relaxation.dual.links
        return [csr_array(links.rows.use[:, a:b].T) for a, b in pairwise(links.first.tolist())]

    def _evaluate(self, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the best plan earns at most, ``(E,)``, and the slope in prices."""
        links = self.relaxation.dual.links
        flat = prices.reshape(-1, links.rows.n_rows)
        total = np.zeros(len(prices))
        used = np.zeros(flat.shape)
        for index in range(len(self.first)):
            paid = (self._uses[index] @ flat.T).T.reshape(*prices.shape[:2], -1)
            earned, chosen = self._plan(index, paid)
            total += earned
            used += self._uses[index][chosen.reshape(-1)].toarray()
        support, slope = links.support(flat, used)
        support = support.reshape(prices.shape[:2]).sum(axis=1)
        return total + support, slope.reshape(prices.shape)

    def _plan(self, index: int, paid: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return what a cluster earns by its best plan, ``(E,)``, and its steps, ``(E, H)``."""
        table = self.relaxation.dual.tables[index]
        values, following = self.relaxation.value.values[index], self.following[index]
        episodes, steps = paid.shape[:2]
        each = np.arange(episodes)
        rest = np.zeros((episodes, table.n_joint))
        best = np.empty((episodes, steps, table.n_joint), dtype=np.int64)
        for step in range(steps - 1, -1, -1):
            # Reward, price, and the charge for what the luck of this step is known to bring.
            sure = table.rewards + table.kernel @ values[step + 1]
            ahead = np.take_along_axis(rest - values[step + 1], following[:, step], axis=1)
            ahead += sure - paid[:, step]
            ahead = ahead.reshape(episodes, table.n_joint, table.block)
            best[:, step] = ahead.argmax(axis=2)
            rest = np.take_along_axis(ahead, best[:, step, :, None], axis=2)[:, :, 0]
        joint = self.first[index]
        earned = rest[each, joint]
        chosen = np.empty((episodes, steps), dtype=np.int64)
        for step in range(steps):
            chosen[:, step] = joint * table.block + best[each, step, joint]
            joint = following[each, step, chosen[:, step]].astype(np.int64)
        return earned, chosen


def _following(problem: Problem, table: LocalTable, noise: FloatArray) -> IntArray:
    """Return the joint state after each configuration under given luck, ``(E, H, K)``."""
    arms = problem.arms
    rows = (table.models * arms.n_doses + table.levels) * arms.n_states + table.states
    result = np.zeros((*noise.shape[:2], len(table)), dtype=np.int64)
    for place, arm in enumerate(table.arms):
        result *= arms.n_states
        for threshold in arms.cumulative:
            result += noise[:, :, None, arm] >= threshold[rows[:, place]]
    return result
