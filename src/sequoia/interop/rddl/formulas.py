"""Preconditions as clauses over action columns, and over what only the state decides."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from sequoia.errors import ProblemError
from sequoia.interop.rddl.compiler import Compiled, Compiler, Scope
from sequoia.interop.rddl.reading import RddlModel

# A formula whose clauses are more has to be written in another way.
_MOST_CLAUSES = 1_000_000
# Rules count; sums closer than this are equal.
_SAME = 1e-9


class NotLinear(ProblemError):
    """A precondition that is not linear in the actions."""


@dataclass(frozen=True)
class Linear:
    """``constant + sum of columns + sum of state terms``, each with its coefficient.

    Attributes
    ----------
    columns, terms
        Coefficients by number of the action column, and of the term that the state decides.
    """

    columns: Mapping[int, float] = field(default_factory=dict)
    terms: Mapping[int, float] = field(default_factory=dict)
    constant: float = 0.0

    def plus(self, other: "Linear", factor: float = 1.0) -> "Linear":
        """Return the sum with a multiple of another."""
        return Linear(
            _added(self.columns, other.columns, factor),
            _added(self.terms, other.terms, factor),
            self.constant + factor * other.constant,
        )

    def times(self, factor: float) -> "Linear":
        """Return a multiple."""
        return Linear().plus(self, factor)

    @property
    def is_number(self) -> bool:
        """Whether it is constant."""
        return not self.columns and not self.terms

    @property
    def is_whole(self) -> bool:
        """Whether all coefficients are whole numbers."""
        numbers = [*self.columns.values(), *self.terms.values(), self.constant]
        return all(abs(number - round(number)) < _SAME for number in numbers)


def _added(
    left: Mapping[int, float], right: Mapping[int, float], factor: float
) -> dict[int, float]:
    result = dict(left)
    for key, value in right.items():
        result[key] = result.get(key, 0.0) + factor * value
        if result[key] == 0.0:
            del result[key]
    return result


@dataclass(frozen=True)
class AtMost:
    """``linear <= 0``."""

    linear: Linear


@dataclass(frozen=True)
class Literal:
    """An action column, or a term that the state decides, being true, or false."""

    number: int
    is_column: bool
    is_true: bool = True

    @property
    def opposite(self) -> "Literal":
        """The same being false, or true."""
        return Literal(self.number, self.is_column, not self.is_true)

    @property
    def value(self) -> Linear:
        """As a number, 0 or 1."""
        sign = 1.0 if self.is_true else -1.0
        weights = {self.number: sign}
        constant = 0.0 if self.is_true else 1.0
        return Linear(weights, {}, constant) if self.is_column else Linear({}, weights, constant)


Atom = Literal | AtMost
Clause = tuple[Atom, ...]
# All clauses hold: none of them is always true, an empty one always false.
Clauses = list[Clause]
TRUE: Clauses = []
FALSE: Clauses = [()]


class Grounder:
    """Turns preconditions into clauses.

    What only the state decides stays an expression: it is a term, with a number, evaluated for
    many states at once by `terms`.

    Attributes
    ----------
    columns
        Number of the first column of each action fluent, by name.
    blocks, terms
        Expressions of the terms in their order, compiled, and as they are with their scopes.
    either
        Sets of literals that are counted as one where any holds; column ``n_columns + i`` is the
        i-th of them.
    """

    def __init__(
        self, model: RddlModel, compiler: Compiler, columns: Mapping[str, int], n_columns: int
    ) -> None:
        self._model, self._compiler = model, compiler
        self._lifted = model.lifted
        self.columns, self.n_columns = columns, n_columns
        self.blocks: list[Compiled] = []
        self.terms: list[tuple[Any, Scope]] = []
        self.n_terms = 0
        self.either: list[frozenset[Literal]] = []
        self._known: dict[tuple[int, Scope], tuple[Compiled, int]] = {}
        self._kinds: dict[int, str] = {}

    # ------------------------------------------------------------------ formulas

    def clauses(self, expression: Any, bound: Mapping[str, tuple[str, int]]) -> Clauses:
        """Return clauses that say that an expression is true.

        ``bound`` are the free objects in scope: type and number of the object of each.
        """
        return self._formula(expression, bound, True)

    def _formula(
        self, expression: Any, bound: Mapping[str, tuple[str, int]], wanted: bool
    ) -> Clauses:
        """Return clauses that say that an expression is as ``wanted``."""
        if not self._has_action(expression):
            return self._of_state(expression, bound, wanted)
        kind, operator = expression.etype
        arguments = expression.args
        if kind == "pvar":
            return [(Literal(self._column(expression, bound), True, wanted),)]
        if kind == "boolean" and operator == "~" and len(arguments) == 1:
            return self._formula(arguments[0], bound, not wanted)
        if kind == "boolean" and operator in "^&|":
            parts = [self._formula(part, bound, wanted) for part in arguments]
            return _all(parts) if (operator != "|") == wanted else self._any(parts)
        if kind == "boolean" and operator == "=>":
            first = self._formula(arguments[0], bound, not wanted)
            second = self._formula(arguments[1], bound, wanted)
            return self._any([first, second]) if wanted else _all([first, second])
        if kind == "boolean" and operator == "<=>":
            return self._equal(arguments, bound, wanted)
        if kind == "aggregation" and operator in ("forall", "exists"):
            parts = [self._formula(arguments[-1], b, wanted) for b in self._each(arguments, bound)]
            return _all(parts) if (operator == "forall") == wanted else self._any(parts)
        if kind == "relational":
            return self._comparison(operator, arguments, bound, wanted)
        raise NotLinear(f"{kind} {operator} of actions")

    def _equal(self, arguments: Any, bound: Mapping[str, tuple[str, int]], wanted: bool) -> Clauses:
        """Return clauses for two formulas that agree, or differ."""
        left, right = (
            [self._formula(part, bound, side) for side in (True, False)] for part in arguments
        )
        if not wanted:
            right.reverse()
        return _all([self._any([left[1], right[0]]), self._any([left[0], right[1]])])

    def _any(self, parts: Sequence[Clauses]) -> Clauses:
        """Return clauses that say that at least one of some formulas holds: distribution."""
        result: Clauses = FALSE
        for part in parts:
            if len(result) * len(part) > _MOST_CLAUSES:
                raise NotLinear("a formula of too many cases")
            result = [_joined(conjunction, other) for conjunction in result for other in part]
        return [clause for clause in result if not _is_sure(clause)]

    def _each(
        self, arguments: Any, bound: Mapping[str, tuple[str, int]]
    ) -> Iterator[dict[str, tuple[str, int]]]:
        """Yield the objects in scope for every combination of those that are added."""
        added = [pair for _, pair in arguments[:-1]]
        sizes = [range(len(self._lifted.type_to_objects[kind])) for _, kind in added]
        for numbers in product(*sizes):
            inner = {name: (kind, i) for (name, kind), i in zip(added, numbers, strict=True)}
            yield {**bound, **inner}

    def _comparison(
        self,
        operator: str,
        arguments: Any,
        bound: Mapping[str, tuple[str, int]],
        wanted: bool,
    ) -> Clauses:
        left, right = (self._number(part, bound) for part in arguments)
        if not wanted:
            operator = {"<=": ">", ">=": "<", "<": ">=", ">": "<=", "==": "~=", "~=": "=="}[
                operator
            ]
        apart = left.plus(right, -1.0)
        if operator in (">=", ">"):
            apart, operator = apart.times(-1.0), "<=" if operator == ">=" else "<"
        if operator == "==":
            return [(AtMost(apart),), (AtMost(apart.times(-1.0)),)]
        if operator == "<=":
            return [(AtMost(apart),)]
        if operator == "<" and apart.is_whole and all(map(self._is_whole, apart.terms)):
            return [(AtMost(apart.plus(Linear(constant=1.0))),)]
        raise NotLinear(f"the comparison {operator}")

    def _is_whole(self, term: int) -> bool:
        """Say whether a term counts, or is true or false: it is never a fraction."""
        first = max(number for number in self._kinds if number <= term)
        return self._kinds[first] in "biu"

    # ------------------------------------------------------------------ numbers

    def _number(self, expression: Any, bound: Mapping[str, tuple[str, int]]) -> Linear:
        """Return an expression as a sum of columns and terms."""
        if not self._has_action(expression):
            return self._term(expression, bound)
        kind, operator = expression.etype
        arguments = expression.args
        if kind == "arithmetic" and len(arguments) == 1:
            return self._number(arguments[0], bound).times(-1.0)
        if kind == "arithmetic" and operator in "+-":
            first, *rest = (self._number(part, bound) for part in arguments)
            for part in rest:
                first = first.plus(part, 1.0 if operator == "+" else -1.0)
            return first
        if kind == "arithmetic":
            return self._scaled(operator, [self._number(part, bound) for part in arguments])
        if kind == "aggregation" and operator == "sum":
            total = Linear()
            columns: dict[int, float] = {}
            terms: dict[int, float] = {}
            constant = 0.0
            for inner in self._each(arguments, bound):
                part = self._number(arguments[-1], inner)
                for into, new in ((columns, part.columns), (terms, part.terms)):
                    for key, value in new.items():
                        into[key] = into.get(key, 0.0) + value
                constant += part.constant
            return total.plus(Linear(columns, terms, constant))
        return self._counted(self._formula(expression, bound, True))

    def _scaled(self, operator: str, parts: Sequence[Linear]) -> Linear:
        *others, last = sorted(parts[:2], key=lambda part: not part.is_number)
        if operator == "/":
            others, last = [parts[1]], parts[0]
        if len(parts) != 2 or not others[0].is_number:
            raise NotLinear("a product of an action and what the state decides")
        factor = others[0].constant
        return last.times(1.0 / factor if operator == "/" else factor)

    def _counted(self, clauses: Clauses) -> Linear:
        """Return 1 where a formula holds, else 0."""
        if not clauses:
            return Linear(constant=1.0)
        if clauses == FALSE:
            return Linear()
        if len(clauses) == 1 and all(isinstance(atom, Literal) for atom in clauses[0]):
            atoms = [atom for atom in clauses[0] if isinstance(atom, Literal)]
            if len(atoms) == 1:
                return atoms[0].value
            if all(atom.is_column for atom in atoms):
                self.either.append(frozenset(atoms))
                return Linear({self.n_columns + len(self.either) - 1: 1.0})
        raise NotLinear("a formula of actions and states inside a sum")

    # ------------------------------------------------------------------ leaves

    def _has_action(self, expression: Any) -> bool:
        if isinstance(expression, tuple | list):
            return any(self._has_action(part) for part in expression)
        if not hasattr(expression, "etype"):
            return False
        kind, name = expression.etype
        if kind == "pvar":
            if name in self.columns:
                return True
            if name in self._lifted.interm_fluents or name in self._lifted.derived_fluents:
                raise NotLinear(f"the intermediate fluent {name}")
        return kind != "constant" and self._has_action(expression.args)

    def _column(self, expression: Any, bound: Mapping[str, tuple[str, int]]) -> int:
        name, given = expression.args
        index = []
        for argument in given or []:
            if not isinstance(argument, str):
                raise NotLinear(f"an action of an object that the state decides, {name}")
            if argument.startswith("?"):
                index.append(bound[argument][1])
            else:
                index.append(self._lifted.object_to_index[argument.removeprefix("@")])
        shape = np.shape(self._model.start[name])
        return self.columns[name] + int(np.ravel_multi_index(tuple(index), shape) if index else 0)

    def _of_state(
        self, expression: Any, bound: Mapping[str, tuple[str, int]], wanted: bool
    ) -> Clauses:
        term = self._term(expression, bound)
        if term.is_number:
            return TRUE if bool(term.constant) == wanted else FALSE
        (number,) = term.terms
        return [(Literal(number, False, wanted),)]

    def _term(self, expression: Any, bound: Mapping[str, tuple[str, int]]) -> Linear:
        """Return what only the state decides: a number, or a term evaluated later."""
        free = sorted(_free(expression) & bound.keys())
        scope = tuple((name, bound[name][0]) for name in free)
        key = (id(expression), scope)
        if key not in self._known:
            compiled = self._compiler.compile(expression, scope)
            self._known[key] = compiled, self.n_terms
            if compiled.constant is None:
                self.blocks.append(_spread(compiled, self._compiler.sizes(scope)))
                self.terms.append((expression, scope))
                start = {name: np.asarray(v)[None] for name, v in self._model.start.items()}
                self._kinds[self.n_terms] = compiled(start).dtype.kind
                self.n_terms += int(np.prod(self._compiler.sizes(scope), dtype=np.int64))
        compiled, first = self._known[key]
        sizes = self._compiler.sizes(scope)
        numbers = tuple(bound[name][1] for name in free)
        if compiled.constant is not None:
            wide = np.broadcast_to(compiled.constant[0], sizes)
            return Linear(constant=float(wide[numbers]))
        place = int(np.ravel_multi_index(numbers, sizes)) if sizes else 0
        return Linear({}, {first + place: 1.0})


def _spread(compiled: Compiled, sizes: tuple[int, ...]) -> Compiled:
    """Return a function whose result is ``(B, prod(sizes))``."""

    def run(values: Any) -> Any:
        array = compiled(values)
        return np.broadcast_to(array, (len(array), *sizes)).reshape(len(array), -1)

    return Compiled(run)


def _free(expression: Any) -> set[str]:
    """Return the free objects that an expression names."""
    if isinstance(expression, str):
        return {expression} if expression.startswith("?") else set()
    if isinstance(expression, tuple | list):
        return set().union(*(_free(part) for part in expression))
    if not hasattr(expression, "etype"):
        return set()
    return _free(expression.args) if expression.etype[0] != "constant" else set()


def _all(parts: Sequence[Clauses]) -> Clauses:
    return [clause for part in parts for clause in part]


def _joined(left: Clause, right: Clause) -> Clause:
    return left + tuple(atom for atom in right if atom not in left)


def _is_sure(clause: Clause) -> bool:
    """Say whether a clause holds whatever is chosen."""
    literals = {atom for atom in clause if isinstance(atom, Literal)}
    return any(literal.opposite in literals for literal in literals)
