"""Rows that tie local tables together, and hold on average."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from sequoia.bounds.factored.local_table import Graph, LocalTable
from sequoia.optimize.encoding import ActionEncoding
from sequoia.optimize.linear.argmax import LinearArgmax
from sequoia.optimize.linear.dual_rows import DualRows, implied_upper
from sequoia.problem import LinearSystem, Problem
from sequoia.problem.system import Rows
from sequoia.solvers import Limits
from sequoia.validation import BoolArray, FloatArray, IntArray

# The last step of the proof asks for the best whole action, once per step of the horizon. Work is
# limited, not time; where the limit is met, the solver's own bound counts: weaker, and valid.
_PROOF = Limits(gap=1e-4, nodes=1_000)
# Two tables agree on all that both know together up to so many cases; beyond, arm by arm. Ten times
# as many change nothing in epidemics of 20 nodes, and every case is a row with a price.
_MAX_CASES = 1_024


@dataclass(frozen=True, eq=False)
class Links:
    """Rows over the configurations of all tables, one after the other, with prices.

    The tables are of one and the same world, so on average they agree: on what both know of an
    arm, on the pressure that one sees and the other exerts, and with the rules on doses.

    The rules are linear rows that hold on average and in fractions. Where these need columns of
    their own, as a walk's do, and the best action is quickly found, the average dose is instead a
    mixture of whole actions, which is tighter: the price of an input is then a row's.

    Attributes
    ----------
    rows
        ``use`` counts configurations, ``(R, K)``; ``own`` are columns of the rules that no table
        reads.
    rules
        What a row's price makes each input cost, ``(R, I)``; zero in rows that are not rules.
    first
        Where each table begins, ``(tables + 1,)``.
    argmax
        Finds the best whole action.
    is_whole
        Whether rules are mixtures of whole actions.
    """

    rows: DualRows
    rules: csr_array
    first: IntArray
    encoding: ActionEncoding
    argmax: LinearArgmax
    is_whole: bool

    @classmethod
    def of(
        cls, problem: Problem, encoding: ActionEncoding, tables: Sequence[LocalTable]
    ) -> "Links":
        """Tie tables that together have every arm at home once."""
        first = np.concatenate([[0], np.cumsum([len(table) for table in tables])])
        home = {int(arm): t for t, table in enumerate(tables) for arm in table.arms[: table.n_own]}
        reads, repeats = _reads(encoding, tables, home, first)
        argmax = LinearArgmax(encoding, limits=_PROOF)
        is_read = np.diff(reads.indptr) > 0
        is_whole = encoding.system.n_columns > is_read.sum() and argmax.is_easy
        if is_whole:
            rules, fractions, own_upper = _mixture(is_read)
        else:
            rules, fractions, own_upper = _fractions(encoding.system, is_read)
        blocks = [
            Rows(rules.matrix @ reads, rules.lower, rules.upper, rules.names),
            *_overlaps(problem, tables, first),
            *_pressures(Graph.of(problem), tables, home, first),
            repeats,
        ]
        use = sparse.vstack([block.matrix for block in blocks], format="csr")
        prices = csr_array(rules.matrix)
        for matrix in (fractions, prices):
            matrix.resize((use.shape[0], matrix.shape[1]))
        # One unit of every row is about as much, so that one length of step suits all prices.
        largest = np.abs(sparse.hstack([use, fractions])).max(axis=1).toarray().reshape(-1)
        scale = 1 / np.where(largest > 0, largest, 1.0)
        shrink = sparse.diags_array(scale)
        rows = DualRows(
            csr_array(shrink @ use),
            csr_array(shrink @ fractions),
            np.concatenate([block.lower for block in blocks]) * scale,
            np.concatenate([block.upper for block in blocks]) * scale,
            own_upper,
        )
        return cls(rows, csr_array(shrink @ prices), first, encoding, argmax, is_whole)

    def support(self, prices: FloatArray, used: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return what rows pay back, ``(B,)``, and the slope of the dual in prices, ``(B, R)``.

        ``used`` is how much of each row the tables use, ``(B, R)``.
        """
        rows = self.rows
        columns = np.where(prices @ rows.own < 0, rows.own_upper, 0.0)
        taken = used + (rows.own @ columns.T).T
        side = np.clip(taken, rows.lower, rows.upper)
        side = np.where(prices > 0, rows.upper, np.where(prices < 0, rows.lower, side))
        support, slope = rows.support(prices), side - taken
        if self.is_whole:
            best = self.argmax.maximise(prices @ self.rules)
            support = support + best.bounds
            slope = slope + self.encoding.encode(best.actions) @ self.rules.T
        return support, slope

    def proven_support(self, prices: FloatArray) -> FloatArray:
        """Return the least that rows are known to pay back, ``(B,)``.

        In fractions, a rule pays back no less than for the best whole action.
        """
        best = self.argmax.maximise(prices @ self.rules).bounds
        return best if self.is_whole else np.minimum(best, self.rows.support(prices))


