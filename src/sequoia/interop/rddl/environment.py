"""An instance of RDDL as an environment."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.errors import ProblemError
from sequoia.interop.rddl.compiler import (
    NOISE,
    Array,
    Compiled,
    Compiler,
    NotSupported,
    Scope,
    Values,
)
from sequoia.interop.rddl.formulas import Grounder, NotLinear
from sequoia.interop.rddl.reading import PREFIX, RddlModel, find_model, read_model
from sequoia.interop.rddl.rules import Row, RuleBook, rows_of
from sequoia.interop.rddl.shares import NoShares, ShareCompiler
from sequoia.interop.rddl.support import Support, Supports
from sequoia.problem import ActionLimits, Dependencies
from sequoia.validation import ActionArray, FloatArray, IntArray

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
    """

    def __init__(self, model: RddlModel, read_from: tuple[str, ...]) -> None:
        self.model, self._read_from = model, read_from
        self.name, self.fingerprint = model.name, model.fingerprint
        lifted = model.lifted
        _require_supported(model)
        self.horizon, self.discount = int(lifted.horizon), float(lifted.discount)
        self._states = list(lifted.state_fluents)
        self._actions = list(lifted.action_fluents)
        self.component_names = list(self._named(self._states))
        compiler = self._compiler = Compiler(model)
        self._steps = [
            (
                name,
                self._shape(name),
                _compiled(compiler, name, lifted.cpfs[name][1], lifted.cpfs[name][0]),
            )
            for name in model.order
        ]
        self._reward = _compiled(compiler, "reward", lifted.reward)
        self._ends = [_compiled(compiler, "termination", e) for e in lifted.terminations]
        self.n_noise = compiler.n_noise
        self._rules = self._read_rules(compiler)
        self.space = self._rules.space
        self._first = self._flat(
            {name: np.asarray(model.start[name])[None] for name in self._states}
        )
        self._chunk = max(1, _TOGETHER // compiler.largest)

    # ------------------------------------------------------------------ what an environment is

    def draw_start(self, rng: np.random.Generator, count: int) -> Array:  # noqa: ARG002
        """Return the first state, ``(count, D)``: an instance has one."""
        return np.repeat(self._first, count, axis=0)

    @cached_property
    def _ranges(self) -> list[tuple[slice, int]]:
        """Which components each state fluent has, and how many values: 0 for amounts."""
        found, first = [], 0
        for name in self._states:
            size = int(np.prod(self._shape(name), dtype=np.int64))
            kind = self.model.lifted.variable_ranges[name]
            values = {"bool": 2, "int": 0, "real": 0}.get(kind)
            if values is None:
                values = len(self.model.lifted.type_to_objects[kind])
            found.append((slice(first, first + size), values))
            first += size
        return found

    def features(self, states: Array) -> FloatArray:
        """Return truth values, an indicator for each object, and amounts made small."""
        parts = []
        for part, values in self._ranges:
            own = states[:, part].astype(np.float64)
            if values == 0:
                own = np.sign(own) * np.log1p(np.abs(own))
            elif values > 2:
                own = (own[:, :, None] == np.arange(values)).reshape(len(own), -1).astype(float)
            parts.append(own)
        return np.concatenate(parts, axis=1)

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
        following = self._flat({name: values[after[name]] for name in self._states})
        if over.any():
            rewards, following = (
                np.where(over, 0.0, rewards),
                np.where(over[:, None], states, following),
            )
        return rewards, following

    def is_over(self, values: Values, count: int) -> Array:
        """Say in which states an episode has ended."""
        found = np.zeros(count, dtype=np.bool_)
        for end in self._ends:
            found |= np.broadcast_to(end(values), (count,))
        return found

    def action_limits(self, states: Array, steps: IntArray) -> ActionLimits | None:  # noqa: ARG002
        """Return what the preconditions allow in each state."""
        if not self._rules.is_by_state:
            return None
        states = np.asarray(states)
        parts = []
        for first in range(0, max(len(states), 1), self._chunk):
            own = states[first : first + self._chunk]
            with np.errstate(all="ignore"):
                parts.append(self._rules.limits(self._values(own, None), len(own)))
        return parts[0] if len(parts) == 1 else ActionLimits.joined(parts)

    # ------------------------------------------------------------------ chances, where known

    @property
    def component_sizes(self) -> IntArray:
        """How many values each component has, ``(D,)``.

        Raises
        ------
        ProblemError
            When one has no limit.
        """
        open_ended = [
            name for name, (_, values) in zip(self._states, self._ranges, strict=True) if not values
        ]
        if open_ended:
            raise ProblemError(
                f"{self.name} has amounts for states ({', '.join(open_ended)}); exact solving "
                "needs states that can be listed."
            )
        return np.concatenate([np.full(p.stop - p.start, values) for p, values in self._ranges])

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
        lifted, found = self.model.lifted, []
        for name, (_, size) in zip(self._states, self._ranges, strict=True):
            parameters, expression = lifted.cpfs[lifted.next_state[name]]
            try:
                run = self._chances.compile(expression, _scope(parameters), size)
            except NoShares as error:
                raise self._not_exact(f"{name}' depends on {error}") from None
            found.append((run, size))
        return found

    @cached_property
    def _chances(self) -> ShareCompiler:
        """Knows which fluents of a step are drawn."""
        lifted, drawn = self.model.lifted, set(self.model.lifted.next_state.values())
        for name in self.model.order:
            if name not in drawn and _is_drawn(lifted.cpfs[name][1]):
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
            for name, (run, size) in zip(self._states, self._shares, strict=True):
                own = np.broadcast_to(run(values), (len(states), *self._shape(name), size))
                wide = np.zeros((len(states), own[0].size // size, most))
                wide[:, :, :size] = own.reshape(len(states), -1, size)
                parts.append(wide)
        found = np.concatenate(parts, axis=1)
        over = self.is_over(values, len(states))
        found[over] = states[over][:, :, None] == np.arange(most)
        return found

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
        lifted = self.model.lifted
        found: dict[str, Array] = {}
        for name, (part, values) in zip(self._states, self._ranges, strict=True):
            own = states[:, part]
            if values == 2 and lifted.variable_ranges[name] == "bool":
                own = own != 0
            elif lifted.variable_ranges[name] != "real":
                own = own.astype(np.int64)
            found[name] = own.reshape(len(states), *self._shape(name))
        if actions is None:
            return found
        every = np.zeros((len(states), self._n_actions), dtype=np.bool_)
        every[:, self._rules.kept] = actions
        for name, first in self._columns.items():
            size = int(np.prod(self._shape(name), dtype=np.int64))
            found[name] = every[:, first : first + size].reshape(len(states), *self._shape(name))
        return found

    def read_value(self, name: str, text: str) -> float:
        """Return a value of a component from a text: a truth value, an object, or a number."""
        fluent = self._states[
            next(
                i
                for i, (part, _) in enumerate(self._ranges)
                if part.start <= self.component_names.index(name) < part.stop
            )
        ]
        kind = self.model.lifted.variable_ranges[fluent]
        if kind == "bool":
            known = {"true": 1, "false": 0, "1": 1, "0": 0}
        else:
            objects = self.model.lifted.type_to_objects.get(kind, ())
            known = {own: i for i, own in enumerate(objects)}
        if known:
            if text.lstrip("@") not in known:
                raise ValueError(text)
            return float(known[text.lstrip("@")])
        return float(text)

    def fluents(self, states: Array) -> dict[str, Array]:
        """Return the value of every state fluent, ``(B, objects)`` each, by name."""
        return self._values(np.asarray(states), None)

    def row(self, fluents: Mapping[str, Any]) -> Array:
        """Return a state, ``(D,)``, from the value of every state fluent, by name."""
        known = {name: np.asarray(fluents[name])[None] for name in self._states}
        state: Array = self._flat(known)[0]
        return state

    def __reduce__(self) -> tuple[Any, tuple[str, ...]]:
        """Read it again elsewhere: what is compiled cannot be sent to another process."""
        return from_rddl, self._read_from

    def ground(self, action: ActionArray) -> dict[str, bool]:
        """Return what an action, ``(N,)``, sets, by the names of pyRDDLGym."""
        every = [g for name in self._actions for g in self.model.lifted.variable_groundings[name]]
        return {every[i]: True for i in self._rules.kept[np.flatnonzero(action)].tolist()}

    def _flat(self, values: dict[str, Array]) -> Array:
        is_real = any(self.model.lifted.variable_ranges[name] == "real" for name in self._states)
        kind = np.float64 if is_real else np.int64
        parts = [values[name].reshape(len(values[name]), -1) for name in self._states]
        return np.concatenate(parts, axis=1).astype(kind)

    def _shape(self, name: str) -> tuple[int, ...]:
        lifted = self.model.lifted
        own = lifted.variable_params[name]
        return tuple(len(lifted.type_to_objects[kind]) for kind in own)

    def _named(self, fluents: list[str]) -> Iterator[str]:
        """Yield the names of ground fluents, such as ``running(c1)``."""
        for name in fluents:
            for objects in self.model.lifted.ground_types(self.model.lifted.variable_params[name]):
                yield f"{name}({', '.join(objects)})" if objects else name

    # ------------------------------------------------------------------ rules

    @cached_property
    def _columns(self) -> dict[str, int]:
        """Number of the first ground action of each action fluent."""
        found, first = {}, 0
        for name in self._actions:
            found[name] = first
            first += int(np.prod(self._shape(name), dtype=np.int64))
        return found

    @property
    def _n_actions(self) -> int:
        return sum(int(np.prod(self._shape(name), dtype=np.int64)) for name in self._actions)

    def _read_rules(self, compiler: Compiler) -> RuleBook:
        grounder = Grounder(self.model, compiler, self._columns, self._n_actions)
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
            return RuleBook(grounder, rows, list(self._named(self._actions)), most)
        except NotLinear as error:
            raise ProblemError(f"{self.name}: {error}: not linear in the actions.") from None

    # ------------------------------------------------------------------ who depends on whom

    @cached_property
    def dependencies(self) -> Dependencies | None:
        """Which components depend on which components and action columns.

        ``None`` where a column reaches no component: then it says too little to learn by.
        """
        size, columns = len(self.component_names), self._n_actions
        known = self._leaves(size, columns)
        lifted = self.model.lifted
        finder = Supports(self.model, self._compiler, known, size + columns)
        for name in self.model.order:
            parameters, expression = lifted.cpfs[name]
            shape = self._shape(name)
            found = finder.of(expression, _scope(parameters))
            known[name] = Support(shape, found.spread(shape))
        rows = [known[lifted.next_state[name]].rows for name in self._states]
        matrix = csr_array(sparse.vstack(rows, format="csr"))
        among = matrix[:, :size].tolil()
        among.setdiag(0)
        reached = matrix[:, size:][:, self._rules.kept]
        if (reached.sum(axis=0) == 0).any():
            return None
        kinds = np.concatenate(
            [np.full(p.stop - p.start, i) for i, (p, _) in enumerate(self._ranges)]
        )
        return Dependencies(csr_array(among), csr_array(reached), kinds)

    def _leaves(self, size: int, columns: int) -> dict[str, Support]:
        """Return the supports of states and actions: each depends on itself."""
        known = {}
        every = csr_array(
            (np.ones(size + columns, np.int8), (np.arange(size + columns),) * 2),
            (size + columns, size + columns),
        )
        for name, (part, _) in zip(self._states, self._ranges, strict=True):
            known[name] = Support(self._shape(name), every[part.start : part.stop])
        for name, first in self._columns.items():
            count = int(np.prod(self._shape(name), dtype=np.int64))
            known[name] = Support(self._shape(name), every[size + first : size + first + count])
        return known


def _compiled(compiler: Compiler, what: str, expression: Any, parameters: Any = ()) -> Any:
    try:
        return compiler.compile(expression, _scope(parameters))
    except NotSupported as error:
        raise ProblemError(f"{what}: {error}") from None


def _is_drawn(expression: Any) -> bool:
    """Say whether there is a draw anywhere in an expression."""
    if isinstance(expression, tuple | list):
        return any(map(_is_drawn, expression))
    if not hasattr(expression, "etype") or expression.etype[0] == "constant":
        return False
    kind, name = expression.etype
    own = kind in ("randomvar", "randomvector") and name not in ("KronDelta", "DiracDelta")
    return own or _is_drawn(expression.args)


def _scope(parameters: Any) -> Scope:
    return tuple((name, kind) for name, kind in parameters or ())


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
