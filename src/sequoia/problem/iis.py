"""The reason why no decision exists: a smallest set of rows that contradict each other."""

import numpy as np

from sequoia.errors import InfeasibleSpace
from sequoia.problem.system import LinearSystem
from sequoia.solvers import Highs, Limits, Program, Status
from sequoia.validation import IntArray

# Work that settles whether rows contradict: mostly none but the root's. A minute, beyond which a
# message is not waited for, is the last resort.
_WORK = Limits(seconds=60.0, nodes=1_000)


def irreducible_infeasible_subset(system: LinearSystem) -> list[str]:
    """Return the names of rows that cannot hold together; empty when a decision exists.

    The set is irreducible: without any one of its rows, the others can be satisfied. There may be
    several such sets; of two that are looked for, from either end, the smaller one is returned.
    """
    rows = np.arange(system.n_rows)
    if not _contradict(system, rows):
        return []
    smallest = min(_filtered(system, rows), _filtered(system, rows[::-1]), key=len)
    return [system.row_names[row] for row in sorted(smallest.tolist())]


def no_decision(system: LinearSystem) -> InfeasibleSpace:
    """Return the error for rules that no decision satisfies, with the rows in conflict."""
    rows = " | ".join(irreducible_infeasible_subset(system))
    return InfeasibleSpace(f"no decision satisfies the rules; these contradict: {rows}.")


def _filtered(system: LinearSystem, rows: IntArray) -> IntArray:
    """Leave rows out for good while the rest still contradicts itself, early ones first.

    At first large blocks are tried, in the end single rows. A block whose rest is not decided
    by the work allowed is kept, so what is returned always contradicts itself.
    """
    size = len(rows)
    while size > 1:
        size = (size + 1) // 2
        start = 0
        while start < len(rows):
            fewer = np.delete(rows, slice(start, start + size))
            if _contradict(system, fewer):
                rows = fewer
            else:
                start += size
    return rows


def _contradict(system: LinearSystem, rows: IntArray) -> bool:
    """Say whether it is proven that these rows cannot hold together."""
    whole = system.program(np.zeros(system.n_actions))
    program = Program(
        whole.objective,
        whole.matrix[rows],
        whole.lower[rows],
        whole.upper[rows],
        whole.column_lower,
        whole.column_upper,
        whole.is_integer,
    )
    return Highs().solve(program, _WORK).status is Status.INFEASIBLE