def _mixture(is_read: BoolArray) -> tuple[Rows, csr_array, FloatArray]:
    """Return a row for every input that is read: tables and whole actions agree on it."""
    count = int(is_read.sum())
    each = (np.ones(count), (np.arange(count), np.flatnonzero(is_read)))
    matrix = csr_array(each, shape=(count, len(is_read)))
    return Rows.equal(matrix, 0.0, [""] * count), csr_array((count, 0)), np.empty(0)


def _fractions(system: LinearSystem, is_read: BoolArray) -> tuple[Rows, csr_array, FloatArray]:
    """Return the rules over inputs that are read, their other columns, and bounds of these."""
    count = len(is_read)
    matrix = system.matrix[:, :count] @ sparse.diags_array(is_read.astype(np.float64))
    other = np.concatenate([~is_read, np.ones(system.n_columns - count, dtype=np.bool_)])
    rows = Rows(csr_array(matrix), system.lower, system.upper, system.row_names)
    return rows, csr_array(system.matrix.tocsc()[:, other]), implied_upper(system)[other]


def _reads(
    encoding: ActionEncoding, tables: Sequence[LocalTable], home: dict[int, int], first: IntArray
) -> tuple[csr_array, Rows]:
    """Return how inputs are read, each at one arm, and rows that let other arms read the same."""
    reader: dict[int, tuple[int, int]] = {}
    entries: list[tuple[IntArray, IntArray, FloatArray]] = []
    repeats: list[tuple[IntArray, IntArray, FloatArray]] = []
    count = 0

    def found(arm: int, level: int) -> IntArray:
        table = tables[home[arm]]
        where: IntArray = np.flatnonzero(table.levels[:, table.place[arm]] == level)
        return where + int(first[home[arm]])

    for arm, level in np.argwhere(encoding.level_input >= 0).tolist():
        read = int(encoding.level_input[arm, level])
        where = found(arm, level)
        if read not in reader:
            reader[read] = arm, level
            entries.append((np.full(len(where), read), where, np.ones(len(where))))
            continue
        also = found(*reader[read])
        repeats.append((np.full(len(where), count), where, np.ones(len(where))))
        repeats.append((np.full(len(also), count), also, -np.ones(len(also))))
        count += 1
    total = int(first[-1])
    return (
        _matrix(entries, encoding.n_inputs, total),
        Rows.equal(_matrix(repeats, count, total), 0.0, [""] * count),
    )


