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
from sequoia.defaults import BOUND_SCENARIOS
from sequoia.errors import ProblemError, TooLarge
from sequoia.problem import Environment, Problem, limits_of
from sequoia.problem.environment import States
from sequoia.problem.iis import no_decision
from sequoia.simulate import Scenarios
from sequoia.validation import ActionArray, FloatArray, IntArray

# Every one is tried in every state that can be reached, so more would end at the next limit.
_MAX_ACTIONS = 10_000
# Pairs of a state and an action that are tried in one step of a scenario: a second or so.
MAX_TRIED = 1_000_000
# Twice as many gain less than 0.05 % there.
ROUNDS = 100
# Numbers that scenarios of one batch hold at once in one table: 320 MB.
_BATCH = 4e7
# Prices start close to their best, so the first move is shorter than that of `minimise`. Epidemics
# of 8 and 20 nodes: 0.2 and 0.5 are within 0.03 % of each other, 0.05 is up to 1 % worse.
_SHORTER = 0.2


def clairvoyant_search(
    environment: Environment, *, scenarios: int = BOUND_SCENARIOS, seed: int = 0
) -> Bound:
    """Estimate a bound by going through all that can happen once the luck is known.

    A step is a function of state, action and luck, so in a scenario the states that can be reached
    are listed forward and the best plan is found backward. Nothing is charged for knowing the luck
    (Brown, Smith & Sun 2010, with no penalty), so the bound can be loose where luck matters.

    Raises
    ------
    TooLarge
        With the number of states and actions that a step would need.
    """
    began = time.perf_counter()
    if scenarios < 2:
        raise ProblemError(f"scenarios is {scenarios}; at least 2 is wanted.")
    actions = environment.space.enumerate(_MAX_ACTIONS)
    if not len(actions):
        raise no_decision(environment.space.compact)
    drawn = Scenarios.sample(environment, scenarios, seed)
    totals = np.array(
        [
            _best_total(environment, actions, start, noise)
            for start, noise in zip(drawn.start, drawn.noise, strict=True)
        ]
    )
    total = float(totals.mean())
    margin = stdtrit(scenarios - 1, 0.975) * totals.std(ddof=1) / np.sqrt(scenarios)
    return Bound(
        total,
        total / environment.horizon,
        "clairvoyant",
        time.perf_counter() - began,
        margin=float(margin),
        detail=f"{scenarios} scenarios, nothing charged for knowing the luck",
    )


def _best_total(
    environment: Environment, actions: ActionArray, start: States, noise: FloatArray
) -> float:
    """Return the largest sum of rewards in one scenario."""
    reached: States = start[None]
    steps: list[tuple[FloatArray, IntArray]] = []
    count = len(actions)
    for step, luck in enumerate(noise):
        tried = len(reached) * count
        if tried > MAX_TRIED:
            raise TooLarge(
                f"step {step} can begin in {len(reached)} states, and {count} actions are allowed: "
                f"{tried} pairs; a clairvoyant search is for at most {MAX_TRIED}."
            )
        limits = limits_of(environment, reached, np.full(len(reached), step))
        shape = (len(reached), count)
        allowed = np.ones(shape, np.bool_) if limits is None else limits.allowed(actions)
        state, action = np.nonzero(allowed)
        rewards, place = np.full(shape, -np.inf), np.zeros(shape, dtype=np.int64)
        earned, following = environment.step(
            reached[state], actions[action], np.broadcast_to(luck, (len(state), len(luck)))
        )
        reached, where = np.unique(following, axis=0, return_inverse=True)
        rewards[allowed], place[allowed] = earned, where.reshape(-1)
        steps.append((rewards, place))
    values = np.zeros(len(reached))
    for rewards, place in reversed(steps):
        values = (rewards + values[place]).max(axis=1)
    return float(values[0])


