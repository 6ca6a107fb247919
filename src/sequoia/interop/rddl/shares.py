"""The chance of each value of a fluent, instead of a draw."""

from typing import Any

import numpy as np

from sequoia.errors import ProblemError
from sequoia.interop.rddl.compiler import Array, Compiled, Compiler, Scope, Values
from sequoia.interop.rddl.reading import RddlModel


class NoShares(ProblemError):
    """A fluent whose chances are not known one by one."""


class ShareCompiler:
    """Turns expressions into functions that return chances, ``(B, objects, K)`` or shapes like it.

    Different draws are independent, so chances of formulas of them are products.

    Attributes
    ----------
    random
        Fluents of the same step that are drawn themselves: what depends on them has no chances of
        its own.
    """

    def __init__(self, model: RddlModel, compiler: Compiler, random: set[str]) -> None:
        self._model, self._compiler, self.random = model, compiler, random

    def compile(self, expression: Any, scope: Scope, size: int) -> Compiled:
        """Return the chances of ``size`` values; false and true are 0 and 1."""
        kind, operator = expression.etype
        if not self.is_random(expression):
            value = self._compiler.compile(expression, scope)
            return Compiled(lambda values: _certain(value(values), size))
        if kind == "randomvar":
            return self._draw(expression, operator, scope, size)
        if kind == "control" and operator == "if":
            condition, yes, no = expression.args
            chosen = self.compile(condition, scope, 2)
            parts = self.compile(yes, scope, size), self.compile(no, scope, size)
            return Compiled(
                lambda values: _mixed(chosen(values)[..., 1], *(p(values) for p in parts))
            )
        if kind == "boolean":
            return self._formula(expression, operator, scope)
        if kind == "aggregation" and operator in ("forall", "exists"):
            *free, body = expression.args
            added = tuple(pair for _, pair in free)
            inner = self.compile(body, scope + added, 2)
            lengths = self._compiler.sizes(added)
            wanted = 1 if operator == "forall" else 0
            return Compiled(
                lambda values: _all_of(inner(values)[..., wanted], len(scope), lengths, wanted)
            )
        raise NoShares(f"{kind} {operator} of what is drawn")

    def is_random(self, expression: Any) -> bool:
        """Say whether luck decides on an expression."""
        if isinstance(expression, tuple | list):
            return any(self.is_random(part) for part in expression)
        if not hasattr(expression, "etype"):
            return False
        kind, name = expression.etype
        if kind in ("randomvar", "randomvector"):
            return name not in ("KronDelta", "DiracDelta") or self.is_random(expression.args)
        if kind == "pvar" and name in self.random:
            raise NoShares(f"the fluent {name}, which is drawn in the same step")
        return kind != "constant" and self.is_random(expression.args)

    def _draw(self, expression: Any, operator: str, scope: Scope, size: int) -> Compiled:
        if operator in ("KronDelta", "DiracDelta"):
            return self.compile(expression.args[0], scope, size)
        if self.is_random(expression.args):
            raise NoShares(f"{operator} of what is drawn")
        if operator == "Bernoulli":
            chance = self._compiler.compile(expression.args[0], scope)
            return Compiled(lambda values: _of_true(np.clip(chance(values), 0.0, 1.0)))
        if operator in ("Discrete", "UnnormDiscrete"):
            cases = self._model.cases.cached_sim_info(expression)
            parts = [self._compiler.compile(case, scope) for case in cases]

            def shares(values: Values) -> Array:
                each = np.stack(np.broadcast_arrays(*(part(values) for part in parts)), axis=-1)
                return np.asarray(each / each.sum(axis=-1, keepdims=True))

            return Compiled(shares)
        raise NoShares(f"the distribution {operator}")

    def _formula(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        parts = [self.compile(part, scope, 2) for part in expression.args]
        if len(parts) == 1:
            return Compiled(lambda values: parts[0](values)[..., ::-1])
        if operator not in ("^", "&", "|", "=>"):
            raise NoShares(f"{operator} of what is drawn")
        # All are as wanted, or not: "or" is that not all are false, "=>" is "not the first, or".
        wanted = 0 if operator in ("|", "=>") else 1
        turned = operator == "=>"

        def shares(values: Values) -> Array:
            each = [part(values)[..., wanted] for part in parts]
            if turned:
                each[0] = 1.0 - each[0]
            product = np.prod(np.stack(np.broadcast_arrays(*each)), axis=0)
            return _of_true(product if wanted else 1.0 - product)

        return Compiled(shares)


def _of_true(chance: Array) -> Array:
    return np.stack([1.0 - chance, np.asarray(chance, dtype=np.float64)], axis=-1)


def _certain(value: Array, size: int) -> Array:
    shares: Array = (value[..., None].astype(np.int64) == np.arange(size)).astype(np.float64)
    return shares


def _mixed(chance: Array, yes: Array, no: Array) -> Array:
    return np.asarray(chance[..., None] * yes + (1.0 - chance[..., None]) * no)


def _all_of(chance: Array, kept: int, lengths: tuple[int, ...], wanted: int) -> Array:
    """Return the chance that all objects of the last axes are as wanted."""
    wide = np.broadcast_to(chance, (*chance.shape[: 1 + kept], *lengths))
    product = wide.prod(axis=tuple(range(1 + kept, wide.ndim)))
    return _of_true(product if wanted else 1.0 - product)