def _overlaps(problem: Problem, tables: Sequence[LocalTable], first: IntArray) -> Iterator[Rows]:
    """Yield rows that make two tables agree on what both know."""
    sources = Graph.of(problem).sources
    known: dict[int, list[int]] = {}
    for index, table in enumerate(tables):
        for arm in (*table.arms.tolist(), *table.listed.tolist()):
            known.setdefault(arm, []).append(index)
    pairs = sorted({pair for who in known.values() for pair in combinations(sorted(who), 2)})
    total = int(first[-1])
    for left, right in pairs:
        tied = tables[left], tables[right]
        shared = sorted(_known(tied[0]) & _known(tied[1]))
        cases, sides = _cases(tied, shared, sources)
        groups = [shared] if cases <= _MAX_CASES else [[arm] for arm in shared]
        for group in groups:
            if group != shared:
                cases, sides = _cases(tied, group, sources)
            entries = [
                (side, first[index] + np.arange(len(side)), np.full(len(side), sign))
                for index, side, sign in zip((left, right), sides, (1.0, -1.0), strict=True)
            ]
            yield Rows.equal(_matrix(entries, cases, total), 0.0, [""] * cases)


def _known(table: LocalTable) -> set[int]:
    return {*table.arms.tolist(), *table.listed.tolist()}


def _cases(
    tied: tuple[LocalTable, LocalTable], shared: Sequence[int], sources: IntArray
) -> tuple[int, list[IntArray]]:
    """Return how many cases two tables both tell apart, and that of each configuration."""
    columns: tuple[list[IntArray], list[IntArray]] = ([], [])
    for arm in shared:
        is_member = [arm in table.place for table in tied]
        for side, table in enumerate(tied):
            if all(is_member):
                place = table.place[arm]
                columns[side].extend(
                    [table.states[:, place], table.pressures[:, place], table.levels[:, place]]
                )
            elif is_member[side]:
                columns[side].append(sources[table.states[:, table.place[arm]]])
            else:
                place = int(np.flatnonzero(table.listed == arm)[0])
                columns[side].append(table.exertions[table.context, place])
    both = np.concatenate([np.stack(side, axis=1) for side in columns])
    different, case = np.unique(both, axis=0, return_inverse=True)
    case = case.reshape(-1)
    return len(different), [case[: len(tied[0])], case[len(tied[0]) :]]


def _pressures(
    graph: Graph, tables: Sequence[LocalTable], home: dict[int, int], first: IntArray
) -> Iterator[Rows]:
    """Yield rows by which the pressure that a table sees is what outside arms exert.

    A pressure of P - 1 stands for all that is more as well, so where there can be more, what is
    exerted is only at least what is seen, and at most that with the largest value in its place.
    """
    total = int(first[-1])
    for index, table in enumerate(tables):
        if len(table.listed) == len(graph.outside(table.arms.tolist())):
            continue
        here = first[index] + np.arange(len(table))
        for place, arm in enumerate(table.arms.tolist()):
            weights = graph.weights[[arm]].tocoo()
            entries = []
            for other, weight in zip(weights.col.tolist(), weights.data.tolist(), strict=True):
                if other in table.place:
                    continue
                far = tables[home[other]]
                exerted = weight * graph.sources[far.states[:, far.place[other]]]
                where = first[home[other]] + np.arange(len(far))
                entries.append((np.zeros_like(where), where, -exerted.astype(np.float64)))
            if not entries:
                continue
            pressure = table.outer[table.context, place]
            largest = int(sum(-entry[2].min() for entry in entries))
            row = np.zeros_like(here)
            least = _matrix([(row, here, pressure.astype(np.float64)), *entries], 1, total)
            if largest <= graph.most:
                yield Rows.equal(least, 0.0, [""])
                continue
            yield Rows.at_most(least, 0.0, [""])
            high = np.where(pressure == graph.most, largest, pressure).astype(np.float64)
            yield Rows.at_least(_matrix([(row, here, high), *entries], 1, total), 0.0, [""])


def _matrix(
    entries: Sequence[tuple[IntArray, IntArray, FloatArray]], rows: int, columns: int
) -> csr_array:
    if not entries:
        return csr_array((rows, columns))
    row, column, value = (np.concatenate(part) for part in zip(*entries, strict=True))
    result = csr_array((value, (row, column)), shape=(rows, columns))
    result.eliminate_zeros()
    return result