def clairvoyant_bound(
    problem: Problem,
    relaxation: FactoredRelaxation | None = None,
    *,
    scenarios: int = BOUND_SCENARIOS,
    rounds: int = ROUNDS,
    seed: int = 0,
) -> Bound:
    """Estimate a bound by information relaxation (Brown, Smith & Sun 2010).

    In every scenario the luck of all steps is known, so the best plan of one who sees it is a
    deterministic problem. What seeing gains is charged: in each step a plan pays
    ``V(s') - E[V(s') | s, a]``, which costs nothing on average to those who do not see, with V from
    `relax_factored` (Brown & Haugh 2017). The plan itself is relaxed as there: clusters plan on
    their own, and prices of what ties them together are improved for every scenario anew. The mean
    over scenarios is an upper bound in expectation: the rules hold in each scenario, not only on
    average over luck.

    Without an end, luck is known for as many steps as have prices of their own, or the problem's
    horizon if none has. What follows is worth V, which is nowhere too low: nothing is cut off.

    Parameters
    ----------
    relaxation
        Its horizon, discount and start are those of the bound; found with its defaults unless
        given.
    scenarios
        How many; more make the margin smaller, not the bound tighter.
    rounds
        How often prices are improved in each.
    """
    began = time.perf_counter()
    for name, value, least in (("scenarios", scenarios, 2), ("rounds", rounds, 1)):
        if value < least:
            raise ProblemError(f"{name} is {value}; at least {least} is wanted.")
    relaxed = relax_factored(problem) if relaxation is None else relaxation
    steps = relaxed.dual.horizon.steps or problem.horizon
    drawn = Scenarios.sample(replace(problem, horizon=steps, start=relaxed.start), scenarios, seed)
    size = max(1, int(_BATCH / (steps * max(map(len, relaxed.dual.tables)))))
    parts = [slice(first, first + size) for first in range(0, scenarios, size)]
    batches = (_Batch.of(problem, relaxed, drawn.start[part], drawn.noise[part]) for part in parts)
    gain = np.concatenate([batch.gains(rounds) for batch in batches])
    # The mean of V over starts is known, so only what a plan gains on it is estimated.
    total = relaxed.bound.total - float(gain.mean())
    spread = float(gain.std(ddof=1)) / np.sqrt(scenarios)
    margin = float(stdtrit(scenarios - 1, 0.975)) * spread
    spent = time.perf_counter() - began + (relaxed.bound.seconds if relaxation is not None else 0.0)
    detail = f"{scenarios} scenarios; {relaxed.bound.detail}"
    per_step = total / float(relaxed.dual.horizon.weights.sum())
    bound = Bound(total, per_step, "clairvoyant", spent, margin=margin, detail=detail)
    return replace(bound, stopped_by=relaxed.bound.stopped_by)


