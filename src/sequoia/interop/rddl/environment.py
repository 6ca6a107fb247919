"""An instance of RDDL as an environment."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from sequoia.errors import ProblemError
from sequoia.interop.rddl.compiler import (
    NOISE,
    Array,
    Compiled,
    Compiler,
    NotSupported,
    Values,
    scope_of,
)
from sequoia.interop.rddl.formulas import Grounder, NotLinear
from sequoia.interop.rddl.layout import Layout
from sequoia.interop.rddl.progress import Progress
from sequoia.interop.rddl.reading import PREFIX, RddlModel, find_model, read_model
from sequoia.interop.rddl.relaxed_plans import RelaxedPlan, RelaxedPlans
from sequoia.interop.rddl.rules import Row, RuleBook, rows_of
from sequoia.interop.rddl.shares import NoShares, ShareCompiler
from sequoia.interop.rddl.structure import SHARE, Structure
from sequoia.problem import ActionLimits, Dependencies
from sequoia.validation import ActionArray, BoolArray, FloatArray, IntArray

# Numbers of one array that are held at once: chunks of some hundred states stay in the cache.
_TOGETHER = 1_000_000
# Characters of a precondition that name its rows.
_LONGEST = 60


def from_rddl(domain: Path | str, instance: Path | str | None = None) -> "RddlEnvironment":
    """Return an instance of RDDL as an environment that SEQUOIA can plan for.

    Parameters
    ----------
    domain
        A file, or with the prefix ``rddl:`` a domain and an instance of rddlrepository, such as
        ``rddl:AcademicAdvising_ippc2018/5``.
    instance
        A file.

    Raises
    ------
    FileError
        When something cannot be read, or a package is missing.
    ProblemError
        When it is no decision process with boolean actions whose rules are linear; the message
        names the construct.
    """
    source = str(domain)
    if source.startswith(PREFIX):
        return RddlEnvironment(read_model(*find_model(source.removeprefix(PREFIX))), (source,))
    if instance is None:
        raise ProblemError(f"{domain} is a domain; an instance is wanted, too.")
    return RddlEnvironment(read_model(domain, instance), (source, str(instance)))


class RddlEnvironment:
    """An instance of RDDL; made by `from_rddl`.

    A state is a row of numbers: truth values, numbers of objects, counts and amounts of all ground
    state fluents, as the domain orders them. An action column is a ground action fluent that is
    possible at all. The reward is what the instance says for the step and its luck; a state in
    which an episode has ended stays as it is and earns nothing.

    Attributes
    ----------
    component_names
        Names of the ground state fluents, ``D`` of them.
    layout
        How fluents stand in rows of numbers.
    """

    def __init__(self, model: RddlModel, read_from: tuple[str, ...]) -> None:
        self.model, self._read_from = model, read_from
        self.name, self.fingerprint = model.name, model.fingerprint
        lifted = model.lifted
        _require_supported(model)
        self.horizon, self.discount = int(lifted.horizon), float(lifted.discount)
        self.layout = Layout(model)
        self.component_names = list(self.layout.names(self.layout.states))
        compiler = self._compiler = Compiler(model)
        self._steps = [
            (
                name,
                self.layout.shape(name),
                _compiled(compiler, name, lifted.cpfs[name][1], lifted.cpfs[name][0]),
            )
            for name in model.order
        ]
        self._reward = _compiled(compiler, "reward", lifted.reward)
        self._ends = [_compiled(compiler, "termination", e) for e in lifted.terminations]
        self.n_noise = compiler.n_noise
        self._rules = self._read_rules(compiler)
        self.space = self._rules.space
        self._first = self.layout.rows(
            {name: np.asarray(model.start[name])[None] for name in self.layout.states}
        )
        self._chunk = max(1, _TOGETHER // compiler.largest)

    # ------------------------------------------------------------------ what an environment is

    def draw_start(self, rng: np.random.Generator, count: int) -> Array:
        """Return the first state, ``(count, D)``: an instance has one."""
        return np.repeat(self._first, count, axis=0)

    def features(self, states: Array) -> FloatArray:
        """Return truth values, an indicator for each object, and amounts made small."""
        return self.layout.features(np.asarray(states))

    def step(
        self, states: Array, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, Array]:
        """Return rewards, ``(B,)``, and the next states."""
        states = np.asarray(states)
        rewards, following = np.empty(len(states)), np.empty_like(self._first, shape=states.shape)
        for first in range(0, len(states), self._chunk):
            part = slice(first, first + self._chunk)
            rewards[part], following[part] = self._step(states[part], actions[part], noise[part])
        return rewards, following

    def _step(
        self, states: Array, actions: ActionArray, noise: FloatArray
    ) -> tuple[FloatArray, Array]:
        values = self._values(states, actions)
        values[NOISE] = noise
        over = self.is_over(values, len(states))
        with np.errstate(all="ignore"):
            for name, shape, run in self._steps:
                values[name] = np.broadcast_to(run(values), (len(states), *shape))
            rewards = np.broadcast_to(self._reward(values), (len(states),)).astype(np.float64)
        after = self.model.lifted.next_state
        following = self.layout.rows({name: values[after[name]] for name in self.layout.states})
        if over.any():
            rewards, following = (
                np.where(over, 0.0, rewards),
                np.where(over[:, None], states, following),
            )
        return rewards, following

    def is_over(self, values: Values, count: int) -> Array:
        """Say in which states an episode has ended."""
        is_at_end = np.zeros(count, dtype=np.bool_)
        for end in self._ends:
            is_at_end |= np.broadcast_to(end(values), (count,))
        return is_at_end

    def action_limits(self, states: Array, steps: IntArray) -> ActionLimits | None:
        """Return what the preconditions allow in each state."""
        if not self._rules.is_by_state and self.space.kind == "budget":
            return None
        states = np.asarray(states)
        parts = []
        for first in range(0, max(len(states), 1), self._chunk):
            chunk = states[first : first + self._chunk]
            with np.errstate(all="ignore"):
                parts.append(self._rules.limits(self._values(chunk, None), len(chunk)))
        return parts[0] if len(parts) == 1 else ActionLimits.joined(parts)

    # ------------------------------------------------------------------ chances, where known

    @property
    def component_sizes(self) -> IntArray:
        """The number of values of each component, ``(D,)``.

        Raises
        ------
        ProblemError
            When one has no limit.
        """
        pairs = zip(self.layout.states, self.layout.ranges, strict=True)
        open_ended = [name for name, (_, values) in pairs if not values]
        if open_ended:
            raise ProblemError(
                f"{self.name} has amounts for states ({', '.join(open_ended)}); exact solving "
                "needs states that can be listed."
            )
        return np.concatenate(
            [np.full(p.stop - p.start, values) for p, values in self.layout.ranges]
        )

    @property
    def start(self) -> FloatArray:
        """The chance of each first value, ``(D, K)``: there is one first state."""
        shares: FloatArray = (
            self._first[0][:, None] == np.arange(self.component_sizes.max())
        ) * 1.0
        return shares

    @cached_property
    def _shares(self) -> list[tuple[Compiled, int]]:
        """The chances of every state fluent, and how many values it has."""
        lifted, compiled = self.model.lifted, []
        for name, (_, size) in zip(self.layout.states, self.layout.ranges, strict=True):
            parameters, expression = lifted.cpfs[lifted.next_state[name]]
            try:
                run = self._chances.compile(expression, scope_of(parameters), size)
            except NoShares as error:
                raise self._not_exact(f"{name}' depends on {error}") from None
            compiled.append((run, size))
        return compiled

    @cached_property
    def _chances(self) -> ShareCompiler:
        """Knows which fluents of a step are drawn, or depend on such."""
        lifted, drawn = self.model.lifted, set(self.model.lifted.next_state.values())
        for name in self.model.order:
            if name not in drawn and _is_drawn(lifted.cpfs[name][1], drawn):
                drawn.add(name)
        return ShareCompiler(self.model, self._compiler, drawn)

    def _not_exact(self, reason: str) -> ProblemError:
        return ProblemError(f"{self.name} cannot be solved exactly: {reason}.")

    def next_shares(self, states: Array, actions: ActionArray) -> FloatArray:
        """Return the chance of each next value of each component, ``(B, D, K)``."""
        values = self._values(states, actions)
        most = int(self.component_sizes.max())
        parts = []
        with np.errstate(all="ignore"):
            for name, shape, run in self._steps:
                if name not in self._chances.random:
                    values[name] = np.broadcast_to(run(values), (len(states), *shape))
            for name, (run, size) in zip(self.layout.states, self._shares, strict=True):
                shares = np.broadcast_to(run(values), (len(states), *self.layout.shape(name), size))
                wide = np.zeros((len(states), shares[0].size // size, most))
                wide[:, :, :size] = shares.reshape(len(states), -1, size)
                parts.append(wide)
        joined = np.concatenate(parts, axis=1)
        over = self.is_over(values, len(states))
        joined[over] = states[over][:, :, None] == np.arange(most)
        return joined

    def expected_reward(self, states: Array, actions: ActionArray) -> FloatArray:
        """Return the reward of a step, ``(B,)``, where luck has no part in it."""
        try:
            if self._chances.is_random(self.model.lifted.reward):
                raise NoShares("luck")
        except NoShares as error:
            raise self._not_exact(f"the reward depends on {error}") from None
        noise = np.zeros((len(states), self.n_noise))
        return self.step(states, actions, noise)[0]

    # ------------------------------------------------------------------ values of fluents

    def _values(self, states: Array, actions: ActionArray | None) -> dict[str, Array]:
        """Return the values of all state and action fluents, ``(B, objects)`` each."""
        fluents = self.layout.fluents(states)
        if actions is None:
            return fluents
        every = np.zeros((len(states), self.layout.n_actions), dtype=np.bool_)
        every[:, self._rules.kept] = actions
        return fluents | self.layout.action_fluents(every)

    def read_value(self, name: str, text: str) -> float:
        """Return a value of a component from a text: a truth value, an object, or a number."""
        return self.layout.read_value(self.component_names.index(name), text)

    def __reduce__(self) -> tuple[Any, tuple[str, ...]]:
        """Read it again elsewhere: what is compiled cannot be sent to another process."""
        return from_rddl, self._read_from

    def ground(self, action: ActionArray) -> dict[str, bool]:
        """Return what an action, ``(N,)``, sets, by the names of pyRDDLGym."""
        every = self.layout.ground_actions()
        return {every[i]: True for i in self._rules.kept[np.flatnonzero(action)].tolist()}

    # ------------------------------------------------------------------ rules

    def _read_rules(self, compiler: Compiler) -> RuleBook:
        grounder = Grounder(self.model, compiler, self.layout.columns, self.layout.n_actions)
        rows: list[Row] = []
        for expression in self.model.lifted.preconditions:
            text = _text(expression)
            try:
                short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
                for clause in grounder.clauses(expression, {}):
                    rows += rows_of(clause, short)
            except NotLinear as error:
                raise ProblemError(
                    f"{self.name}: {error} makes a precondition not linear in the actions: {text}"
                ) from None
        most = int(self.model.lifted.max_allowed_actions)
        try:
            return RuleBook(grounder, rows, list(self.layout.names(self.layout.actions)), most)
        except NotLinear as error:
            raise ProblemError(f"{self.name}: {error}: not linear in the actions.") from None

    @cached_property
    def dependencies(self) -> Dependencies | None:
        """The components and action columns that each component depends on."""
        return self._structure.dependencies

    @cached_property
    def relevance(self) -> FloatArray:
        """The help to the reward when a component leaves its first value, ``(D,)``."""
        return self._structure.relevance(self._first[0])

    @cached_property
    def progress(self) -> Callable[[Array], FloatArray] | None:
        """By how many tries a step brings the goals of the reward nearer: of states, ``(B, D)``.

        ``None`` where chances are not known, or no component is a goal.
        """
        goals = np.flatnonzero(self._is_flag & (self.relevance == 1))
        helpers = np.flatnonzero(self._is_flag & (self.relevance == SHARE))
        try:
            self.next_shares(self._first, np.zeros((1, self.space.n_actions), dtype=np.int8))
        except ProblemError:
            return None
        return Progress(self, self._first[0], goals, helpers) if len(goals) else None

    def allowed_alone(self, states: Array) -> ActionArray:
        """Return all columns that are allowed, whatever rules say of them together, ``(B, N)``."""
        limits = self.action_limits(states, np.zeros(len(states), np.int64))
        if limits is None:
            return np.ones((len(states), self.space.n_actions), dtype=np.int8)
        return limits.upper.astype(np.int8)

    def relaxed_plans(self, state: Array, left: int) -> list[RelaxedPlan]:
        """Return plans from a state, ``(D,)``, to whatever earns within the steps left."""
        return self._planner(np.asarray(state), left)

    @cached_property
    def _planner(self) -> RelaxedPlans:
        return RelaxedPlans(self, self._structure, self._is_flag)

    @cached_property
    def _is_flag(self) -> BoolArray:
        """The components that are true or false, ``(D,)``."""
        return np.concatenate([np.full(p.stop - p.start, k == 2) for p, k in self.layout.ranges])

    @cached_property
    def _structure(self) -> Structure:
        return Structure.of(self.model, self.layout, self._compiler, self._rules)


def _compiled(compiler: Compiler, what: str, expression: Any, parameters: Any = ()) -> Any:
    try:
        return compiler.compile(expression, scope_of(parameters))
    except NotSupported as error:
        raise ProblemError(f"{what}: {error}") from None


def _is_drawn(expression: Any, drawn: set[str]) -> bool:
    """Say whether there is a draw, or a fluent that is drawn, anywhere in an expression."""
    if isinstance(expression, tuple | list):
        return any(_is_drawn(part, drawn) for part in expression)
    if not hasattr(expression, "etype") or expression.etype[0] == "constant":
        return False
    kind, name = expression.etype
    is_random = kind in ("randomvar", "randomvector") and name not in ("KronDelta", "DiracDelta")
    return is_random or (kind == "pvar" and name in drawn) or _is_drawn(expression.args, drawn)


def _require_supported(model: RddlModel) -> None:
    """Refuse what cannot be planned for, in one line."""
    lifted = model.lifted
    if lifted.observ_fluents:
        raise ProblemError(
            f"{model.name} is partially observed ({', '.join(lifted.observ_fluents)}); only fully "
            "observed models are supported."
        )
    for name, kind in lifted.action_ranges.items():
        if kind != "bool":
            raise ProblemError(
                f"{model.name} has the action {name} of type {kind}; only boolean actions are "
                "supported."
            )
        if np.any(model.start[name]):
            raise ProblemError(f"{model.name} has the action {name} with default true.")
    if not 0 < float(lifted.discount) <= 1:
        raise ProblemError(f"{model.name} has the discount {lifted.discount}; (0, 1] is wanted.")


def _text(expression: Any) -> str:
    """Return an expression as it is written in RDDL, in one line."""
    from pyRDDLGym.core.debug.decompiler import RDDLDecompiler

    return " ".join(RDDLDecompiler().decompile_expr(expression).split())
