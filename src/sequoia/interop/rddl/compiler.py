"""Expressions of RDDL as functions of arrays: many states at once, luck from uniforms.

An expression with free objects ``?x: X, ?y: Y`` becomes an array ``(B, |X|, |Y|)``, or one that
broadcasts to it: an axis along which nothing changes has length 1.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from sequoia.errors import ProblemError
from sequoia.interop.rddl.reading import RddlModel

Array = NDArray[Any]
Values = Mapping[str, Array]
# Free objects in scope: their names and types.
Scope = tuple[tuple[str, str], ...]
NOISE = "noise"
# The smallest uniform that inverse distribution functions are asked for.
_LEAST = 2.0**-53


def scope_of(parameters: Any) -> Scope:
    """Return the free objects of a fluent's own expression."""
    return tuple((name, kind) for name, kind in parameters or ())


class NotSupported(ProblemError):
    """A construct of RDDL that is not supported; the message names it."""


@dataclass(frozen=True, eq=False)
class Compiled:
    """A function of the values of fluents, or a constant."""

    run: Callable[[Values], Array]
    constant: Array | None = None

    def __call__(self, values: Values) -> Array:
        """Return its value for each of a batch of states."""
        return self.run(values) if self.constant is None else self.constant


def _number(array: Array) -> Array:
    return array.astype(np.int64) if array.dtype == np.bool_ else array


_ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    "+": lambda a, b: _number(a) + _number(b),
    "-": lambda a, b: _number(a) - _number(b),
    "*": lambda a, b: _number(a) * _number(b),
    "/": lambda a, b: _number(a) / _number(b),
}
_RELATIONAL: dict[str, Callable[[Array, Array], Array]] = {
    ">=": np.greater_equal,
    "<=": np.less_equal,
    "<": np.less,
    ">": np.greater,
    "==": np.equal,
    "~=": np.not_equal,
}
_LOGICAL: dict[str, Callable[[Array, Array], Array]] = {
    "^": np.logical_and,
    "&": np.logical_and,
    "|": np.logical_or,
    "~": np.logical_xor,
    "=>": lambda a, b: np.logical_or(np.logical_not(a), b),
    "<=>": np.equal,
}
_UNARY: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "sgn": np.sign,
    "round": np.round,
    "floor": np.floor,
    "ceil": np.ceil,
    "cos": np.cos,
    "sin": np.sin,
    "tan": np.tan,
    "acos": np.arccos,
    "asin": np.arcsin,
    "atan": np.arctan,
    "cosh": np.cosh,
    "sinh": np.sinh,
    "tanh": np.tanh,
    "exp": np.exp,
    "ln": np.log,
    "sqrt": np.sqrt,
    "lngamma": special.gammaln,
    "gamma": special.gamma,
}
_AGGREGATION: dict[str, Callable[..., Array]] = {
    "sum": np.sum,
    "avg": np.mean,
    "prod": np.prod,
    "maximum": np.max,
    "minimum": np.min,
}
_WHOLE = {"sgn", "round", "floor", "ceil", "div", "mod"}
_BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "div": np.floor_divide,
    "mod": np.mod,
    "fmod": np.mod,
    "min": np.minimum,
    "max": np.maximum,
    "pow": lambda a, b: np.power(a.astype(np.float64), b),
    "log": lambda a, b: np.log(a) / np.log(b),
    "hypot": np.hypot,
}
# From a uniform and the parameters, by the inverse of the distribution function.
_RANDOM: dict[str, Callable[..., Array]] = {
    "Bernoulli": lambda u, p: u < p,
    "Uniform": lambda u, low, high: low + (high - low) * u,
    "Normal": lambda u, mean, variance: mean + np.sqrt(variance) * special.ndtri(u),
    "Exponential": lambda u, scale: -scale * np.log1p(-u),
    "Weibull": lambda u, shape, scale: scale * (-np.log1p(-u)) ** (1.0 / shape),
    "Gamma": lambda u, shape, scale: scale * special.gammaincinv(shape, u),
    "Beta": lambda u, a, b: special.betaincinv(a, b, u),
    "Poisson": lambda u, mean: stats.poisson.ppf(u, mean).astype(np.int64),
    "Binomial": lambda u, n, p: stats.binom.ppf(u, n, p).astype(np.int64),
    "Geometric": lambda u, p: stats.geom.ppf(u, p).astype(np.int64),
    "Laplace": lambda u, mean, scale: mean - scale * np.sign(u - 0.5) * np.log1p(-2 * abs(u - 0.5)),
    "Gumbel": lambda u, mean, scale: mean - scale * np.log(-np.log(u)),
    "Cauchy": lambda u, mean, scale: mean + scale * np.tan(np.pi * (u - 0.5)),
}
_SAME = {"KronDelta", "DiracDelta"}