@dataclass(frozen=True, eq=False)
class _Batch:
    """Scenarios whose plans are looked for side by side.

    Axes: E scenarios, H steps, K configurations, M different moves and U joint states of a
    cluster, R rows.

    Attributes
    ----------
    first
        Joint state of each cluster at first, ``(E,)`` each.
    following
        Joint state after each row of ``moves``, by step and scenario, ``(H, M, E)`` each.
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
            relaxation.value.state_values(start, 0),
        )

    def gains(self, rounds: int) -> FloatArray:
        """Return by how much the best plan of each scenario stays below `worth`, ``(E,)``."""
        dual = self.relaxation.dual
        rows = dual.links.rows
        usual = self.relaxation.prices[self._blocks]
        prices = np.repeat(usual[:, None], len(self.worth), axis=1)
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
    def _blocks(self) -> IntArray:
        """The block of every step, ``(H,)``."""
        steps = np.arange(len(self.following[0]))
        return np.minimum(steps, self.relaxation.dual.horizon.n_blocks - 1)

    @cached_property
    def _discounts(self) -> FloatArray:
        """The weight of every step, and of all that follows the last, ``(H + 1,)``."""
        discounts: FloatArray = self.relaxation.dual.horizon.discount ** np.arange(
            len(self._blocks) + 1, dtype=np.float64
        )
        return discounts

    @cached_property
    def _uses(self) -> list[csr_array]:
        """The use of each row by every configuration of a cluster, ``(K, R)`` each."""
        links = self.relaxation.dual.links
        return [csr_array(links.rows.use[:, a:b].T) for a, b in pairwise(links.first.tolist())]

    def _evaluate(self, prices: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what the best plan earns at most, ``(E,)``, and the slope in prices.

        Prices and slope are ``(H, E, R)``.
        """
        links = self.relaxation.dual.links
        flat = prices.reshape(self.worth.size * len(prices), links.rows.n_rows)
        total = np.zeros(prices.shape[1])
        used = np.zeros(flat.shape)
        for index, uses in enumerate(self._uses):
            paid = (uses @ flat.T).reshape(-1, *prices.shape[:2])
            earned, chosen = self._plan(index, paid)
            total += earned
            used += uses[chosen.reshape(-1)].toarray()
        support, slope = links.support(flat, used)
        total += self._discounts[:-1] @ support.reshape(prices.shape[:2])
        total += self._discounts[-1] * self.relaxation.value.constant_after(len(prices) - 1)
        return total, slope.reshape(prices.shape)

    def _plan(self, index: int, paid: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return what a cluster earns by its best plan, ``(E,)``, and its steps, ``(H, E)``.

        What each configuration costs, ``paid``, ``(K, H, E)``, is overwritten.
        """
        table, discount = self.relaxation.dual.tables[index], self._discounts[1]
        values, following = self.relaxation.value.values[index], self.following[index]
        _, steps, episodes = paid.shape
        each = np.arange(episodes)
        # What follows the last step is worth V, so that nothing is charged for reaching it.
        charge = np.zeros((table.n_joint, episodes))
        ahead = np.subtract(self._sure[index][:, :, None], paid, out=paid)
        for step in range(steps - 1, -1, -1):
            # r + E V(s') - price, and V(s') of the luck that is known is exchanged for the rest.
            known = np.take_along_axis(charge, following[step], axis=0)[table.move]
            ahead[:, step] += discount * known
            rest = ahead[:, step].reshape(table.n_joint, table.block, episodes).max(axis=1)
            charge = rest - values[self._blocks[step]][:, None]
        joint = self.first[index]
        earned = rest[joint, each]
        chosen = np.empty((steps, episodes), dtype=np.int64)
        for step in range(steps):
            options = ahead[:, step].reshape(table.n_joint, table.block, episodes)
            chosen[step] = joint * table.block + options[joint, :, each].argmax(axis=1)
            joint = following[step, table.move[chosen[step]], each]
        return earned, chosen

    @cached_property
    def _sure(self) -> list[FloatArray]:
        """Expected reward and value of what follows each configuration, ``(K, H)`` each."""
        relaxation, discount = self.relaxation, self._discounts[1]
        return [
            np.stack(
                [table.rewards + discount * table.expect(values[b + 1]) for b in self._blocks],
                axis=1,
            )
            for table, values in zip(relaxation.dual.tables, relaxation.value.values, strict=True)
        ]


def _following(problem: Problem, table: LocalTable, noise: FloatArray) -> IntArray:
    """Return the joint state after each row of ``table.moves`` under given luck, ``(H, M, E)``."""
    arms = problem.arms
    _, some = np.unique(table.move, return_index=True)
    rows = (table.models * arms.n_doses + table.levels) * arms.n_states + table.states
    luck = noise.transpose(1, 2, 0)
    result = np.zeros((len(luck), len(some), luck.shape[2]), dtype=np.int64)
    for place, arm in enumerate(table.arms):
        result *= arms.n_states
        for threshold in arms.cumulative:
            result += luck[:, None, arm] >= threshold[rows[some, place], None]
    return result
