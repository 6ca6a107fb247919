"""Plans that lead to a reward, and their costs: relaxed plans of a compiled instance."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from sequoia.interop.rddl.compiler import Array
from sequoia.interop.rddl.structure import Structure
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# Levels at most; a planning graph of the instances of 2018 has all facts after some fifteen.
_LEVELS = 30
# Goals at most, the nearest ones: more than there are agents to send after them.
_GOALS = 16
# Columns times components: beyond that, trying columns one by one takes minutes.
_LARGEST = 10_000_000
# Rewards that differ by less are equal.
_TINY = 1e-9
# Who brings about what a component becomes: nobody, as it stays; or time alone.
_STAYS, _BY_ITSELF = -2, -1


class RelaxedPlan(NamedTuple):
    """One way to a reward.

    Attributes
    ----------
    worth
        What it earns less what it costs, for each of its steps.
    columns
        Its actions that are possible now.
    """

    worth: float
    columns: IntArray


class Instance(Protocol):
    """The part of an instance of RDDL that plans need."""

    n_noise: int

    def step(
        self, states: Array, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, Array]:
        """Return rewards and next states."""
        ...

    def allowed_alone(self, states: Array) -> ActionArray:
        """Return all columns that are allowed, whatever rules say of them together, ``(B, N)``."""
        ...


class _Fact(NamedTuple):
    """The value of a component with the step to a level."""

    component: int
    level: int


@dataclass(frozen=True, eq=False)
class _Wish:
    """That a column, or time alone, does something at a level: change a component, or earn."""

    level: int
    column: int
    component: int | None


@dataclass(frozen=True, eq=False)
class _Way:
    """A way in which a wish comes true: the fewest facts, and the reward of the column then."""

    facts: tuple[_Fact, ...]
    earned: float


@dataclass(frozen=True, eq=False)
class _Graph:
    """A planning graph: what could be so after each step, and who brings it about.

    Attributes
    ----------
    states
        The relaxed state of each level, ``(D,)`` each; the first is the true one.
    by
        For each step between two levels, which column changes a component, ``(D,)``.
    goals
        Columns that earn something, with the first level at which they do.
    """

    states: list[Array]
    by: list[IntArray]
    goals: dict[int, int]

    def fact(self, component: int, level: int) -> _Fact:
        """Return how a component came to what it is at a level."""
        while self.by[level - 1][component] == _STAYS:
            level -= 1
        return _Fact(component, level)


class RelaxedPlans:
    """Finds plans to whatever earns, by a planning graph of the compiled steps.

    Level by level, each allowed column is tried alone, and what it makes of a component stays: what
    actions undo is left out (Blum and Furst 1997; Hoffmann and Nebel 2001). Of chances, the
    likelier outcome comes true, and flags come true if they can: planning as if luck were kind, and
    again in every step (Yoon, Fern and Givan 2007). What is better false, as far as signs are
    known, stays false.

    A goal is a column that earns something by itself at some level. Backwards from it, each wish
    keeps facts none of which it can do without: all others are undone, as long as it comes true
    (the deletion filter of Chinneck and Dravnieks 1991, many at a time as in Junker 2004). So
    nothing needs to be known of how preconditions and effects are written. With A the actions of a
    plan, W its steps in which time alone brings something about, and F its facts,

    ``worth = (earned - sum_A cost - sum_F upkeep) / (|A| + |W|)``.

    Per step, because a short way can be gone again.
    """

    def __init__(self, instance: Instance, structure: Structure, is_flag: BoolArray) -> None:
        self._instance, self._structure, self._is_flag = instance, structure, is_flag
        self._n_columns = len(structure.kept)

    def __call__(self, state: Array, left: int) -> list[RelaxedPlan]:
        """Return plans from a state, ``(D,)``, the best first, that end within ``left`` steps.

        None where an instance is so large that they would take minutes.
        """
        if self._n_columns * len(state) > _LARGEST:
            return []
        graph = self._graph(state, left)
        nearest = sorted(graph.goals, key=lambda column: graph.goals[column])[:_GOALS]
        wishes = [_Wish(graph.goals[column], column, None) for column in nearest]
        goals = self._ways(graph, wishes)
        known: dict[_Fact, _Way] = {}
        todo = {fact for way in goals for fact in way.facts}
        while todo:
            facts = sorted(todo)
            wanted = [
                _Wish(level - 1, int(graph.by[level - 1][component]), component)
                for component, level in facts
            ]
            known |= zip(facts, self._ways(graph, wanted), strict=True)
            todo = {fact for needed in facts for fact in known[needed].facts} - set(known)
        upkeep = self._upkeep(graph, list(known))
        plans = [
            _plan(graph, wish, way, known, upkeep) for wish, way in zip(wishes, goals, strict=True)
        ]
        return sorted(plans, key=lambda plan: -plan.worth)

    # ------------------------------------------------------------------ forwards

    def _graph(self, state: Array, left: int) -> _Graph:
        graph = _Graph([state], [], {})
        is_new: BoolArray | None = None
        while len(graph.by) < min(_LEVELS, left):
            now = graph.states[-1]
            columns = np.flatnonzero(self._instance.allowed_alone(now[None])[0])
            if is_new is not None:
                columns = columns[self._structure.reads_any(is_new)[columns]]
            actions = self._alone(np.append(_BY_ITSELF, columns))
            rewards, after = self._step(np.repeat(now[None], len(actions), axis=0), actions)
            gains = rewards[1:] - rewards[0]
            for column in columns[gains > _TINY].tolist():
                graph.goals.setdefault(column, len(graph.by))
            following = self._together(np.concatenate([now[None], after]))
            is_new = following != now
            changed = np.flatnonzero(is_new)
            # Whoever does it at the least cost; time costs nothing.
            does = after[:, changed] == following[changed]
            ranks = np.where(does, np.append(np.inf, gains)[:, None], -np.inf)
            by = np.full(len(now), _STAYS)
            by[changed] = np.append(_BY_ITSELF, columns)[ranks.argmax(axis=0)]
            graph.by.append(by)
            graph.states.append(following)
            if not len(changed):
                break
        return graph

    def _alone(self, columns: IntArray) -> ActionArray:
        """Return actions of one column each, or none."""
        actions = np.zeros((len(columns), self._n_columns), dtype=np.int8)
        acts = np.flatnonzero(columns >= 0)
        actions[acts, columns[acts]] = 1
        return actions

    def _step(self, states: Array, actions: ActionArray) -> tuple[FloatArray, Array]:
        """Return rewards and next states, as if luck were kind."""
        noise = np.full((len(states), self._instance.n_noise), 0.5)
        rewards, likely = self._instance.step(states, actions, noise)
        lucky = self._instance.step(states, actions, np.zeros_like(noise))[1]
        lucky = np.where(self._is_flag, lucky, likely)
        return rewards, self._together(np.stack([likely, lucky]))

    def _together(self, states: Array) -> Array:
        """Return the largest value of each component, or the smallest where that is better."""
        is_better_false = self._structure.is_better_false
        best_case: Array = np.where(is_better_false, states.min(axis=0), states.max(axis=0))
        return best_case

    # ------------------------------------------------------------------ backwards

    def _ways(self, graph: _Graph, wishes: Sequence[_Wish]) -> list[_Way]:
        """Return how wishes come true; all are worked on side by side."""
        searches = [self._search(graph, wish) for wish in wishes]
        asked = {n: next(search) for n, search in enumerate(searches)}
        ended: dict[int, tuple[list[int], Array]] = {}
        while asked:
            order = list(asked)
            states = np.stack([asked[n] for n in order])
            answers = self._come_true(graph, [wishes[n] for n in order], states)
            for n, answer in zip(order, answers.tolist(), strict=True):
                try:
                    asked[n] = searches[n].send(answer)
                except StopIteration as end:
                    ended[n] = end.value
                    del asked[n]
        if not wishes:
            return []
        states = np.stack([ended[n][1] for n in range(len(wishes))])
        earned = self._earned(states, np.array([wish.column for wish in wishes]))
        return [
            _Way(tuple(graph.fact(c, wish.level) for c in ended[n][0]), float(earned[n]))
            for n, wish in enumerate(wishes)
        ]

    def _search(
        self, graph: _Graph, wish: _Wish
    ) -> Generator[Array, bool, tuple[list[int], Array]]:
        """Ask of states whether the wish still comes true; return what is needed, and a state.

        What came last is undone first. Each time, the longest run of facts that can be undone is
        found by bisection; the one after it is needed.
        """
        first, held = graph.states[0], graph.states[wish.level]
        asked = self._structure.may_matter(wish.column, wish.component)
        facts = [graph.fact(c, wish.level) for c in asked[held[asked] != first[asked]].tolist()]
        open_facts = [fact.component for fact in sorted(facts, key=lambda fact: -fact.level)]
        kept: list[int] = []
        while True:
            without = _undone(held, first, open_facts)
            # With nothing undone it comes true, whatever rounding says.
            if (yield without) or not open_facts:
                return kept, without
            low, high = 0, len(open_facts) - 1
            while low < high:
                middle = (low + high + 1) // 2
                if (yield _undone(held, first, open_facts[:middle])):
                    low = middle
                else:
                    high = middle - 1
            held = _undone(held, first, open_facts[:low])
            kept.append(open_facts[low])
            open_facts = open_facts[low + 1 :]

    def _come_true(self, graph: _Graph, wishes: Sequence[_Wish], states: Array) -> BoolArray:
        columns = np.array([wish.column for wish in wishes])
        actions = self._alone(columns)
        is_allowed = (actions <= self._instance.allowed_alone(states)).all(axis=1)
        come_true = np.zeros(len(wishes), dtype=np.bool_)
        earns = np.array([wish.component is None for wish in wishes])
        if earns.any():
            come_true[earns] = self._earned(states[earns], columns[earns]) > _TINY
        if not earns.all():
            rows = np.flatnonzero(~earns)
            after = self._step(states[rows], actions[rows])[1]
            component = np.array([wishes[row].component for row in rows.tolist()])
            levels = [wishes[row].level + 1 for row in rows.tolist()]
            wanted = np.stack([graph.states[level] for level in levels])
            among = np.arange(len(rows))
            come_true[rows] = after[among, component] == wanted[among, component]
        result: BoolArray = come_true & is_allowed
        return result

    def _earned(self, states: Array, columns: IntArray) -> FloatArray:
        """Return what columns earn by themselves, ``(B,)``, below 0 where they cost."""
        actions = self._alone(columns)
        noise = np.full((len(states), self._instance.n_noise), 0.5)
        earned: FloatArray = self._instance.step(states, actions, noise)[0]
        return earned - self._instance.step(states, np.zeros_like(actions), noise)[0]

    def _upkeep(self, graph: _Graph, facts: Sequence[_Fact]) -> dict[_Fact, float]:
        """Return what each fact costs while it is there."""
        states = np.repeat(graph.states[0][None], len(facts) + 1, axis=0)
        for row, fact in enumerate(facts):
            states[row, fact.component] = graph.states[fact.level][fact.component]
        rewards = self._step(states, self._alone(np.full(len(states), _BY_ITSELF)))[0]
        costs = np.maximum(rewards[-1] - rewards[:-1], 0.0)
        return dict(zip(facts, costs.tolist(), strict=True))


def _plan(
    graph: _Graph,
    goal: _Wish,
    way: _Way,
    known: dict[_Fact, _Way],
    upkeep: dict[_Fact, float],
) -> RelaxedPlan:
    """Gather everything that a goal needs."""
    facts, todo = set[_Fact](), list(way.facts)
    while todo:
        fact = todo.pop()
        if fact not in facts:
            facts.add(fact)
            todo += known[fact].facts
    costs = {(goal.column, goal.level): -way.earned}
    waits = 0
    for fact in facts:
        column = int(graph.by[fact.level - 1][fact.component])
        if column == _BY_ITSELF:
            waits += 1
        else:
            costs[column, fact.level - 1] = max(0.0, -known[fact].earned)
    earned = -sum(costs.values()) - sum(upkeep[fact] for fact in facts)
    now = sorted(column for column, level in costs if level == 0)
    return RelaxedPlan(earned / (len(costs) + waits), np.array(now, dtype=np.int64))


def _undone(state: Array, first: Array, components: Sequence[int]) -> Array:
    undone = state.copy()
    undone[list(components)] = first[list(components)]
    return undone