class Compiler:
    """Turns expressions into functions, and counts the uniforms that they use.

    Attributes
    ----------
    n_noise
        How many uniforms the functions so far use.
    largest
        The most numbers that one state needs in one array.
    """

    def __init__(self, model: RddlModel) -> None:
        self._model = model
        self._lifted = model.lifted
        self.n_noise = 0
        self.largest = 1
        # Uniforms that a branch not taken leaves unused: size and first place of each.
        self._unused: list[tuple[tuple[int, ...], int]] = []
        self._taken: list[tuple[tuple[int, ...], int]] = []

    def sizes(self, scope: Scope) -> tuple[int, ...]:
        """Return how many objects there are for each free object."""
        return tuple(len(self._lifted.type_to_objects[kind]) for _, kind in scope)

    def compile(self, expression: Any, scope: Scope = ()) -> Compiled:
        """Return an expression as a function."""
        kind, operator = expression.etype
        self.largest = max(self.largest, int(np.prod(self.sizes(scope), dtype=np.int64)))
        make = getattr(self, f"_{kind}", None)
        if make is None:
            raise NotSupported(f"{kind} {operator} is not supported.")
        compiled: Compiled = make(expression, operator, scope)
        return compiled

    def _apply(self, operation: Callable[..., Array], *parts: Compiled) -> Compiled:
        """Return an operation on parts; it is done now if all are constant."""
        if all(part.constant is not None for part in parts):
            with np.errstate(all="ignore"):
                return _fixed(np.asarray(operation(*(part.constant for part in parts))))
        return Compiled(lambda values: operation(*(part(values) for part in parts)))

    # ------------------------------------------------------------------ leaves

    def _constant(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        return _fixed(np.full((1,) * (1 + len(scope)), expression.args))

    def _pvar(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        name, given = expression.args
        given = given or []
        if name.startswith("?"):
            return _fixed(self._objects(name, scope))
        if not given and self._lifted.is_object(name):
            index = self._lifted.object_to_index[name.removeprefix("@")]
            return _fixed(np.full((1,) * (1 + len(scope)), index))
        if name not in self._lifted.variable_params and name.rstrip("'") not in self._model.start:
            raise NotSupported(f"the fluent {name} is not known.")
        places = [self._place(argument, scope) for argument in given]
        look = self._lookup(name, places, scope)
        if self.is_fluent(name):
            return Compiled(look)
        fixed = {name: np.asarray(self._model.start[name])[None]}
        if any(isinstance(place, Compiled) and place.constant is None for place in places):
            return Compiled(lambda values: look({**values, **fixed}))
        return _fixed(look(fixed))

    def is_fluent(self, name: str) -> bool:
        """Say whether a variable changes: everything but non-fluents."""
        return name not in self._lifted.non_fluents

    def _objects(self, name: str, scope: Scope) -> Array:
        """Return the numbers of the objects along the axis of a free object."""
        axis = [variable for variable, _ in scope].index(name)
        shape = [1] * (1 + len(scope))
        shape[1 + axis] = self.sizes(scope)[axis]
        return np.arange(shape[1 + axis]).reshape(shape)

    def _place(self, argument: Any, scope: Scope) -> "int | str | Compiled":
        """Return what an argument of a fluent is: a free object, an object, a nested fluent."""
        if not isinstance(argument, str):
            return self.compile(argument, scope)
        if argument.startswith("?"):
            return argument
        return int(self._lifted.object_to_index[argument.removeprefix("@")])

    def _lookup(
        self, name: str, places: Sequence["int | str | Compiled"], scope: Scope
    ) -> Callable[[Values], Array]:
        free = [place for place in places if isinstance(place, str)]
        is_plain = len(set(free)) == len(free) and not any(
            isinstance(place, Compiled) for place in places
        )
        if is_plain:
            order = {variable: axis for axis, (variable, _) in enumerate(scope)}
            fixed = (slice(None), *(p if isinstance(p, int) else slice(None) for p in places))
            axes = sorted(range(len(free)), key=lambda i: order[free[i]])
            turn = (0, *(1 + axis for axis in axes))
            used = {order[variable] for variable in free}
            room = tuple(slice(None) if a in used else None for a in range(len(scope)))
            return lambda values: values[name][fixed].transpose(turn)[(slice(None), *room)]

        def look(values: Values) -> Array:
            array = values[name]
            index = [
                place(values)
                if isinstance(place, Compiled)
                else self._objects(place, scope)
                if isinstance(place, str)
                else place
                for place in places
            ]
            batch = np.arange(len(array)).reshape(-1, *[1] * len(scope))
            return np.asarray(array[(batch, *index)])

        return look

    # ------------------------------------------------------------------ operations

    def _arithmetic(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        parts = [self.compile(part, scope) for part in expression.args]
        if len(parts) == 1:
            return self._apply(lambda a: -_number(a), parts[0])
        return self._folded(_ARITHMETIC[operator], parts)

    def _boolean(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        parts = [self.compile(part, scope) for part in expression.args]
        if len(parts) == 1:
            return self._apply(np.logical_not, parts[0])
        return self._folded(_LOGICAL[operator], parts)

    def _relational(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        parts = [self.compile(part, scope) for part in expression.args]
        return self._apply(_RELATIONAL[operator], *parts)

    def _folded(
        self, operation: Callable[[Array, Array], Array], parts: Sequence[Compiled]
    ) -> Compiled:
        result = parts[0]
        for part in parts[1:]:
            result = self._apply(operation, result, part)
        return result

    def _func(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        parts = [self.compile(part, scope) for part in expression.args]
        known: dict[str, Callable[..., Array]] = _UNARY if len(parts) == 1 else _BINARY
        if operator not in known:
            raise NotSupported(f"the function {operator} is not supported.")
        operation = known[operator]
        whole = operator in _WHOLE

        def apply(*arrays: Array) -> Array:
            result = np.asarray(operation(*map(_number, arrays)))
            return result.astype(np.int64) if whole else result

        return self._apply(apply, *parts)

    def _control(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        if operator == "if":
            condition, *branches = expression.args
            chosen = self.compile(condition, scope)
            yes, no = self._exclusive(branches, scope)
            if chosen.constant is not None and chosen.constant.size == 1:
                return yes if chosen.constant.item() else no
            return self._apply(np.where, chosen, yes, no)
        number, *_ = expression.args
        cases, default = self._model.cases.cached_sim_info(expression)
        parts = self._exclusive([default if case is None else case for case in cases], scope)

        def pick(which: Array, *options: Array) -> Array:
            return np.select([which == index for index in range(len(options))], options)

        return self._apply(pick, self.compile(number, scope), *parts)

    def _aggregation(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        *free, body = expression.args
        added = tuple(pair for _, pair in free)
        inner = self.compile(body, scope + added)
        sizes = self.sizes(added)
        axes = tuple(range(1 + len(scope), 1 + len(scope) + len(added)))
        return self._apply(lambda array: _aggregate(operator, array, axes, sizes), inner)

    # ------------------------------------------------------------------ luck

    def _exclusive(self, branches: Sequence[Any], scope: Scope) -> list[Compiled]:
        """Return branches of which one is taken; they share uniforms, for only one uses them.

        So what a state makes of its luck depends little on which branch it is in.
        """
        outer, taken = self._unused, self._taken
        pool: list[tuple[tuple[int, ...], int]] = []
        results = []
        for branch in branches:
            self._unused = pool + [site for site in outer if site not in pool]
            self._taken = []
            results.append(self.compile(branch, scope))
            pool += [site for site in self._taken if site not in pool]
        self._unused = [site for site in outer if site not in pool]
        self._taken = taken + pool
        return results

    def _uniforms(self, scope: Scope) -> Compiled:
        """Return uniforms of their own for every combination of objects."""
        shape = self.sizes(scope)
        for site in self._unused:
            if site[0] == shape:
                self._unused.remove(site)
                break
        else:
            site = (shape, self.n_noise)
            self.n_noise += int(np.prod(shape, dtype=np.int64))
        self._taken.append(site)
        part = slice(site[1], site[1] + int(np.prod(shape, dtype=np.int64)))
        return Compiled(lambda values: values[NOISE][:, part].reshape(-1, *shape))

    def _randomvar(self, expression: Any, operator: str, scope: Scope) -> Compiled:
        if operator in _SAME:
            return self.compile(expression.args[0], scope)
        if operator in ("Discrete", "UnnormDiscrete"):
            cases = self._model.cases.cached_sim_info(expression)
            parts = [self.compile(case, scope) for case in cases]
            return self._apply(_discrete, self._uniforms(scope), *parts)
        if operator in ("Discrete(p)", "UnnormDiscrete(p)"):
            ((_, pair),), (case,) = expression.args[:-1], expression.args[-1]
            shares = self.compile(case, (*scope, pair))
            size = self.sizes((pair,))[0]

            def pick(uniforms: Array, each: Array) -> Array:
                wide = np.broadcast_to(each, (*each.shape[:-1], size))
                return _discrete(uniforms, *np.moveaxis(wide, -1, 0))

            return self._apply(pick, self._uniforms(scope), shares)
        if operator not in _RANDOM:
            raise NotSupported(f"the distribution {operator} is not supported.")
        parts = [self.compile(part, scope) for part in expression.args]
        draw = _RANDOM[operator]

        def drawn(uniforms: Array, *parameters: Array) -> Array:
            if operator != "Bernoulli":
                uniforms = np.maximum(uniforms, _LEAST)
            return draw(uniforms, *map(_number, parameters))

        return self._apply(drawn, self._uniforms(scope), *parts)


def _fixed(array: Array) -> Compiled:
    return Compiled(lambda _: array, array)


def _discrete(uniforms: Array, *shares: Array) -> Array:
    """Return which of some options a uniform falls on, by their shares."""
    sums = np.cumsum(np.stack(np.broadcast_arrays(*shares)).astype(np.float64), axis=0)
    sums = sums / sums[-1]
    # The last sum is 1 up to rounding, and a uniform is below 1.
    drawn: Array = (uniforms[None] >= sums[:-1]).sum(axis=0)
    return drawn


def _aggregate(operator: str, array: Array, axes: tuple[int, ...], sizes: tuple[int, ...]) -> Array:
    """Reduce the last axes; one of length 1 stands for ``size`` equal entries."""
    lengths = [n for axis, n in zip(axes, sizes, strict=True) if array.shape[axis] == 1]
    repeated = int(np.prod(lengths, dtype=np.int64))
    if operator in ("argmin", "argmax"):
        wide = np.broadcast_to(array, (*array.shape[: axes[0]], *sizes))
        return np.asarray(getattr(np, operator)(wide, axis=axes[0]))
    if operator in ("forall", "exists"):
        return np.asarray(array.all(axis=axes) if operator == "forall" else array.any(axis=axes))
    total = np.asarray(_AGGREGATION[operator](_number(array), axis=axes))
    if operator == "sum":
        return total * repeated
    return total**repeated if operator == "prod" else total
