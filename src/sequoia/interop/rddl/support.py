"""Variables that an expression depends on, and the direction, given what never changes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.interop.rddl.compiler import Compiled, Compiler, NotSupported, Scope
from sequoia.interop.rddl.reading import RddlModel

Array = NDArray[Any]

# Larger arguments make these larger.
_GROWING = {
    ("arithmetic", "+"), ("func", "min"), ("func", "max"), ("randomvar", "KronDelta"),
    ("randomvar", "DiracDelta"), ("randomvar", "Bernoulli"), ("randomvar", "Poisson"),
}  # fmt: skip
_GROWING_OVER = {"sum", "avg", "forall", "exists", "minimum", "maximum"}


@dataclass(frozen=True, eq=False)
class Support:
    """For every combination of objects, the variables that an expression depends on.

    Attributes
    ----------
    shape
        Length of each axis of the scope; 1 where nothing changes along it.
    rows
        ``(prod(shape), 2 V)``, not zero where it depends on a variable: in the first half where a
        larger one may make it larger, in the second half where smaller.
    """

    shape: tuple[int, ...]
    rows: csr_array

    def spread(self, shape: tuple[int, ...]) -> csr_array:
        """Return the rows for a larger shape that this one broadcasts to."""
        if shape == self.shape:
            return self.rows
        each = np.arange(self.rows.shape[0]).reshape(self.shape)
        return self.rows[np.broadcast_to(each, shape).reshape(-1)]

    @property
    def opposite(self) -> "Support":
        """Of the expression's negation."""
        return Support(self.shape, swapped(self.rows))

    @property
    def either(self) -> "Support":
        """Without a direction."""
        return Support(self.shape, _ones(self.rows + swapped(self.rows)))


def swapped(rows: csr_array) -> csr_array:
    """Return rows with the halves exchanged."""
    half = rows.shape[1] // 2
    return csr_array(sparse.hstack([rows[:, half:], rows[:, :half]], format="csr"))


