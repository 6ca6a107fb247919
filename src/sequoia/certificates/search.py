"""Trees and multipliers that prove what no choice exceeds, for the checker's own rows.

The checker writes the rows and says what multipliers show; a solver only suggests them.
"""

from dataclasses import dataclass
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from typing import Any

import numpy as np
from scipy.sparse import csr_array, eye_array, hstack

from sequoia.solvers import Program, Status, default_solver
from sequoia.validation import FloatArray
from sequoia_verify.proof import Neuron, Part, ceiling
from sequoia_verify.words import Terms

# A column this close to 0 or 1 is whole for a solver.
_WHOLE = 1e-6
# A neuron that a point lifts by less, beside the size of its terms, is not worth a split.
_LIFTED = 1e-9


@dataclass
class ProofSearch:
    """Splits choices until multipliers show that nothing exceeds a target, or nodes run out.

    Attributes
    ----------
    n_whole
        Columns that must be 0 or 1; the others belong to neurons.
    nodes
        How many further parts may be split.
    """

    n_whole: int
    nodes: int

    def prove(self, part: Part, terms: Terms, target: float) -> dict[str, Any]:
        """Return a tree whose leaves show at most ``target``, where nodes suffice.

        The leaf that shows least is split first, so that nodes do as much as they can.
        """
        order = count()
        waiting: list[tuple[float, int, Part, dict[str, Any], tuple[str, int] | None]] = []

        def ask(own: Part, tree: dict[str, Any]) -> None:
            is_empty, y, point = _multipliers(own, terms, self._size(own))
            if is_empty and y is not None and ceiling({}, own.rows, y, own.box) < 0:
                tree["empty"] = y
                return
            tree["y"] = {} if y is None or is_empty else y
            shown = ceiling(terms, own.rows, tree["y"], own.box)
            if shown > target:
                place = self._split(own, terms, point)
                heappush(waiting, (-float(shown), next(order), own, tree, place))

        root: dict[str, Any] = {}
        ask(part, root)
        while waiting and self.nodes > 0:
            _, _, own, tree, place = heappop(waiting)
            if place is None:
                break
            self.nodes -= 1
            tree.clear()
            tree.update({place[0]: place[1], "zero": {}, "one": {}})
            for half, below in own.halves(tree):
                ask(half, below)  # type: ignore[arg-type]
        return root

    def range_of(self, part: Part, terms: Terms) -> dict[str, Any]:
        """Return multipliers that bound a sum from above and from below."""
        both = {}
        for key, sign in (("high", 1), ("low", -1)):
            signed = {column: sign * weight for column, weight in terms.items()}
            is_empty, y, _ = _multipliers(part, signed, self._size(part))
            both[key] = {} if y is None or is_empty else y
        return both

    def _size(self, part: Part) -> int:
        return max([self.n_whole, *(neuron.column + 1 for neuron in part.neurons)])

    def _split(self, part: Part, terms: Terms, point: FloatArray | None) -> tuple[str, int] | None:
        """Return the column or the neuron to split; none where the point is a choice."""
        ends = [part.box.of(column) for column in range(self.n_whole)]
        is_free = np.array([low < high for low, high in ends], dtype=np.bool_)
        if point is None:
            free = np.flatnonzero(is_free)
            return ("column", int(free[0])) if len(free) else None
        x = point[: self.n_whole]
        broken = np.where(is_free, np.minimum(x, 1 - x), 0.0)
        # First what counts: who goes there instead is mostly worth as much.
        counts = np.array([column in terms for column in range(self.n_whole)], dtype=np.bool_)
        if (broken[counts] > _WHOLE).any():
            broken[~counts] = 0.0
        lifts = np.array([_lift(neuron, point) for neuron in part.neurons])
        if broken.max(initial=0.0) > _WHOLE:
            return "column", int(broken.argmax())
        if lifts.max(initial=0.0) > _LIFTED:
            return "neuron", int(lifts.argmax())
        return None


def _lift(neuron: Neuron, point: FloatArray) -> float:
    """Return how far a point has a neuron from what it would be."""
    if neuron.low >= 0 or neuron.high <= 0:
        return 0.0
    seen = float(neuron.bias) + sum(float(w) * point[c] for c, w in neuron.terms.items())
    return float(abs(point[neuron.column] - max(seen, 0.0)))


def _multipliers(
    part: Part, terms: Terms, size: int
) -> tuple[bool, dict[str, float] | None, FloatArray | None]:
    """Ask a solver: whether the part is empty, multipliers of rows, and the best point."""
    objective = np.zeros(size)
    for column, weight in terms.items():
        objective[column] = float(weight)
    found = default_solver().solve(_program(part, objective))
    if found.status is Status.INFEASIBLE:
        return True, _ray(part, size), None
    if found.row_duals is None:
        return False, None, None
    return False, _signed(part, found.row_duals), found.values


def _program(part: Part, objective: FloatArray) -> Program:
    entries = [
        (row, column, float(value))
        for row, (terms, _, _) in enumerate(part.rows)
        for column, value in terms.items()
    ]
    rows, columns, values = (np.array(own) for own in zip(*entries, strict=True))
    shape = len(part.rows), len(objective)
    ends = [part.box.of(column) for column in range(len(objective))]
    return Program(
        objective,
        csr_array((values, (rows, columns)), shape=shape),
        np.array([-np.inf if low is None else float(low) for _, low, _ in part.rows]),
        np.array([np.inf if high is None else float(high) for _, _, high in part.rows]),
        np.array([float(low) for low, _ in ends]),
        np.array([float(high) for _, high in ends]),
        np.zeros(len(objective), dtype=np.bool_),
    )


def _ray(part: Part, size: int) -> dict[str, float] | None:
    """Return multipliers that show that a part is empty: those of the least violation."""
    bare = _program(part, np.zeros(size))
    size_of_rows = len(bare.lower)
    eye = eye_array(size_of_rows, format="csr")
    loose = Program(
        np.concatenate([np.zeros(size), -np.ones(2 * size_of_rows)]),
        csr_array(hstack([bare.matrix, eye, -eye])),
        bare.lower,
        bare.upper,
        np.concatenate([bare.column_lower, np.zeros(2 * size_of_rows)]),
        np.concatenate([bare.column_upper, np.full(2 * size_of_rows, np.inf)]),
        np.zeros(size + 2 * size_of_rows, dtype=np.bool_),
    )
    found = default_solver().solve(loose)
    return None if found.row_duals is None else _signed(part, found.row_duals)


def _signed(part: Part, duals: FloatArray) -> dict[str, float]:
    """Return multipliers with a sign that each row can have; those of nothing are left out."""
    return {
        str(row): float(price)
        for row, (price, (_, low, high)) in enumerate(zip(duals, part.rows, strict=True))
        if (price > 0 and high is not None) or (price < 0 and low is not None)
    }


def rounded_up(value: Fraction) -> float:
    """Return a float that is not less."""
    near = float(value)
    return near if Fraction(near) >= value else float(np.nextafter(near, np.inf))