class Supports:
    """Finds supports of expressions; a part that a constant switches off does not count.

    Parameters
    ----------
    known
        Supports of fluents, by name, with their own shapes.
    """

    def __init__(
        self, model: RddlModel, compiler: Compiler, known: dict[str, Support], n_variables: int
    ) -> None:
        self._model, self._compiler = model, compiler
        self._known, self._size = known, 2 * n_variables

    def of(self, expression: Any, scope: Scope) -> Support:
        """Return the support of an expression."""
        kind, operator = expression.etype
        if self.constant(expression, scope) is not None:
            return self._nothing(scope)
        if kind == "pvar":
            return self._pvar(expression, scope)
        if kind == "aggregation":
            return self._aggregation(expression, operator, scope)
        if kind == "randomvar" and operator.startswith(("Discrete", "UnnormDiscrete")):
            return self._discrete(expression, operator, scope).either
        if kind == "control" and operator == "switch":
            number, *_ = expression.args
            cases, default = self._model.cases.cached_sim_info(expression)
            parts = [number, *(default if case is None else case for case in cases)]
            return self._together([self.of(part, scope) for part in parts]).either
        if kind == "control":
            return self._if(expression, scope)
        if kind == "relational" or (kind, operator) == ("arithmetic", "-"):
            return self._apart(operator, [self.of(part, scope) for part in expression.args])
        if kind == "arithmetic" and operator in "*/":
            return self._product(expression.args, scope, operator)
        if (kind, operator) in {("boolean", "^"), ("boolean", "&")}:
            return self._switched(expression.args, scope, off=0)
        if (kind, operator) == ("boolean", "|"):
            return self._switched(expression.args, scope, off=1)
        if (kind, operator) == ("boolean", "=>"):
            return self._implied(expression.args, scope)
        support = self._together([self.of(part, scope) for part in expression.args])
        if (kind, operator) == ("boolean", "~"):
            return support.opposite
        return support if (kind, operator) in _GROWING else support.either

    def constant(self, expression: Any, scope: Scope) -> Array | None:
        """Return the value of an expression that never changes, without its first axis."""
        if not self._model.lifted.is_non_fluent_expression(expression):
            return None
        compiled: Compiled = self._compiler.compile(expression, scope)
        return None if compiled.constant is None else compiled.constant[0]

    def _nothing(self, scope: Scope) -> Support:
        return Support((1,) * len(scope), csr_array((1, self._size), dtype=np.int8))

    def _together(self, parts: list[Support]) -> Support:
        shape = np.broadcast_shapes(*(part.shape for part in parts))
        total = parts[0].spread(shape)
        for part in parts[1:]:
            total = total + part.spread(shape)
        return Support(shape, _ones(total))

    def _masked(self, part: Support, keep: Array) -> Support:
        """Drop the rows where ``keep`` is false."""
        shape = np.broadcast_shapes(part.shape, keep.shape)
        wide = np.broadcast_to(keep, shape).reshape(-1).astype(np.int8)
        return Support(shape, csr_array(part.spread(shape).multiply(wide[:, None])))

    def _apart(self, operator: str, parts: list[Support]) -> Support:
        """Return the support of a difference or a comparison."""
        if len(parts) == 1:
            return parts[0].opposite
        first, *rest = parts
        support = self._together([first, *(part.opposite for part in rest)])
        if operator in ("==", "~="):
            return support.either
        return support.opposite if operator in ("<=", "<") else support

    def _product(self, parts: Any, scope: Scope, operator: str) -> Support:
        """Return the support of a product or a quotient: a negative constant turns it round."""
        support = self._switched(parts, scope, off=0)
        moving = [part for part in parts if self.constant(part, scope) is None]
        is_divisor = operator == "/" and parts[1] in moving
        if is_divisor or (len(moving) > 1 and not all(map(self._is_truth, moving))):
            return support.either
        for part in parts:
            value = self.constant(part, scope)
            if value is not None:
                sides = self._masked(support, value >= 0), self._masked(support.opposite, value < 0)
                support = self._together(list(sides))
        return support

    def _is_truth(self, expression: Any) -> bool:
        """Say whether a value is surely true or false."""
        kind, operator = expression.etype
        if kind == "pvar":
            return bool(self._model.lifted.variable_ranges.get(expression.args[0]) == "bool")
        return kind in ("boolean", "relational") or operator in ("forall", "exists", "Bernoulli")

    def _switched(self, parts: Any, scope: Scope, off: int) -> Support:
        """Return the support of a product or a disjunction: a constant may switch it off."""
        fixed = [self.constant(part, scope) for part in parts]
        support = self._together([self.of(part, scope) for part in parts])
        for value in fixed:
            if value is not None:
                support = self._masked(support, value != off)
        return support

    def _implied(self, parts: Any, scope: Scope) -> Support:
        first, second = (self.constant(part, scope) for part in parts)
        condition, conclusion = (self.of(part, scope) for part in parts)
        support = self._together([condition.opposite, conclusion])
        if first is not None:
            support = self._masked(support, first != 0)
        return support if second is None else self._masked(support, second == 0)

    def _if(self, expression: Any, scope: Scope) -> Support:
        """Return the support of a choice; where a branch is sure, its condition has a direction."""
        condition, yes, no = expression.args
        value = self.constant(condition, scope)
        branches = self.of(yes, scope), self.of(no, scope)
        if value is not None:
            kept = [self._masked(branches[0], value != 0), self._masked(branches[1], value == 0)]
            return self._together(kept)
        chosen = self.of(condition, scope)
        sure = self._sure(yes, scope), self._sure(no, scope)
        if True in sure or False in sure:
            grows = sure[0] is True or sure[1] is False
            chosen = chosen if grows else chosen.opposite
        else:
            chosen = chosen.either
        return self._together([chosen, *branches])

    def _sure(self, expression: Any, scope: Scope) -> bool | None:
        """Return the truth value that a branch always has, for all objects."""
        kind, operator = expression.etype
        if kind == "randomvar" and operator in ("KronDelta", "DiracDelta"):
            return self._sure(expression.args[0], scope)
        value = self.constant(expression, scope)
        if value is None or value.dtype != np.bool_ or value.any() != value.all():
            return None
        return bool(value.all())

    def _aggregation(self, expression: Any, operator: str, scope: Scope) -> Support:
        *free, body = expression.args
        added = tuple(pair for _, pair in free)
        support = self._reduced(self.of(body, scope + added), len(scope))
        return support if operator in _GROWING_OVER else support.either

    def _reduced(self, inner: Support, kept: int) -> Support:
        """Put together what stands along the axes after the first ``kept``."""
        shape = inner.shape[:kept]
        groups = int(np.prod(shape, dtype=np.int64))
        each = inner.rows.shape[0] // groups
        summed = sparse.kron(sparse.eye_array(groups), np.ones((1, each), np.int8), format="csr")
        return Support(shape, _ones(csr_array(summed @ inner.rows)))

    def _discrete(self, expression: Any, operator: str, scope: Scope) -> Support:
        if operator.endswith("(p)"):
            ((_, pair),), (case,) = expression.args[:-1], expression.args[-1]
            return self._reduced(self.of(case, (*scope, pair)), len(scope))
        cases = self._model.cases.cached_sim_info(expression)
        return self._together([self.of(case, scope) for case in cases])

    def _pvar(self, expression: Any, scope: Scope) -> Support:
        name, given = expression.args
        given = given or []
        if name not in self._known:
            raise NotSupported(f"the fluent {name} is used before it is known.")
        known = self._known[name]
        nested = [self.of(argument, scope) for argument in given if not isinstance(argument, str)]
        if nested:
            # Any object may come out: it depends on all of them, and on what chooses among them.
            every = _ones(csr_array(known.rows.sum(axis=0).reshape(1, -1)))
            return self._together([*nested, Support((1,) * len(scope), every)]).either
        lengths = self._compiler.sizes(scope)
        axis_of = {free: axis for axis, (free, _) in enumerate(scope)}
        shape, index = [1] * len(scope), []
        for argument in given:
            if not argument.startswith("?"):
                index.append(self._model.lifted.object_to_index[argument.removeprefix("@")])
                continue
            axis = axis_of[argument]
            shape[axis] = lengths[axis]
            along = [lengths[axis] if a == axis else 1 for a in range(len(scope))]
            index.append(np.arange(lengths[axis]).reshape(along))
        each = np.arange(known.rows.shape[0]).reshape(known.shape)
        flat = np.asarray(each[tuple(index)]).reshape(-1)
        return Support(tuple(shape), known.rows[flat])


def _ones(matrix: csr_array) -> csr_array:
    ones = csr_array(matrix)
    ones.sum_duplicates()
    ones.eliminate_zeros()
    ones.data = np.ones_like(ones.data, dtype=np.int8)
    return ones
